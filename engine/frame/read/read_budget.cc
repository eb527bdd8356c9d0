#include "engine/frame/read/read_budget.h"

#include "engine/base/status.h"
#include "engine/frame/read/stored_chunk.h"

namespace cairn::frame {

namespace {

constexpr int64_t kMaxOverlaps = 4;

}  // namespace

ReadBudget::ReadBudget(const State& state)
    : state_(state), available_(state.header().layout == Layout::kSparse ? 0 : state.chunks_end) {}

absl::Status ReadBudget::Spend(int64_t nchunk, int64_t stored) {
  if (stored == 0) return absl::OkStatus();
  spent_ += stored;
  if (state_.header().layout == Layout::kSparse) {
    CAIRN_ASSIGN_OR_RETURN(const ChunkRef chunk, FindChunk(state_, nchunk));
    if (files_.insert(chunk.found.entry.value).second) available_ += stored;
  }
  if (spent_ / kMaxOverlaps <= available_) return absl::OkStatus();
  return DataLoss("index: chunks overlap: they take over %d times the %d bytes that they lie in",
                  kMaxOverlaps, available_);
}

}  // namespace cairn::frame
