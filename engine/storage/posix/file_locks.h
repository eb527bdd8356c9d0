// The locks that one open file has on its bytes, beside the children that its process forks.
#ifndef CAIRN_ENGINE_STORAGE_POSIX_FILE_LOCKS_H_
#define CAIRN_ENGINE_STORAGE_POSIX_FILE_LOCKS_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <sys/types.h>
#include <vector>

#include "cairn/file_system.h"
#include "engine/base/owner_process.h"
#include "engine/storage/posix/fd.h"
#include "engine/storage/posix/fork_observer.h"

namespace cairn::storage {

// Locks are those of an open file description, which the kernel shares with forked children and
// ends with the last descriptor or map of it. A child may read what a shared lock keeps for it, so
// these rules hold:
//
// * No shared lock ends on a description that a child may have. The parent opens the file again,
//   takes the locks that stay on the new description, and puts that in place of its descriptor: the
//   old one, with all its shared locks, is left to the children and ends with them.
// * A child does the same before it takes or ends a lock. So it has no moment without the lock
//   that keeps what it inherited.
// * Exclusive locks are the parent's alone. It ends them for all, and a child never does.
//
// Thread-safe. Results are 0 or an errno.
class FileLocks {
 public:
  // `fd` and `path` must outlive it. The file has this identity, and no child has its description.
  FileLocks(int fd, const FileIdentity& identity, const std::string& path)
      : fd_(fd), identity_(identity), path_(path) {}
  FileLocks(const FileLocks&) = delete;
  FileLocks& operator=(const FileLocks&) = delete;

  // To be called before the descriptor is closed. Ends exclusive locks; shared ones end with the
  // description, where a child may have it.
  void End();
  // Returns true if there was a lock at any time.
  bool were_taken() const { return were_taken_.load(std::memory_order_relaxed); }

  // EAGAIN or EACCES when another open file holds an incompatible lock.
  int Lock(int64_t offset, LockMode mode);
  // Waits in the queue; EAGAIN when `timeout` elapses before.
  int WaitFor(int64_t offset, std::chrono::milliseconds timeout);
  // In a forked child gives up its part in a lock of the parent, which the parent keeps. Where the
  // file cannot be opened again, a shared lock may stay.
  int Unlock(int64_t offset);
  // By flock.
  int LockWhole();

 private:
  struct Held {
    int64_t offset = 0;
    LockMode mode = LockMode::kShared;
  };

  bool is_here() const { return process_.load(std::memory_order_relaxed) == ThisProcess(); }
  // Holds the mutex; not in a child of a process in which another thread held it.
  std::unique_lock<std::mutex> Enter();
  void Note(int64_t offset, LockMode mode);
  // Makes the description this process's own, where a fork may have shared it.
  int Own();
  UniqueFd Reopen() const;
  bool HasExclusive() const;

  const int fd_;
  const FileIdentity identity_;
  const std::string& path_;
  // Whose description the descriptor has; written with the mutex held.
  std::atomic<pid_t> process_ = ThisProcess();
  std::mutex mutex_;    // of all that follows
  ForkObserver forks_;  // since the descriptor got its description
  std::vector<Held> held_;
  bool holds_whole_ = false;
  std::atomic<bool> were_taken_ = false;
};

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_POSIX_FILE_LOCKS_H_
