// File descriptors and the kernel's attributes of files.
#ifndef CAIRN_ENGINE_STORAGE_POSIX_FD_H_
#define CAIRN_ENGINE_STORAGE_POSIX_FD_H_

#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <unistd.h>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"

namespace cairn::storage {

// Closes its descriptor on destruction. Movable. Holds -1 if it has none.
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
    // EINTR is not a reason to close again: Linux has freed the number by then, and another thread
    // may own it.
    if (fd_ >= 0) ::close(fd_);
  }

  bool ok() const { return fd_ >= 0; }
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }

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

// Opens a file as openat does, and tries again after a signal. The file never gets the number of a
// standard stream, because output to a stream that the program has closed would go into the file.
UniqueFd OpenAt(int directory, const std::string& path, int flags, mode_t permissions = 0);

// Attributes of a file. The times are left out on purpose: after a process asked for them, the
// kernel gives the next write a different time, which goes into the inode and makes a commit's sync
// cost half as much again.
struct PosixStat {
  FileIdentity identity;
  mode_t mode = 0;
  uid_t owner = 0;
  gid_t group = 0;
  int64_t size = 0;
  int64_t allocated = 0;  // bytes of disk space
  int64_t names = 0;      // hard links
  int64_t modified = 0;   // nanoseconds since 1970
};

// Returns the attributes of an open file. `path` and `action` are those of ErrnoStatus.
absl::StatusOr<PosixStat> StatOf(int fd, std::string_view path, std::string_view action);
// Returns nothing on failure; errno says why. `directory` and `flags` are those of fstatat.
std::optional<PosixStat> StatAt(int directory, const char* path, int flags);

// Returns the kind, owner and mode for messages: "a FIFO of user mallory (uid 1001), mode 0622".
std::string Described(const PosixStat& info);
// Returns kFailedPrecondition: `info` describes something other than a regular file.
absl::Status ExpectedFile(std::string_view path, const PosixStat& info);

// Returns flags for open, with which it never waits, for example for the other end of a FIFO.
int OpenFlags(FileMode mode);

// Returns a number of this run of the machine, or 0 if the kernel does not report one.
uint64_t ReadBootId();

// Makes the names in an open directory durable. `path` is for messages.
absl::Status SyncDirectory(int fd, const std::string& path);

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_POSIX_FD_H_
