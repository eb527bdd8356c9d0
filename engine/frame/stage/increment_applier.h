// Applies an increment: a frame of what one content has and an earlier one has not.
#ifndef CAIRN_ENGINE_FRAME_STAGE_INCREMENT_APPLIER_H_
#define CAIRN_ENGINE_FRAME_STAGE_INCREMENT_APPLIER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/format/increment.h"
#include "engine/frame/stage/stager.h"

namespace cairn::frame {

// Made for one edit of a stager. Not thread-safe.
class IncrementApplier {
 public:
  explicit IncrementApplier(Stager& stager)
      : stager_(stager), edits_(stager.edits()), staged_(edits_.staged()) {}

  // Makes of the state that `increment` applies to the one that it leads to, both compared by
  // content. Does nothing where that state is already there. Any failure leaves edits half made.
  // Errors: kFailedPrecondition if the increment applies to another state.
  absl::Status Apply(const State& increment);

 private:
  absl::Status MakeResult(const State& view, const State& from, const format::Increment& increment);
  absl::Status AppendShort(const format::Increment& increment, Bytes items);
  absl::Status DropShortChunk();
  absl::StatusOr<format::IndexedChunk> TakeChunk(const State& from, int64_t nchunk);
  absl::StatusOr<format::IndexedChunk> SpecialChunk(int64_t entry, int64_t nchunk,
                                                    int64_t nbytes) const;
  absl::StatusOr<ChunkCost> CostOfBase(int64_t at, int64_t base, int64_t count);
  absl::Status ApplyRuns(const State& from, const std::vector<format::IncrementRun>& runs,
                         int64_t base_chunks, int64_t nbytes);

  Stager& stager_;
  StagedEdits& edits_;
  StagedState& staged_;
  // Chunks of variable blocks are complete, also a shorter one at the end.
  int64_t short_chunk_ = -1;  // its number among the chunks of the base, once these are in order
  int64_t missing_ = 0;       // bytes that it lacks
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STAGE_INCREMENT_APPLIER_H_
