// A thread that commits the records of writers when they are due.
#ifndef CAIRN_ENGINE_LOG_WRITE_COMMIT_TIMER_H_
#define CAIRN_ENGINE_LOG_WRITE_COMMIT_TIMER_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <pthread.h>
#include <queue>
#include <vector>

#include "engine/base/mutex.h"
#include "engine/base/owner_process.h"

namespace cairn::log {

// Calls functions at given times. Thread-safe. The destructor waits for a call under way and makes
// no other. A forked child has no such thread.
class TimerThread {
 public:
  using Clock = std::chrono::steady_clock;

  static std::shared_ptr<TimerThread> Make() {
    return {new TimerThread(), DeleteHere<TimerThread>()};
  }

  TimerThread();
  ~TimerThread();

  // Returns false if no thread could be started.
  bool runs() const { return thread_.has_value(); }
  // Calls `due` once, at this time or soon after.
  void CallAt(Clock::time_point time, std::function<void()> due);

 private:
  struct Entry {
    Clock::time_point time;
    std::function<void()> due;
    bool operator>(const Entry& other) const { return time > other.time; }
  };
  void Run();

  Mutex mutex_;
  CondVar changed_;
  bool stops_ ABSL_GUARDED_BY(mutex_) = false;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> entries_ ABSL_GUARDED_BY(mutex_);
  std::optional<pthread_t> thread_;  // last, because it uses all the others
};

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_WRITE_COMMIT_TIMER_H_
