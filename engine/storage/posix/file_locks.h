// The locks that one open file has on its bytes, beside the children that its process forks.
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

// Locks are those of an open file description, which the kernel shares with forked children and
// ends with the last descriptor or map of it. A child may read what a shared lock keeps for it, but
// what its parent locks exclusively is no affair of the child's. So these rules hold:
//
// * Shared locks are on the description that the file is read by, and that children share. None
//   ends on a description that a child may have. The parent opens the file again, takes the locks
//   that stay on the new description, and puts that in place of its descriptor: the old one, with
//   all its shared locks, is left to the children and ends with them.
// * A child does the same before it takes or ends a lock. So it has no moment without the lock
//   that keeps what it inherited.
// * Exclusive locks, and tickets of the queue, are on a description of their own, which is opened
//   for the first of them. Nothing is mapped from it, and a fork closes its descriptor in the
//   child: they end with the process that took them, by whatever end, and are those of another to a
//   child.
// * A lock that changes its mode goes to the other description, and is shared on both meanwhile.
//
// Thread-safe. Results are 0 or an errno.
class FileLocks {
 public:
  // Both must outlive it. No child has the description of `file`.
  FileLocks(GuardedFd& file, const std::string& path) : file_(file), fd_(file.get()), path_(path) {}
  FileLocks(const FileLocks&) = delete;
  FileLocks& operator=(const FileLocks&) = delete;

  // To be called before the descriptor is closed, when no other thread uses this. Ends exclusive
  // locks; shared ones end with the description, where a child may have it. Gives the descriptor
  // that had the exclusive locks.
  UnsharedFd& End() ABSL_NO_THREAD_SAFETY_ANALYSIS;
  // Returns true if there was a lock at any time.
  bool were_taken() const { return were_taken_.load(std::memory_order_relaxed); }

  // EAGAIN when another open file holds an incompatible lock. Exclusive ones need a file that is
  // open for writing.
  int Lock(int64_t offset, LockMode mode);
  // Waits in the queue; EAGAIN when `timeout` elapses before. Not for a byte with a shared lock of
  // this file.
  int WaitFor(int64_t offset, std::chrono::milliseconds timeout);
  // In a forked child gives up its part in a shared lock of the parent, which the parent keeps.
  // Where the file cannot be opened again, it may stay.
  int Unlock(int64_t offset);
  // By flock.
  int LockWhole();
  // One of bytes `first` to `last` that another open file has locked, if there is one.
  int FindLocked(int64_t first, int64_t last, std::optional<int64_t>& byte) const;
  // Whether this one has a lock of any mode on one of the bytes [first, last].
  bool Holds(int64_t first, int64_t last) const;

 private:
  struct Held {
    int64_t offset = 0;
    LockMode mode = LockMode::kShared;
  };

  // Holds the mutex. A child of a process in which another thread held it does not get it.
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
  // Makes the description that is read by this process's own, where a fork may have shared it.
  int Own() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Opens the description for exclusive locks, where that has not been done.
  int OpenExclusive() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes a lock on the description that is right for the mode, from the other one.
  int Change(int64_t offset, LockMode mode) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // A new description of the same file, or nothing; errno says why. `link` is Link().
  UniqueFd Reopen(const std::string& link) const;
  std::string Link() const;
  // The first byte of these that it has locked exclusively.
  std::optional<int64_t> NextExclusive(int64_t first, int64_t last) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  GuardedFd& file_;
  const int fd_;  // of file_
  const std::string& path_;
  // Whose description the descriptor has; written with the mutex held.
  std::atomic<pid_t> process_ = ThisProcess();
  mutable Mutex mutex_;
  // Sees the forks since the descriptor got its description.
  ForkObserver forks_ ABSL_GUARDED_BY(mutex_);
  // Its description has the exclusive locks.
  UnsharedFd exclusive_ ABSL_GUARDED_BY(mutex_);
  std::vector<Held> held_ ABSL_GUARDED_BY(mutex_);
  bool holds_whole_ ABSL_GUARDED_BY(mutex_) = false;
  std::atomic<bool> were_taken_ = false;
};

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_POSIX_FILE_LOCKS_H_
