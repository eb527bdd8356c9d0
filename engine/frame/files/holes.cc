#include "engine/frame/files/holes.h"

#include <algorithm>

namespace cairn::frame {

absl::Status PunchPages(const Extent& bytes, File& file) {
  const int64_t begin = (bytes.begin + kPageSize - 1) / kPageSize * kPageSize;
  const int64_t end = bytes.end / kPageSize * kPageSize;
  if (begin >= end) return absl::OkStatus();
  const absl::Status status = file.PunchHole(begin, end - begin);
  return absl::IsResourceExhausted(status) ? absl::OkStatus() : status;
}

bool MayHaveHoles(const File& file, int64_t reserved) {
  const absl::StatusOr<int64_t> size = file.Size();
  const absl::StatusOr<int64_t> allocated = file.AllocatedSize();
  return !size.ok() || !allocated.ok() || *allocated < std::max(*size, reserved);
}

}  // namespace cairn::frame
