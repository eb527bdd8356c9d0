// HTTP requests and answers.
#ifndef CAIRN_ENGINE_OBJECT_S3_HTTP_HTTP_MESSAGE_H_
#define CAIRN_ENGINE_OBJECT_S3_HTTP_HTTP_MESSAGE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/types.h"

namespace cairn::object {

using Clock = std::chrono::steady_clock;

struct HttpRequest {
  std::string method;
  std::string url;
  std::vector<std::string> headers;  // "name: value"
  Bytes body = {};
  bool changes = false;            // the server must not get it twice without notice
  int64_t most_bytes = INT64_MAX;  // size limit of a good answer's body
  Clock::time_point deadline = Clock::time_point::max();
};

// The answer to one request.
struct HttpAnswer {
  int status = 0;         // 0: no complete answer
  std::string error;      // the reason if status is 0
  bool sent = false;      // the server may have the request
  bool too_long = false;  // the body has more than most_bytes and was dropped
  std::string etag;       // with its quotes
  std::string content_length;
  std::string content_range;
  std::string region;    // the region that S3 says the bucket is in
  int64_t modified = 0;  // seconds since 1970; 0: not known
  int64_t date = 0;
  std::chrono::seconds retry_after{0};
  std::vector<std::byte> body;

  bool IsGood() const { return status / 100 == 2; }
};

using HttpDone = std::function<void(absl::StatusOr<HttpAnswer>)>;

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_HTTP_HTTP_MESSAGE_H_
