
#include <cstring>
#include <thread>

#include "cairn/frame.h"
namespace cairn {
absl::Status Snapshot::ReadFields(int64_t start, int64_t n, std::span<const FieldSpan> f) const {
  std::vector<std::byte> all(size_t(n) * size_t(info().typesize));
  absl::Status s = ReadItems(start, all);
  if (!s.ok()) return s;
  for (int64_t i = 0; i < n; ++i)
    for (auto& x : f)
      std::memcpy(x.dst.data() + i * x.size, all.data() + i * info().typesize + x.offset,
                  size_t(x.size));
  return s;
}
absl::StatusOr<bool> Frame::WaitForCommit(std::chrono::milliseconds t) {
  std::this_thread::sleep_for(std::min(t, std::chrono::milliseconds(2)));
  return true;
}
}  // namespace cairn
