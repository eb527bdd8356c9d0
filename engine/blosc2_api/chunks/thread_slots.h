// Numbers and scratch memory for the threads that run a program's filters.
#ifndef CAIRN_ENGINE_BLOSC2_API_CHUNKS_THREAD_SLOTS_H_
#define CAIRN_ENGINE_BLOSC2_API_CHUNKS_THREAD_SLOTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cairn/types.h"
#include "engine/base/mutex.h"
#include "engine/base/scratch_buffer.h"

namespace cairn::blosc2_api {

// Lends the lowest free number, and memory that goes with it. Thread-safe.
class ThreadSlots {
 public:
  // A number on loan, until the lease ends.
  class Lease {
   public:
    Lease(ThreadSlots& slots, size_t number) : slots_(slots), number_(number) {}
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() { slots_.Return(number_); }

    int32_t number() const { return static_cast<int32_t>(number_); }
    MutableBytes Memory(size_t size) const { return slots_.MemoryOf(number_)->Get(size); }

   private:
    ThreadSlots& slots_;
    size_t number_;
  };

  Lease Acquire() ABSL_LOCKS_EXCLUDED(mutex_) {
    const MutexLock lock(mutex_);
    const auto free = std::ranges::find(taken_, false);
    const auto number = static_cast<size_t>(free - taken_.begin());
    if (free == taken_.end()) {
      taken_.push_back(false);
      memory_.push_back(std::make_unique<ScratchBuffer>());
    }
    taken_[number] = true;
    return Lease(*this, number);
  }

 private:
  void Return(size_t number) ABSL_LOCKS_EXCLUDED(mutex_) {
    const MutexLock lock(mutex_);
    taken_[number] = false;
  }
  ScratchBuffer* MemoryOf(size_t number) ABSL_LOCKS_EXCLUDED(mutex_) {
    const MutexLock lock(mutex_);
    return memory_[number].get();
  }

  Mutex mutex_;
  std::vector<bool> taken_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<ScratchBuffer>> memory_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_CHUNKS_THREAD_SLOTS_H_
