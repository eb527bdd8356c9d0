// Sockets of tests.
#ifndef CAIRN_TESTS_OBJECT_SOCKETS_H_
#define CAIRN_TESTS_OBJECT_SOCKETS_H_

#include <atomic>
#include <functional>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

namespace cairn::test {

// Accepts connections on 127.0.0.1; each has a thread, and its socket is open until this object
// goes.
class Listener {
 public:
  // The system chooses the port if it is 0.
  explicit Listener(std::function<void(int socket)> talk, int port = 0);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int port() const { return port_; }

 private:
  void Accept();

  const std::function<void(int)> talk_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> closing_ = false;
  std::mutex mutex_;
  std::vector<int> sockets_;
  std::vector<std::thread> threads_;
  std::thread accepting_;
};

// A connection to 127.0.0.1, or -1.
int Connect(int port);
bool SendAll(int socket, std::string_view bytes);

}  // namespace cairn::test

#endif  // CAIRN_TESTS_OBJECT_SOCKETS_H_
