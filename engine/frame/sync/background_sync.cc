#include "engine/frame/sync/background_sync.h"

#include <csignal>
#include <utility>

namespace cairn::frame {

BackgroundSync::~BackgroundSync() {
  if (owner_.is_here()) Join();
}

void* BackgroundSync::Run(void* self) {
  auto* const sync = static_cast<BackgroundSync*>(self);
  sync->status_ = sync->sync_->Sync(sync->point_);
  sync->ended_.store(true, std::memory_order_release);
  return nullptr;
}

void BackgroundSync::Start(std::shared_ptr<GroupSync> sync, const CommitPoint& point,
                           bool use_thread) {
  sync_ = std::move(sync);
  point_ = point;
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

void BackgroundSync::Join() {
  if (thread_.has_value()) ::pthread_join(*thread_, nullptr);
  thread_.reset();
}

std::optional<absl::Status> BackgroundSync::Poll() {
  if (!is_running() || !ended_.load(std::memory_order_acquire)) return std::nullopt;
  return Wait();
}

absl::Status BackgroundSync::Wait() {
  Join();
  sync_.reset();
  return status_;
}

}  // namespace cairn::frame
