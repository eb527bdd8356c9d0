#include "tests/object/http_server.h"

#include <algorithm>
#include <sys/socket.h>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include "engine/object/s3/http/url.h"

namespace cairn::test {

namespace {

// A connection, and the bytes that were read ahead from it.
class Connection {
 public:
  explicit Connection(int socket) : socket_(socket) {}

  // Nothing at the end of the connection.
  std::optional<std::string> ReadUntil(const std::string& end) {
    for (;;) {
      if (const size_t found = buffer_.find(end); found != std::string::npos) {
        return Take(found + end.size());
      }
      if (!ReadMore()) return std::nullopt;
    }
  }
  std::optional<std::string> Read(size_t size) {
    while (buffer_.size() < size) {
      if (!ReadMore()) return std::nullopt;
    }
    return Take(size);
  }
  bool Write(std::string_view text) { return SendAll(socket_, text); }

 private:
  bool ReadMore() {
    char bytes[65536];
    const ssize_t size = ::recv(socket_, bytes, sizeof bytes, 0);
    if (size <= 0) return false;
    buffer_.append(bytes, static_cast<size_t>(size));
    return true;
  }
  std::string Take(size_t size) {
    std::string taken = buffer_.substr(0, size);
    buffer_.erase(0, size);
    return taken;
  }

  const int socket_;
  std::string buffer_;
};

void TakeTarget(const std::string& target, ServedRequest& request) {
  const std::vector<std::string> parts = absl::StrSplit(target, absl::MaxSplits('?', 1));
  request.path = parts[0];
  if (parts.size() < 2) return;
  for (const std::string& part : std::vector<std::string>(absl::StrSplit(parts[1], '&'))) {
    const std::pair<std::string, std::string> pair = absl::StrSplit(part, absl::MaxSplits('=', 1));
    request.query[*object::PercentDecode(pair.first)] = *object::PercentDecode(pair.second);
  }
}

std::optional<ServedRequest> ReadRequest(Connection& connection) {
  const std::optional<std::string> head = connection.ReadUntil("\r\n\r\n");
  if (!head.has_value()) return std::nullopt;
  const std::vector<std::string> lines = absl::StrSplit(*head, "\r\n", absl::SkipEmpty());
  const std::vector<std::string> first = absl::StrSplit(lines[0], ' ');
  ServedRequest request{.method = first[0], .path = {}, .query = {}, .headers = {}, .body = {}};
  TakeTarget(first[1], request);
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::pair<std::string, std::string> pair =
        absl::StrSplit(lines[i], absl::MaxSplits(": ", 1));
    request.headers[absl::AsciiStrToLower(pair.first)] = pair.second;
  }
  size_t size = 0;
  if (!absl::SimpleAtoi(request.headers["content-length"], &size)) return request;
  std::optional<std::string> body = connection.Read(size);
  if (!body.has_value()) return std::nullopt;
  request.body = *std::move(body);
  return request;
}

// Returns true if the connection continues.
bool WriteAnswer(Connection& connection, const ServedAnswer& answer, bool is_head) {
  const int64_t cut = answer.cut_after.value_or(INT64_MAX);
  if (cut < 0) return false;
  std::string head = absl::StrCat("HTTP/1.1 ", answer.status, " Answer\r\nContent-Length: ",
                                  answer.claimed_size.value_or(std::ssize(answer.body)), "\r\n");
  for (const auto& [name, value] : answer.headers) {
    if (name != "Content-Length") absl::StrAppend(&head, name, ": ", value, "\r\n");
  }
  if (!answer.forever.empty()) {
    head = absl::StrCat("HTTP/1.1 ", answer.status, " Answer\r\n");
    for (const auto& [name, value] : answer.headers) {
      absl::StrAppend(&head, name, ": ", value, "\r\n");
    }
    bool written = connection.Write(head);
    while (written) written = connection.Write(answer.forever);
    return false;
  }
  const std::string body = is_head ? std::string() : answer.body;
  const auto sent = static_cast<size_t>(std::min(cut, static_cast<int64_t>(body.size())));
  return connection.Write(head + "\r\n" + body.substr(0, sent)) && !answer.cut_after.has_value();
}

}  // namespace

void HttpServer::Talk(int socket) const {
  Connection connection(socket);
  while (const std::optional<ServedRequest> request = ReadRequest(connection)) {
    if (!WriteAnswer(connection, serve_(*request), request->method == "HEAD")) break;
  }
}

}  // namespace cairn::test
