// Asks web servers for keys.
#ifndef CAIRN_ENGINE_OBJECT_S3_KEYS_KEY_REQUEST_H_
#define CAIRN_ENGINE_OBJECT_S3_KEYS_KEY_REQUEST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/s3.h"

namespace cairn::object {

struct KeyRequest {
  std::string method = "GET";
  std::string url;
  std::vector<std::string> headers = {};  // "name: value"
  std::string body = {};
};

// Sends a request, again where that may help, and waits for its answer. Returns the body of a good
// answer, of at most 256 KiB. Messages
// name the URL without its query.
absl::StatusOr<std::string> AskForKeys(const TransportOptions& transport,
                                       const KeyRequest& request);

// Limits a transport for a service on the same machine, which is reached without a proxy and
// answers at once if it is there.
TransportOptions Nearby(TransportOptions transport);

// Returns "https://service.region.amazonaws.com", in China with ".cn".
std::string AwsUrl(const std::string& service, const std::string& region);

// Returns the bytes of a file, without white space at its ends. Errors: kPermissionDenied if it
// cannot be read, is empty, or has more than 64 KiB.
absl::StatusOr<std::string> ReadKeyFile(const std::string& path, const std::string& what);

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_KEYS_KEY_REQUEST_H_
