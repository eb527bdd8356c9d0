// Watches the file of a frame, for the threads that wait for a commit.
#ifndef CAIRN_ENGINE_FRAME_FILES_WATCH_POOL_H_
#define CAIRN_ENGINE_FRAME_FILES_WATCH_POOL_H_

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "engine/base/mutex.h"
#include "engine/base/owner_process.h"

namespace cairn::frame {

// Keeps watches for the next wait, because ending one takes the kernel milliseconds. Thread-safe. A
// forked child leaves its parent's watches alone: an event that one of the two is told, the other
// is not.
class WatchPool {
 public:
  // A watch on loan.
  class Lease {
   public:
    Lease(WatchPool& pool, std::shared_ptr<const File> file, std::unique_ptr<FileWatch> watch)
        : pool_(pool), file_(std::move(file)), watch_(std::move(watch)) {}
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() { pool_.Return(file_, std::move(watch_)); }

    // Waits as FileWatch does. Returns after a moment if the file cannot be watched.
    absl::StatusOr<FileEvent> Wait(std::chrono::milliseconds timeout) const;

   private:
    WatchPool& pool_;
    const std::shared_ptr<const File> file_;
    std::unique_ptr<FileWatch> watch_;
  };

  // Tells what happens to the file from now on, and perhaps what happened before.
  Lease Watch(std::shared_ptr<const File> file);

 private:
  void Return(const std::shared_ptr<const File>& file, std::unique_ptr<FileWatch> watch);

  Mutex mutex_;
  OwnerProcess owner_ ABSL_GUARDED_BY(mutex_);              // process of the watches
  std::weak_ptr<const File> file_ ABSL_GUARDED_BY(mutex_);  // the file that is watched
  std::vector<std::unique_ptr<FileWatch>> idle_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_FILES_WATCH_POOL_H_
