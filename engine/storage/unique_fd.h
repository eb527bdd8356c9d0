// A file descriptor with an owner.
#ifndef CAIRN_ENGINE_STORAGE_UNIQUE_FD_H_
#define CAIRN_ENGINE_STORAGE_UNIQUE_FD_H_

#include <cerrno>
#include <unistd.h>
#include <utility>

namespace cairn::storage {

// Closes on destruction. Movable; -1 when it holds none.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~UniqueFd() {
    // Never again after EINTR: Linux has freed the number by then, another thread may own it.
    if (fd_ >= 0) ::close(fd_);
  }

  bool ok() const { return fd_ >= 0; }
  int get() const { return fd_; }

 private:
  int fd_ = -1;
};

// Repeats a system call while signals interrupt it.
template <typename Call>
auto RetryInterrupted(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_UNIQUE_FD_H_
