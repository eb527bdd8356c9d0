#include "engine/storage/posix/watch.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstddef>
#include <cstring>
#include <poll.h>
#include <string>
#include <sys/inotify.h>
#include <unistd.h>
#include <utility>

#include "absl/strings/str_format.h"

#include "engine/base/status.h"
#include "engine/storage/errors.h"
#include "engine/storage/posix/fd.h"

namespace cairn::storage {

namespace {

class InotifyWatch final : public FileWatch {
 public:
  explicit InotifyWatch(UniqueFd fd) : fd_(std::move(fd)) {}

  absl::StatusOr<FileEvent> Wait(std::chrono::milliseconds timeout) override {
    struct pollfd poll = {.fd = fd_.get(), .events = POLLIN, .revents = 0};
    const auto most = std::clamp<int64_t>(timeout.count(), 0, INT_MAX);
    const int ready = ::poll(&poll, 1, static_cast<int>(most));
    // A signal ends the wait early.
    if (ready == 0 || (ready < 0 && errno == EINTR)) return FileEvent::kNone;
    if (ready < 0) return ErrnoStatus(errno, "the watch of a file", "poll");
    return TakeEvents();
  }

 private:
  // Returns the most important of all events. A new name matters most.
  absl::StatusOr<FileEvent> TakeEvents() {
    FileEvent result = FileEvent::kNone;
    alignas(inotify_event) std::array<char, 4096> buffer;
    while (true) {
      const ssize_t size =
          RetryInterrupted([&] { return ::read(fd_.get(), buffer.data(), buffer.size()); });
      if (size < 0 && errno == EAGAIN) return result;
      if (size < 0) return ErrnoStatus(errno, "the watch of a file", "read");
      for (ssize_t at = 0; at < size;) {
        inotify_event event;
        std::memcpy(&event, buffer.data() + at, sizeof(event));
        at += static_cast<ssize_t>(sizeof(event) + event.len);
        // This is also true if the kernel has forgotten what happened.
        const bool renamed = (event.mask & IN_MODIFY) == 0;
        result = std::max(result, renamed ? FileEvent::kRenamed : FileEvent::kWritten);
      }
    }
  }

  UniqueFd fd_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<FileWatch>> WatchFile(int fd, std::string_view path) {
  UniqueFd watch(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!watch.ok()) return ErrnoStatus(errno, path, "watch files");
  // A rename over a file takes a link from it, which changes its attributes.
  constexpr uint32_t kEvents = IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF;
  const std::string name = absl::StrFormat("/proc/self/fd/%d", fd);
  if (::inotify_add_watch(watch.get(), name.c_str(), kEvents) < 0) {
    return ErrnoStatus(errno, path, "watch the file");
  }
  return std::make_unique<InotifyWatch>(std::move(watch));
}

}  // namespace cairn::storage
