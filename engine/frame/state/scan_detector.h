// Recognises readers that go from chunk to chunk.
#ifndef CAIRN_ENGINE_FRAME_STATE_SCAN_DETECTOR_H_
#define CAIRN_ENGINE_FRAME_STATE_SCAN_DETECTOR_H_

#include <algorithm>
#include <cstdint>
#include <mutex>

#include "absl/functional/function_ref.h"

namespace cairn::frame {

// Once a few chunks were read in order, those that follow are worth announcing, each time twice as
// many. Thread-safe.
class ScanDetector {
 public:
  // To be called when a chunk is read. `announce` gets the first chunk to announce and how many,
  // and returns how many it has announced.
  void Reach(int64_t nchunk, absl::FunctionRef<int64_t(int64_t first, int64_t count)> announce) {
    const std::lock_guard lock(mutex_);
    if (nchunk == last_) return;
    in_order_ = nchunk == last_ + 1 ? in_order_ + 1 : 0;
    last_ = nchunk;
    if (in_order_ == 0) {
      trigger_ = announced_end_ = nchunk + 1;
      count_ = kFew;
    }
    if (in_order_ < kFew || nchunk < trigger_) return;
    trigger_ = std::max(announced_end_, nchunk + 1);
    announced_end_ = trigger_ + announce(trigger_, count_);
    count_ = std::min(2 * count_, kMost);
  }

 private:
  static constexpr int64_t kFew = 2;
  static constexpr int64_t kMost = 4096;

  std::mutex mutex_;
  int64_t last_ = -2;
  int64_t in_order_ = 0;
  int64_t trigger_ = 0;  // the first chunk of those that were announced last
  int64_t announced_end_ = 0;
  int64_t count_ = kFew;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STATE_SCAN_DETECTOR_H_
