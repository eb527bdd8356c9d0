#include "engine/frame/chunk_starts.h"

#include <algorithm>

#include "engine/base/status.h"

namespace cairn::frame {

void ChunkStarts::Build(const ChunkSizes& sizes) const {
  built_ = true;
  starts_ = {0};
  for (int64_t i = 0; i < sizes.nchunks(); ++i) {
    const absl::StatusOr<int32_t> size = sizes.SizeOf(i);
    if (!size.ok()) {
      damage_ = size.status();
      return;
    }
    starts_.push_back(starts_.back() + *size);
  }
  if (starts_.back() == sizes.nbytes()) return;
  // Some header lies. Where fingerprints tell which, everything before it is good.
  damage_ = DataLoss("frame: its chunks hold %d bytes, its header says %d", starts_.back(),
                     sizes.nbytes());
  size_t good = 0;
  for (int64_t i = 0; i < sizes.nchunks(); ++i) {
    if (absl::Status status = sizes.Check(i); !status.ok()) {
      damage_ = status;
      good = static_cast<size_t>(i);
      break;
    }
  }
  starts_.resize(good + 1);
}

absl::StatusOr<ChunkStarts::Place> ChunkStarts::Find(int64_t position,
                                                     const ChunkSizes& sizes) const {
  const std::lock_guard lock(mutex_);
  if (!built_) Build(sizes);
  const auto after = std::ranges::upper_bound(starts_, position);
  if (after != starts_.end()) {
    return Place{.nchunk = after - starts_.begin() - 1, .begin = *(after - 1)};
  }
  if (!damage_.ok()) return damage_;
  return OutOfRange("byte %d of %d", position, starts_.back());
}

}  // namespace cairn::frame
