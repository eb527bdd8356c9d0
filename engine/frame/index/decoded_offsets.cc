#include "engine/frame/index/decoded_offsets.h"

#include "engine/base/status.h"

namespace cairn::frame {

void DecodedOffsets::Build(const ChunkSizes& sizes) const {
  built_ = true;
  stride_ = 1 + sizes.nchunks / kMostKept;
  for (int64_t i = 0; i < sizes.nchunks; ++i) {
    if (i % stride_ == 0) starts_.push_back(end_);
    const absl::StatusOr<int32_t> size = sizes.size_of(i);
    if (!size.ok()) {
      damage_ = size.status();
      return;
    }
    end_ += *size;
  }
  if (end_ == sizes.nbytes) return;
  // A chunk's header is wrong. If fingerprints tell which, everything before it is good.
  damage_ = DataLoss("frame: its chunks hold %d bytes, its header says %d", end_, sizes.nbytes);
  end_ = 0;
  for (int64_t i = 0; i < sizes.nchunks; ++i) {
    if (absl::Status status = sizes.check(i); !status.ok()) {
      damage_ = status;
      return;
    }
    const absl::StatusOr<int32_t> size = sizes.size_of(i);
    if (!size.ok()) return;
    end_ += *size;
  }
  end_ = 0;
}

absl::StatusOr<DecodedOffsets::Place> DecodedOffsets::Find(int64_t position,
                                                           const ChunkSizes& sizes) const {
  const MutexLock lock(mutex_);
  if (!built_) Build(sizes);
  if (position >= end_) {
    return damage_.ok() ? OutOfRange("byte %d of %d", position, end_) : damage_;
  }
  const auto start = std::ranges::upper_bound(starts_, position) - 1;
  Place place{.nchunk = (start - starts_.begin()) * stride_, .begin = *start};
  const int64_t last = std::min(place.nchunk + stride_, sizes.nchunks) - 1;
  while (place.nchunk < last) {
    CAIRN_ASSIGN_OR_RETURN(const int32_t size, sizes.size_of(place.nchunk));
    if (position < place.begin + size) break;
    place.begin += size;
    ++place.nchunk;
  }
  return place;
}

}  // namespace cairn::frame
