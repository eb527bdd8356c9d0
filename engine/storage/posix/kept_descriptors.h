// Keeps descriptors open of files that other code of the process has open, too.
#ifndef CAIRN_ENGINE_STORAGE_POSIX_KEPT_DESCRIPTORS_H_
#define CAIRN_ENGINE_STORAGE_POSIX_KEPT_DESCRIPTORS_H_

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "cairn/file_system.h"
#include "engine/base/mutex.h"
#include "engine/storage/posix/fd.h"
#include "engine/storage/posix/fork_observer.h"
#include "engine/storage/posix/unshared_fd.h"

namespace cairn::storage {

// Closes descriptors, or keeps them open while that is needed. When a process closes any descriptor
// of a file, the kernel drops all POSIX locks (F_SETLK) of the process on that file, whichever
// descriptor they were taken by. SQLite locks its databases with these: a program that merely looks
// at a database, to find that it is not a frame, would let other processes write into a
// transaction. Hence a descriptor of a file that other code of the process has open stays open
// until that code has closed its own. The locks that are there now are not enough to decide by,
// because another thread may take one before the descriptor is closed.
//
// The descriptors belong to the process, as the locks do. The next caller who opens such a file
// gets the kept descriptor. So each file has one for each mode, a second one for its locks (see
// FileLocks), or a few if threads look at once. Descriptors that are no longer needed are closed
// when the next file is opened. Thread-safe.
class KeptDescriptors {
 public:
  // Closes the descriptor of `file` now, or keeps it. `forks` has seen the forks since it was
  // opened. Costs a look at each descriptor of the process.
  void Close(UniqueFd fd, const FileIdentity& file, bool writable, const ForkObserver& forks);
  // Returns a kept descriptor of `file`, if there is one that no forked process shares.
  UniqueFd Take(const FileIdentity& file, bool writable);
  // Closes the descriptors whose files no other code has open any more.
  void CloseUnneeded();
  bool empty() const { return count_.load(std::memory_order_relaxed) == 0; }

 private:
  struct Kept {
    UniqueFd fd;
    FileIdentity file;
    bool writable = false;
    // Tells whether a child has the same open file, whose locks the child would share.
    ForkObserver forks;
  };

  Mutex mutex_;  // not held during system calls
  std::vector<Kept> kept_ ABSL_GUARDED_BY(mutex_);
  std::atomic<size_t> count_ = 0;
};

// Returns true if any process, this one included, has a lock on bytes that other programs lock. The
// locks of frames lie behind these bytes.
bool IsLockedByOthers(int fd);

// A descriptor that KeptDescriptors closes.
class GuardedFd {
 public:
  GuardedFd() = default;
  // Without `kept` the descriptor is closed at once. That is for files that only frames use.
  GuardedFd(UniqueFd fd, const FileIdentity& file, bool writable,
            std::shared_ptr<KeptDescriptors> kept)
      : fd_(std::move(fd)), file_(file), writable_(writable), kept_(std::move(kept)) {}
  GuardedFd(GuardedFd&& other) noexcept = default;
  GuardedFd& operator=(GuardedFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(file_, other.file_);
    std::swap(writable_, other.writable_);
    std::swap(kept_, other.kept_);
    std::swap(forks_, other.forks_);
    return *this;
  }
  ~GuardedFd() {
    if (fd_.ok() && kept_ != nullptr) kept_->Close(std::move(fd_), file_, writable_, forks_);
  }

  bool ok() const { return fd_.ok(); }
  int get() const { return fd_.get(); }
  const FileIdentity& file() const { return file_; }
  bool writable() const { return writable_; }
  // Closes the descriptor at once. For files that only frames use.
  void CloseNow() { const UniqueFd closed = std::move(fd_); }
  // Returns a kept descriptor of the same file and mode, if there is one that no forked process
  // shares.
  UniqueFd TakeAnother() const {
    return kept_->empty() ? UniqueFd() : kept_->Take(file_, writable_);
  }
  // Closes another descriptor of the same file and mode in the way in which this one will be
  // closed.
  void CloseAlso(UnsharedFd& other) const {
    const ForkObserver forks;
    if (other.ok()) kept_->Close(other.Release(), file_, writable_, forks);
  }

 private:
  UniqueFd fd_;
  FileIdentity file_;
  bool writable_ = false;
  std::shared_ptr<KeptDescriptors> kept_;
  ForkObserver forks_;
};

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_POSIX_KEPT_DESCRIPTORS_H_
