#include "engine/frame/chunk_starts.h"

#include "engine/base/status.h"

namespace cairn::frame {

absl::StatusOr<const std::vector<int64_t>*> ChunkStarts::Get(
    int64_t nchunks, absl::FunctionRef<absl::StatusOr<int32_t>(int64_t)> size_of) const {
  const std::lock_guard lock(mutex_);
  if (starts_.empty()) {
    std::vector<int64_t> starts = {0};
    for (int64_t i = 0; i < nchunks; ++i) {
      CAIRN_ASSIGN_OR_RETURN(const int32_t size, size_of(i));
      starts.push_back(starts.back() + size);
    }
    starts_ = std::move(starts);
  }
  return &starts_;
}

}  // namespace cairn::frame
