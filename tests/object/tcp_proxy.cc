#include "tests/object/tcp_proxy.h"

#include <algorithm>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"

namespace cairn::test {

namespace {

// The size of the first request in there, once its head is.
std::optional<size_t> RequestSize(const std::string& bytes) {
  const size_t end = bytes.find("\r\n\r\n");
  if (end == std::string::npos) return std::nullopt;
  const std::string head = absl::AsciiStrToLower(bytes.substr(0, end + 2));
  const std::string name = "\r\ncontent-length: ";
  const size_t found = head.find(name);
  size_t size = 0;
  if (found != std::string::npos) {
    const size_t begin = found + name.size();
    static_cast<void>(absl::SimpleAtoi(head.substr(begin, head.find('\r', begin) - begin), &size));
  }
  return end + 4 + size;
}

// Appends what there is; false at the end.
bool Receive(int socket, std::string& bytes) {
  char buffer[65536];
  const ssize_t size = ::recv(socket, buffer, sizeof buffer, 0);
  if (size <= 0) return false;
  bytes.append(buffer, static_cast<size_t>(size));
  return true;
}

// Lets the server finish what it was asked, and hears nothing of it.
void Drain(int server) {
  std::string ignored;
  pollfd ready{.fd = server, .events = POLLIN, .revents = 0};
  if (::poll(&ready, 1, 5'000) > 0) Receive(server, ignored);
}

}  // namespace

TcpProxy::Fate TcpProxy::Throw(const std::string& request) {
  ++requests_;
  const std::lock_guard lock(mutex_);
  const size_t number = dice_.Below(100);
  size_t limit = options_.cut_in_request;
  if (number < limit) return Fate::kCutInRequest;
  if (number < (limit += options_.cut_before_answer)) return Fate::kCutBeforeAnswer;
  if (number < (limit += options_.cut_in_answer)) return Fate::kCutInAnswer;
  if (number < (limit += options_.answer_503)) return Fate::kAnswer503;
  if (number < (limit += options_.answer_500)) return Fate::kAnswer500;
  const std::string first_line = request.substr(0, request.find('\r'));
  const bool may_deny =
      first_line.starts_with("PUT ") && first_line.find(options_.denied) != std::string::npos;
  return may_deny && number < limit + options_.answer_412 ? Fate::kAnswer412 : Fate::kFine;
}

void TcpProxy::Answer(int client, Fate fate) {
  const std::string_view status = fate == Fate::kAnswer503   ? "503 Service Unavailable"
                                  : fate == Fate::kAnswer500 ? "500 Internal Server Error"
                                                             : "412 Precondition Failed";
  SendAll(client,
          absl::StrFormat("HTTP/1.1 %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", status));
}

void TcpProxy::Hold() {
  std::unique_lock lock(mutex_);
  most_held_ = std::max<int>(most_held_, ++held_);
  came_.notify_all();
  came_.wait_for(lock, std::chrono::minutes(1), [&] { return most_held_ >= options_.hold_until; });
  --held_;
}

bool TcpProxy::PassRequest(int server, const std::string& request, Fate fate) {
  std::this_thread::sleep_for(options_.latency);
  Hold();
  const size_t size =
      fate == Fate::kCutInRequest ? request.size() - request.size() / 4 - 1 : request.size();
  return SendAll(server, std::string_view(request).substr(0, size)) && fate != Fate::kCutInRequest;
}

bool TcpProxy::PassAnswer(int client, int server, Fate fate) {
  std::string bytes;
  if (!Receive(server, bytes)) return false;
  if (fate == Fate::kCutInAnswer) bytes.resize(bytes.size() - bytes.size() / 4 - 1);
  return SendAll(client, bytes) && fate != Fate::kCutInAnswer;
}

void TcpProxy::Talk(int client) {
  const int server = Connect(to_port_);
  std::string requested;
  Fate fate = Fate::kFine;
  for (bool open = server >= 0; open;) {
    pollfd ready[] = {{.fd = client, .events = POLLIN, .revents = 0},
                      {.fd = server, .events = POLLIN, .revents = 0}};
    ::poll(ready, 2, -1);
    if (ready[1].revents != 0) {
      open = PassAnswer(client, server, fate);
    } else if (ready[0].revents != 0) {
      open = Receive(client, requested);
      const std::optional<size_t> size = RequestSize(requested);
      if (!open || !size.has_value() || requested.size() < *size) continue;
      fate = Throw(requested);
      if (fate != Fate::kFine) ++cuts_;
      if (fate == Fate::kAnswer503) {
        Answer(client, fate);
        break;
      }
      open = PassRequest(server, requested.substr(0, *size), fate);
      requested.erase(0, *size);
      const bool answers = fate == Fate::kAnswer500 || fate == Fate::kAnswer412;
      if (!answers && fate != Fate::kCutBeforeAnswer) continue;
      // The client is not to wait.
      if (!answers) ::shutdown(client, SHUT_RDWR);
      Drain(server);
      if (answers) Answer(client, fate);
      open = false;
    }
  }
  if (server >= 0) ::close(server);
}

}  // namespace cairn::test
