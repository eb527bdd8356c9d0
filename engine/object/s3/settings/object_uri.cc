#include "engine/object/s3/settings/object_uri.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"

#include "engine/base/status.h"
#include "engine/object/s3/http/url.h"

namespace cairn {

namespace object {

namespace {

constexpr std::string_view kS3 = "s3://";

ObjectUri ParseS3(std::string_view uri) {
  const size_t slash = std::min(uri.find('/', kS3.size()), uri.size());
  std::string_view path = uri.substr(std::min(slash + 1, uri.size()));
  while (path.ends_with('/')) path.remove_suffix(1);
  return {.store = std::string(uri.substr(0, slash)),
          .bucket = std::string(uri.substr(kS3.size(), slash - kS3.size())),
          .path = std::string(path)};
}

absl::StatusOr<ObjectUri> ParseHttp(std::string_view text) {
  const size_t mark = std::min(text.find('?'), text.size());
  const std::string_view uri = text.substr(0, mark);
  const size_t slash = uri.rfind('/');
  if (slash < uri.find("://") + 3 || slash + 1 == uri.size()) {
    return absl::InvalidArgumentError(absl::StrFormat("URL %s: names no file", ShownUrl(uri)));
  }
  ObjectUri parsed{.store = std::string(uri.substr(0, slash))};
  CAIRN_ASSIGN_OR_RETURN(parsed.path, PercentDecode(uri.substr(slash + 1)));
  // ParseUrl checks the name together with the rest, because it knows what a URL may hold.
  CAIRN_RETURN_IF_ERROR(ParseUrl(uri).status());
  parsed.query = text.substr(std::min(mark + 1, text.size()));
  CAIRN_RETURN_IF_ERROR(CheckQuery(parsed.query));
  return parsed;
}

bool IsHttp(std::string_view uri) {
  return uri.starts_with("https://") || uri.starts_with("http://");
}

}  // namespace

absl::StatusOr<ObjectUri> ParseObjectUri(std::string_view uri) {
  if (uri.starts_with(kS3)) return ParseS3(uri);
  if (IsHttp(uri)) return ParseHttp(uri);
  return absl::InvalidArgumentError(
      absl::StrFormat("%s: neither s3:// nor https://", ShownUrl(uri)));
}

absl::StatusOr<std::shared_ptr<ObjectStore>> OpenStoreOf(const ObjectUri& uri, S3Options options) {
  if (!uri.bucket.has_value()) {
    const std::string mark = uri.query.empty() ? "" : "?";
    return OpenHttp(uri.store + mark + uri.query, options.transport);
  }
  options.bucket = *uri.bucket;
  return OpenS3(std::move(options));
}

}  // namespace object

bool IsObjectUri(std::string_view uri) {
  return uri.starts_with(object::kS3) || object::IsHttp(uri);
}

absl::StatusOr<ObjectLocation> OpenObjectUri(std::string_view uri, const S3Options& options) {
  CAIRN_ASSIGN_OR_RETURN(object::ObjectUri parsed, object::ParseObjectUri(uri));
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<ObjectStore> store, object::OpenStoreOf(parsed, options));
  return ObjectLocation{.store = std::move(store), .path = std::move(parsed.path)};
}

}  // namespace cairn
