#include "engine/log/write/commit_timer.h"

#include <utility>

#include "engine/base/thread.h"

namespace cairn::log {

TimerThread::TimerThread() : thread_(StartThread<&TimerThread::Run>(this)) {}

TimerThread::~TimerThread() {
  {
    const MutexLock lock(mutex_);
    stops_ = true;
  }
  changed_.NotifyAll();
  if (runs()) ::pthread_join(*thread_, nullptr);
}

void TimerThread::CallAt(Clock::time_point time, std::function<void()> due) {
  {
    const MutexLock lock(mutex_);
    entries_.push({.time = time, .due = std::move(due)});
  }
  changed_.NotifyAll();
}

void TimerThread::Run() {
  const MutexLock lock(mutex_);
  while (!stops_) {
    if (entries_.empty()) {
      changed_.Wait(mutex_);
    } else if (const Clock::time_point next = entries_.top().time; Clock::now() < next) {
      changed_.WaitUntil(mutex_, next);
    } else {
      const std::function<void()> due = entries_.top().due;
      entries_.pop();
      mutex_.Unlock();
      due();
      mutex_.Lock();
    }
  }
}

}  // namespace cairn::log
