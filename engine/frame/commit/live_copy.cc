#include "engine/frame/commit/live_copy.h"

#include "engine/base/status.h"
#include "engine/format/index_entry.h"
#include "engine/format/seal.h"
#include "engine/frame/read/stored_chunk.h"

namespace cairn::frame {

absl::StatusOr<StagedState> SealChunks(const State& view, const StagedState& staged,
                                       PlaceChunk place, ChunkProgress progress) {
  StagedState sealed = staged;
  sealed.chunks = ChunkIndex();
  sealed.stored_bytes = 0;
  ScratchBuffer scratch;
  ReadBudget budget(view);
  for (int64_t i = 0; i < view.chunks.size(); ++i) {
    CAIRN_ASSIGN_OR_RETURN(IndexEntry entry, view.chunks.Get(i));
    if (!format::IsSpecialEntry(entry.value)) {
      CAIRN_ASSIGN_OR_RETURN(const StoredChunk stored,
                             ReadStored(view, i, VerifyPolicy::kAlways, scratch));
      CAIRN_RETURN_IF_ERROR(budget.Spend(i, std::ssize(stored.bytes())));
      CAIRN_ASSIGN_OR_RETURN(entry.value, place(entry.value, stored.bytes()));
      if (entry.fingerprint == 0) entry.fingerprint = format::HashChunk(stored.bytes());
      *sealed.stored_bytes += std::ssize(stored.bytes());
    }
    sealed.chunks.Append(entry);
    if (!progress(i + 1)) return absl::CancelledError("copying the chunks was stopped");
  }
  return sealed;
}

}  // namespace cairn::frame
