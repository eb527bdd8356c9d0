#include "engine/object/s3/store/s3_store.h"

#include <algorithm>
#include <utility>

#include "engine/base/await.h"
#include "engine/base/status.h"
#include "engine/object/s3/keys/key_answers.h"
#include "engine/object/s3/signing/digest.h"
#include "engine/object/s3/store/bucket.h"
#include "engine/object/s3/store/condition_check.h"
#include "engine/object/s3/store/writing.h"

namespace cairn::object {

void S3Store::StartPutIfAbsent(std::string name, Bytes bytes, PutDone done) {
  StartPut(remote_, std::move(name), std::nullopt, bytes, std::move(done));
}

void S3Store::StartPutIfMatch(std::string name, std::string etag, Bytes bytes, PutDone done) {
  StartPut(remote_, std::move(name), std::move(etag), bytes, std::move(done));
}

absl::StatusOr<ObjectListing> S3Store::List(const std::string& prefix, const std::string& after,
                                            int64_t most) {
  return Await<absl::StatusOr<ObjectListing>>(
      [&](auto done) { StartList(remote_, prefix, after, most, std::move(done)); });
}

absl::Status S3Store::Delete(std::span<const std::string> names) {
  while (!names.empty()) {
    const auto some = names.first(std::min(names.size(), kMostDeleted));
    CAIRN_RETURN_IF_ERROR(
        Await<absl::Status>([&](auto done) { StartDelete(remote_, some, std::move(done)); }));
    names = names.subspan(some.size());
  }
  return absl::OkStatus();
}

absl::Status S3Store::CheckConditions(const std::string& scratch_name) {
  const MutexLock lock(mutex_);
  if (conditions_.has_value()) return *conditions_;
  absl::Status status = ProbeConditions(*this, *remote_, scratch_name);
  if (status.ok() || absl::IsFailedPrecondition(status)) conditions_ = status;
  return status;
}

}  // namespace cairn::object

namespace cairn {

namespace {

absl::Status CheckKeys(const S3Options& options) {
  const bool has_keys =
      !options.credentials.access_key.empty() && !options.credentials.secret_key.empty();
  if (has_keys && !options.anonymous) return object::CheckKeyTexts(options.credentials);
  if (options.anonymous || options.web_identity.has_value() || options.key_source) {
    return absl::OkStatus();
  }
  return absl::PermissionDeniedError(
      "s3://" + options.bucket +
      ": no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or be anonymous");
}

}  // namespace

absl::StatusOr<std::shared_ptr<ObjectStore>> OpenS3(S3Options options) {
  CAIRN_RETURN_IF_ERROR(CheckKeys(options));
  CAIRN_RETURN_IF_ERROR(object::LoadDigests());
  CAIRN_ASSIGN_OR_RETURN(object::RemotePlace place, object::PlaceOf(options));
  CAIRN_ASSIGN_OR_RETURN(
      std::shared_ptr<object::RetryingClient> client,
      object::RetryingClient::Open(options.transport, /*redirects=*/false, place.description));
  std::shared_ptr<object::Credentials> keys;
  if (place.is_signed) keys = std::make_shared<object::Credentials>(options);
  return std::make_shared<object::S3Store>(std::make_shared<object::Remote>(
      std::move(place), std::move(client), std::move(keys), std::move(options.transport.notice)));
}

}  // namespace cairn
