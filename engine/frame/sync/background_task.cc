#include "engine/frame/sync/background_task.h"

#include <utility>

#include "engine/base/thread.h"

namespace cairn::frame {

BackgroundTask::~BackgroundTask() { Join(); }

void BackgroundTask::Run() {
  status_ = task_();
  task_ = nullptr;
  ended_.store(true, std::memory_order_release);
}

void BackgroundTask::Start(Task task, bool use_thread) {
  task_ = std::move(task);
  is_running_ = true;
  ended_ = false;
  if (use_thread) thread_ = StartThread<&BackgroundTask::Run>(this);
  if (!thread_.has_value()) Run();
}

void BackgroundTask::Join() {
  if (thread_.has_value() && owner_.is_here()) ::pthread_join(*thread_, nullptr);
  thread_.reset();
}

std::optional<absl::Status> BackgroundTask::Poll() {
  if (!is_running() || !ended_.load(std::memory_order_acquire)) return std::nullopt;
  return Wait();
}

absl::Status BackgroundTask::Wait() {
  Join();
  is_running_ = false;
  return status_;
}

}  // namespace cairn::frame
