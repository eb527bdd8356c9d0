// A bound on the bytes that a scan of a file reads.
#ifndef CAIRN_ENGINE_BASE_SCAN_BUDGET_H_
#define CAIRN_ENGINE_BASE_SCAN_BUDGET_H_

#include <cstdint>

#include "engine/base/checked.h"

namespace cairn {

// Bounds a scan. The structures that a scan looks for do not overlap, so all candidates together
// are no longer than the file. Only a file that was made to waste time needs much more. Not
// thread-safe.
class ScanBudget {
 public:
  ScanBudget(int64_t file_size, int64_t times)
      : left_(CheckedMul(file_size, times).value_or(INT64_MAX)) {}
  // Returns false if `bytes` is more than what is left.
  bool Spend(int64_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }

 private:
  int64_t left_;
};

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_SCAN_BUDGET_H_
