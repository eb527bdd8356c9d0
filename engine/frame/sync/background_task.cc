#include "engine/frame/sync/background_task.h"

#include <csignal>
#include <utility>

namespace cairn::frame {

BackgroundTask::~BackgroundTask() { Join(); }

void* BackgroundTask::Run(void* self) {
  auto* const background = static_cast<BackgroundTask*>(self);
  background->status_ = background->task_();
  background->task_ = nullptr;
  background->ended_.store(true, std::memory_order_release);
  return nullptr;
}

void BackgroundTask::Start(Task task, bool use_thread) {
  task_ = std::move(task);
  is_running_ = true;
  ended_ = false;
  if (use_thread) {
    // The program's signals are not for this thread.
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    const int error = ::pthread_create(&thread, nullptr, &Run, this);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (error == 0) {
      thread_ = thread;
      return;
    }
  }
  Run(this);
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
