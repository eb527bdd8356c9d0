#include "engine/frame/chunk_index.h"

namespace cairn::frame {

absl::StatusOr<IndexEntry> ChunkIndex::Get(int64_t nchunk) const {
  if (nchunk < base_size_) return base_->Get(nchunk);
  return added_[static_cast<size_t>(nchunk - base_size_)];
}

void ChunkIndex::RemoveLast() {
  if (added_.empty()) {
    --base_size_;
  } else {
    added_.pop_back();
  }
}

}  // namespace cairn::frame
