// URIs of objects.
#include <utility>

#include "absl/strings/str_format.h"

#include "cairn/s3.h"
#include "engine/base/status.h"
#include "engine/object/s3/url.h"

namespace cairn {

namespace {

constexpr std::string_view kS3 = "s3://";

absl::StatusOr<ObjectLocation> OpenS3Uri(std::string_view uri, S3Options options) {
  const std::string_view rest = uri.substr(kS3.size());
  const size_t slash = rest.find('/');
  options.bucket = rest.substr(0, slash);
  ObjectLocation location;
  if (slash != std::string_view::npos) location.path = rest.substr(slash + 1);
  while (location.path.ends_with('/')) location.path.pop_back();
  CAIRN_ASSIGN_OR_RETURN(location.store, OpenS3(std::move(options)));
  return location;
}

absl::StatusOr<ObjectLocation> OpenHttpUri(std::string_view uri, const TransportOptions& options) {
  const size_t slash = uri.rfind('/');
  if (slash < uri.find("://") + 3 || slash + 1 == uri.size()) {
    return absl::InvalidArgumentError(absl::StrFormat("URL %s: names no file", uri));
  }
  ObjectLocation location;
  CAIRN_ASSIGN_OR_RETURN(location.path, object::PercentDecode(uri.substr(slash + 1)));
  // The name is checked with the rest, which knows what a URL may hold.
  CAIRN_RETURN_IF_ERROR(object::ParseUrl(uri).status());
  CAIRN_ASSIGN_OR_RETURN(location.store, OpenHttp(std::string(uri.substr(0, slash)), options));
  return location;
}

bool IsHttp(std::string_view uri) {
  return uri.starts_with("https://") || uri.starts_with("http://");
}

}  // namespace

bool IsObjectUri(std::string_view uri) { return uri.starts_with(kS3) || IsHttp(uri); }

absl::StatusOr<ObjectLocation> OpenObjectUri(std::string_view uri, const S3Options& options) {
  if (uri.starts_with(kS3)) return OpenS3Uri(uri, options);
  if (IsHttp(uri)) return OpenHttpUri(uri, options.transport);
  return absl::InvalidArgumentError(absl::StrFormat("%s: neither s3:// nor https://", uri));
}

}  // namespace cairn
