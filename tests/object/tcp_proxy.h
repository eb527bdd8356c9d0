// A way to a server that is slow, and breaks.
#ifndef CAIRN_TESTS_OBJECT_TCP_PROXY_H_
#define CAIRN_TESTS_OBJECT_TCP_PROXY_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "tests/object/sockets.h"
#include "tests/support/dice.h"

namespace cairn::test {

struct ProxyOptions {
  std::chrono::milliseconds latency{0};  // for each request
  int hold_until = 0;  // this many requests have come at the same time, or a minute passed
  // This many of 100 requests lose their connection:
  size_t cut_in_request = 0;     // in the middle of the request
  size_t cut_before_answer = 0;  // when the server has all of the request
  size_t cut_in_answer = 0;      // in the middle of the answer
  // And this many get another answer:
  size_t answer_503 = 0;  // the server sees nothing of the request
  size_t answer_500 = 0;  // the server does what it is asked
  size_t answer_412 = 0;  // likewise; of puts of names with `denied` in them
  std::string denied = {};
};

// Passes HTTP/1.1 on to a port of this machine.
class TcpProxy {
 public:
  TcpProxy(int to_port, ProxyOptions options, uint64_t seed = 1, int port = 0)
      : to_port_(to_port),
        options_(options),
        dice_(seed),
        listener_([this](int client) { Talk(client); }, port) {}

  int port() const { return listener_.port(); }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port()); }
  int64_t requests() const { return requests_; }
  int64_t cuts() const { return cuts_; }
  int most_held() const { return most_held_; }

 private:
  enum class Fate {
    kFine,
    kCutInRequest,
    kCutBeforeAnswer,
    kCutInAnswer,
    kAnswer503,
    kAnswer500,
    kAnswer412
  };

  void Talk(int client);
  Fate Throw(const std::string& request);
  void Hold();
  // Answers in the server's place; the connection ends.
  static void Answer(int client, Fate fate);
  // Returns true if the connection continues.
  bool PassRequest(int server, const std::string& request, Fate fate);
  bool PassAnswer(int client, int server, Fate fate);

  const int to_port_;
  const ProxyOptions options_;
  std::atomic<int64_t> requests_ = 0;
  std::atomic<int64_t> cuts_ = 0;
  std::atomic<int> most_held_ = 0;
  std::mutex mutex_;
  std::condition_variable came_;
  int held_ = 0;
  Dice dice_;
  Listener listener_;
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_OBJECT_TCP_PROXY_H_
