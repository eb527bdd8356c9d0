// The locks that one open file has on its bytes, in a process that may fork.
#ifndef CAIRN_ENGINE_STORAGE_POSIX_FILE_LOCKS_H_
#define CAIRN_ENGINE_STORAGE_POSIX_FILE_LOCKS_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "cairn/file_system.h"
#include "engine/base/mutex.h"
#include "engine/base/owner_process.h"
#include "engine/storage/posix/fd.h"
#include "engine/storage/posix/fork_observer.h"
#include "engine/storage/posix/kept_descriptors.h"
#include "engine/storage/posix/unshared_fd.h"

namespace cairn::storage {

// Holds the locks of one open file. They are locks of an open file description, which the kernel
// shares with forked children and ends with the last descriptor or mapping of it. A child may read
// what a shared lock keeps for it, but the exclusive locks of its parent do not concern the child.
// So these rules hold:
//
// * Shared locks are on the description that the file is read by, and that children share. None
//   ends on a description that a child may have. The parent opens the file again, takes the locks
//   that stay on the new description, and puts that in place of its descriptor. The old one, with
//   all its shared locks, is left to the children and ends with them.
// * A child does the same before it takes or ends a lock. So it never loses the lock that keeps
//   what it inherited.
// * Exclusive locks, and tickets of the queue, are on a description of their own, which is opened
//   for the first of them. Nothing is mapped from it, and a fork closes its descriptor in the
//   child. So these locks end with the process that took them, whatever ends it, and for a child
//   they are the locks of another process.
// * A lock that changes its mode moves to the other description, and is shared on both meanwhile.
//
// Thread-safe. Results are 0 or an errno.
class FileLocks {
 public:
  // Both must outlive this object. No child has the description of `file`.
  FileLocks(GuardedFd& file, const std::string& path) : file_(file), fd_(file.get()), path_(path) {}
  FileLocks(const FileLocks&) = delete;
  FileLocks& operator=(const FileLocks&) = delete;

  // Ends the exclusive locks. Shared locks that a child may share end with the description. Call
  // this before the descriptor is closed, when no other thread uses this object. Returns the
  // descriptor that had the exclusive locks.
  UnsharedFd& End() ABSL_NO_THREAD_SAFETY_ANALYSIS;
  // Returns true if there was a lock at any time.
  bool were_taken() const { return were_taken_.load(std::memory_order_relaxed); }

  // Returns EAGAIN if another open file holds an incompatible lock. Exclusive locks need a file
  // that is open for writing.
  int Lock(int64_t offset, LockMode mode);
  // Waits in the queue. Returns EAGAIN if `timeout` elapses first. The byte must not have a shared
  // lock of this file.
  int WaitFor(int64_t offset, std::chrono::milliseconds timeout);
  // A forked child gives up its part in a shared lock of the parent, which the parent keeps. If the
  // child cannot open the file again, its part may stay.
  int Unlock(int64_t offset);
  // Locks the whole file with flock.
  int LockWhole();
  // Finds one of bytes `first` to `last` that another open file has locked, if there is one.
  int FindLocked(int64_t first, int64_t last, std::optional<int64_t>& byte) const;
  // Returns true if this file has a lock of any mode on one of the bytes [first, last].
  bool Holds(int64_t first, int64_t last) const;

 private:
  struct Held {
    int64_t offset = 0;
    LockMode mode = LockMode::kShared;
  };

  // Holds the mutex. A child may not get it, if another thread of its parent held it during the
  // fork.
  class ABSL_SCOPED_LOCKABLE Entry {
   public:
    explicit Entry(const FileLocks& locks) ABSL_EXCLUSIVE_LOCK_FUNCTION(locks.mutex_);
    ~Entry() ABSL_UNLOCK_FUNCTION();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    bool has_mutex() const { return has_mutex_; }

   private:
    const FileLocks& locks_;
    bool has_mutex_;
  };

  bool is_here() const { return process_.load(std::memory_order_relaxed) == ThisProcess(); }
  void Note(int64_t offset, LockMode mode) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Gives this process a description of its own for reading, if a fork may have shared the old one.
  int Own() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Opens the description for exclusive locks, unless it is open.
  int OpenExclusive() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Moves a lock to the description that is right for the mode, from the other one.
  int Change(int64_t offset, LockMode mode) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns a new description of the same file, or nothing; errno says why. `link` is Link().
  UniqueFd Reopen(const std::string& link) const;
  std::string Link() const;
  // Returns the first of these bytes that this file has locked exclusively.
  std::optional<int64_t> NextExclusive(int64_t first, int64_t last) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  GuardedFd& file_;
  const int fd_;  // of file_
  const std::string& path_;
  // The process that the descriptor's description belongs to. Written with the mutex held.
  std::atomic<pid_t> process_ = ThisProcess();
  mutable Mutex mutex_;
  // Sees the forks since the descriptor got its description.
  ForkObserver forks_ ABSL_GUARDED_BY(mutex_);
  // The descriptor whose description has the exclusive locks.
  UnsharedFd exclusive_ ABSL_GUARDED_BY(mutex_);
  std::vector<Held> held_ ABSL_GUARDED_BY(mutex_);
  bool holds_whole_ ABSL_GUARDED_BY(mutex_) = false;
  std::atomic<bool> were_taken_ = false;
};

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_POSIX_FILE_LOCKS_H_
