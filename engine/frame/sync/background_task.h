// Work that is done beside the commits of a writer, such as a sync.
#ifndef CAIRN_ENGINE_FRAME_SYNC_BACKGROUND_TASK_H_
#define CAIRN_ENGINE_FRAME_SYNC_BACKGROUND_TASK_H_

#include <atomic>
#include <functional>
#include <optional>
#include <pthread.h>

#include "absl/status/status.h"

#include "engine/base/owner_process.h"

namespace cairn::frame {

// For one thread, which is not the one that works.
class BackgroundTask {
 public:
  using Task = std::function<absl::Status()>;

  BackgroundTask() = default;
  // Waits for its end.
  ~BackgroundTask();
  BackgroundTask(const BackgroundTask&) = delete;
  BackgroundTask& operator=(const BackgroundTask&) = delete;

  // Does the task in a thread; where there is none to be had, at once. None may run. What the task
  // holds goes in that thread too.
  void Start(Task task, bool use_thread = true);
  bool is_running() const { return is_running_; }
  // How it ended, once; nothing while it runs.
  std::optional<absl::Status> Poll();
  absl::Status Wait();

 private:
  void Run();
  void Join();

  const OwnerProcess owner_;  // a forked child has no such thread
  Task task_;
  bool is_running_ = false;
  absl::Status status_;
  std::atomic<bool> ended_ = false;
  std::optional<pthread_t> thread_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_SYNC_BACKGROUND_TASK_H_
