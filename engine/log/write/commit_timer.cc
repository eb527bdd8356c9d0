#include "engine/log/write/commit_timer.h"

#include <utility>

#include "engine/base/thread.h"

namespace cairn::log {

TimerThread::TimerThread() : thread_(StartThread<&TimerThread::Run>(this)) {}

TimerThread::~TimerThread() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  changed_.notify_all();
  if (runs()) ::pthread_join(*thread_, nullptr);
}

void TimerThread::CallAt(Clock::time_point time, std::function<void()> due) {
  {
    const std::lock_guard lock(mutex_);
    entries_.push({.time = time, .due = std::move(due)});
  }
  changed_.notify_all();
}

void TimerThread::Run() {
  std::unique_lock lock(mutex_);
  while (!stops_) {
    if (entries_.empty()) {
      changed_.wait(lock);
    } else if (const Clock::time_point next = entries_.top().time; Clock::now() < next) {
      changed_.wait_until(lock, next);
    } else {
      const std::function<void()> due = entries_.top().due;
      entries_.pop();
      lock.unlock();
      due();
      lock.lock();
    }
  }
}

}  // namespace cairn::log
