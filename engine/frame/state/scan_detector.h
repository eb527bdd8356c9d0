// Recognises readers that go from chunk to chunk.
#ifndef CAIRN_ENGINE_FRAME_STATE_SCAN_DETECTOR_H_
#define CAIRN_ENGINE_FRAME_STATE_SCAN_DETECTOR_H_

#include <algorithm>
#include <cstdint>

#include "absl/functional/function_ref.h"

#include "engine/base/mutex.h"

namespace cairn::frame {

// Once a few chunks were read in order, the following ones are announced, each time twice as many.
// Thread-safe.
class ScanDetector {
 public:
  // Call this when a caller reads chunks [first, end). The next read may begin in the last of them.
  // `announce` gets the first chunk to announce and the number of them, and returns how many it
  // announced.
  void Reach(int64_t first, int64_t end,
             absl::FunctionRef<int64_t(int64_t first, int64_t count)> announce) {
    const MutexLock lock(mutex_);
    const bool goes_on = first == end_ || first == end_ - 1;
    if (goes_on && end == end_) return;
    in_order_ = goes_on ? in_order_ + end - end_ : 0;
    end_ = end;
    if (in_order_ == 0) {
      trigger_ = announced_end_ = end;
      count_ = kFew;
    }
    if (in_order_ < kFew || end <= trigger_) return;
    trigger_ = std::max(announced_end_, end);
    count_ = std::max(count_, end - first);
    announced_end_ = trigger_ + announce(trigger_, count_);
    count_ = std::min(2 * count_, kMost);
  }

 private:
  static constexpr int64_t kFew = 2;
  static constexpr int64_t kMost = 4096;

  Mutex mutex_;
  int64_t end_ ABSL_GUARDED_BY(mutex_) = -1;  // end of the last read
  int64_t in_order_ ABSL_GUARDED_BY(mutex_) = 0;
  // The first of the chunks that were announced last.
  int64_t trigger_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t announced_end_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t count_ ABSL_GUARDED_BY(mutex_) = kFew;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STATE_SCAN_DETECTOR_H_
