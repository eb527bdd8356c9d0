// A web server in the test's own process, whose answers the test decides, cut ones among them.
#ifndef CAIRN_TESTS_OBJECT_HTTP_SERVER_H_
#define CAIRN_TESTS_OBJECT_HTTP_SERVER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "tests/object/sockets.h"

namespace cairn::test {

struct ServedRequest {
  std::string method;
  std::string path;                            // as in the request
  std::map<std::string, std::string> query;    // decoded
  std::map<std::string, std::string> headers;  // lower-case names
  std::string body;
};

struct ServedAnswer {
  int status = 200;
  std::map<std::string, std::string> headers = {};
  std::string body = {};
  // Closes the connection after this many bytes of the body; -1: before the first line.
  std::optional<int64_t> cut_after = {};
  // The claimed size of the body, if that is not the true one.
  std::optional<int64_t> claimed_size = {};
  // Sent after the headers, of which this is the last, repeatedly until the client goes.
  std::string forever = {};
};

// Each connection has a thread; the answers of one request after the other are `serve`'s, which has
// to be thread-safe.
class HttpServer {
 public:
  using Serve = std::function<ServedAnswer(const ServedRequest&)>;

  explicit HttpServer(Serve serve)
      : serve_(std::move(serve)), listener_([this](int socket) { Talk(socket); }) {}

  std::string url() const { return "http://127.0.0.1:" + std::to_string(listener_.port()); }

 private:
  void Talk(int socket) const;

  const Serve serve_;
  Listener listener_;
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_OBJECT_HTTP_SERVER_H_
