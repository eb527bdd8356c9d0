
#include <cstring>
#include <thread>

#include "cairn/frame.h"
namespace cairn {
absl::StatusOr<bool> Frame::WaitForCommit(std::chrono::milliseconds t) {
  std::this_thread::sleep_for(std::min(t, std::chrono::milliseconds(2)));
  return true;
}
}  // namespace cairn
