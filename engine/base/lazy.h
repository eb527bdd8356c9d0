// A value that is computed when it is first asked for.
#ifndef CAIRN_ENGINE_BASE_LAZY_H_
#define CAIRN_ENGINE_BASE_LAZY_H_

#include <atomic>

#include "engine/base/mutex.h"

namespace cairn {

// Thread-safe. A copy starts without a value and computes its own.
//
// Use this instead of std::call_once, which makes a call of the system for each value, and instead
// of absl::call_once: a thread that loses its race waits inside Abseil's library, where
// ThreadSanitizer does not see that the value was written before.
template <typename T>
class Lazy {
 public:
  Lazy() = default;
  Lazy(const Lazy&) : Lazy() {}
  Lazy& operator=(const Lazy&) = delete;

  // Returns the value. The first call makes it. Calls at the same time wait for the first.
  template <typename Make>
  T& Get(Make make) {
    if (is_made_.load(std::memory_order_acquire)) return value_;
    const MutexLock lock(mutex_);
    if (!is_made_.load(std::memory_order_relaxed)) {
      value_ = make();
      is_made_.store(true, std::memory_order_release);
    }
    return value_;
  }

 private:
  std::atomic<bool> is_made_ = false;
  Mutex mutex_;
  T value_ = {};  // written with the mutex held; read without it once it is made
};

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_LAZY_H_
