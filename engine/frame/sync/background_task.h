// Runs work during the commits of a writer, such as a sync.
#ifndef CAIRN_ENGINE_FRAME_SYNC_BACKGROUND_TASK_H_
#define CAIRN_ENGINE_FRAME_SYNC_BACKGROUND_TASK_H_

#include <atomic>
#include <functional>
#include <optional>
#include <pthread.h>

#include "absl/status/status.h"

#include "engine/base/owner_process.h"

namespace cairn::frame {

// Runs one task at a time in a thread of its own. Its functions are for one other thread.
class BackgroundTask {
 public:
  using Task = std::function<absl::Status()>;

  BackgroundTask() = default;
  // Waits for the end of the task.
  ~BackgroundTask();
  BackgroundTask(const BackgroundTask&) = delete;
  BackgroundTask& operator=(const BackgroundTask&) = delete;

  // Runs the task in a thread, or at once if no thread can be started. No other task may run. The
  // objects that the task holds are destroyed in the same thread.
  void Start(Task task, bool use_thread = true);
  bool is_running() const { return is_running_; }
  // Returns the result of the task once. Returns nothing while the task runs.
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
