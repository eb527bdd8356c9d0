// A sync that runs beside the commits of a writer.
#ifndef CAIRN_ENGINE_FRAME_SYNC_BACKGROUND_SYNC_H_
#define CAIRN_ENGINE_FRAME_SYNC_BACKGROUND_SYNC_H_

#include <atomic>
#include <memory>
#include <optional>
#include <pthread.h>

#include "absl/status/status.h"

#include "engine/frame/sync/group_sync.h"
#include "engine/storage/owner_process.h"

namespace cairn::frame {

// For one thread, which is not the one that syncs.
class BackgroundSync {
 public:
  BackgroundSync() = default;
  // Waits for its end.
  ~BackgroundSync();
  BackgroundSync(const BackgroundSync&) = delete;
  BackgroundSync& operator=(const BackgroundSync&) = delete;

  // Makes durable all that was written before, which goes up to `point`; where there is no thread
  // to be had, at once. None may run.
  void Start(std::shared_ptr<GroupSync> sync, const CommitPoint& point, bool use_thread = true);
  bool is_running() const { return sync_ != nullptr; }
  // How it ended, once; nothing while it runs.
  std::optional<absl::Status> Poll();
  absl::Status Wait();

 private:
  static void* Run(void* self);
  void Join();

  const storage::OwnerProcess owner_;  // a forked child has no such thread
  std::shared_ptr<GroupSync> sync_;
  CommitPoint point_;
  absl::Status status_;
  std::atomic<bool> ended_ = false;
  std::optional<pthread_t> thread_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_SYNC_BACKGROUND_SYNC_H_
