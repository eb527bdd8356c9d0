// URLs, cut into parts and put together.
#ifndef CAIRN_ENGINE_OBJECT_S3_HTTP_URL_H_
#define CAIRN_ENGINE_OBJECT_S3_HTTP_URL_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace cairn::object {

struct Url {
  std::string scheme;  // "http" or "https"
  std::string host;    // with the port, unless that is the scheme's own
  std::string path;    // as it stands in the URL, without a slash at its end
};

using Query = std::vector<std::pair<std::string, std::string>>;

// Returns a URL as messages name it: without its query and its user, which may be secret.
std::string ShownUrl(std::string_view text);

// Parses a URL. Errors: kInvalidArgument for other schemes, user names, queries and fragments.
absl::StatusOr<Url> ParseUrl(std::string_view text);

// Errors: kInvalidArgument if the text cannot follow the question mark of a URL.
absl::Status CheckQuery(std::string_view query);

// Encodes all bytes except letters, digits and -._~ as %XX. Slashes stay if they separate.
std::string PercentEncode(std::string_view text, bool keep_slashes);
absl::StatusOr<std::string> PercentDecode(std::string_view text);

// Returns "a=1&b=", sorted as signatures need it.
std::string EncodeQuery(const Query& query);

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_HTTP_URL_H_
