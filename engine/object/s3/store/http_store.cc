#include "engine/object/s3/store/http_store.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

#include "engine/base/status.h"

namespace cairn::object {

absl::Status HttpStore::ReadOnly(const std::string& what) const {
  return absl::UnimplementedError(
      absl::StrCat(Describe(), ": cannot ", what, ": web servers are for reading"));
}

void HttpStore::StartPutIfAbsent(std::string name, Bytes /*bytes*/, PutDone done) {
  done(ReadOnly("put " + name));
}

void HttpStore::StartPutIfMatch(std::string name, std::string /*etag*/, Bytes /*bytes*/,
                                PutDone done) {
  done(ReadOnly("put " + name));
}

absl::StatusOr<ObjectListing> HttpStore::List(const std::string& prefix,
                                              const std::string& /*after*/, int64_t /*most*/) {
  return ReadOnly("list " + prefix);
}

absl::Status HttpStore::Delete(std::span<const std::string> /*names*/) {
  return ReadOnly("delete");
}

absl::Status HttpStore::CheckConditions(const std::string& scratch_name) {
  return ReadOnly("put " + scratch_name);
}

}  // namespace cairn::object

namespace cairn {

absl::StatusOr<std::shared_ptr<ObjectStore>> OpenHttp(const std::string& url,
                                                      TransportOptions options) {
  const std::string folder = url.substr(0, url.find('?'));
  const std::string query = url.substr(std::min(folder.size() + 1, url.size()));
  CAIRN_RETURN_IF_ERROR(object::CheckQuery(query));
  CAIRN_ASSIGN_OR_RETURN(object::Url parsed, object::ParseUrl(folder));
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<object::RetryingClient> client,
                         object::RetryingClient::Open(options, /*redirects=*/true, folder));
  object::RemotePlace place{
      .url = std::move(parsed), .region = {}, .is_signed = false, .description = folder};
  place.query = query;
  return std::make_shared<object::HttpStore>(
      std::make_shared<object::Remote>(std::move(place), std::move(client), nullptr));
}

}  // namespace cairn
