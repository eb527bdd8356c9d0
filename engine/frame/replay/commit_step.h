// Applies a commit to the state before it. Writers and replay both use this.
#ifndef CAIRN_ENGINE_FRAME_REPLAY_COMMIT_STEP_H_
#define CAIRN_ENGINE_FRAME_REPLAY_COMMIT_STEP_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"

#include "engine/format/journal.h"
#include "engine/frame/index/chunk_index.h"
#include "engine/frame/replay/commit_check.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// A commit whose record ends at `end`, with its receipt if it has one.
struct CommitStep {
  const format::CommitLinks& links;
  uint64_t checksum = 0;
  int64_t end = 0;
  std::optional<format::Receipt> receipt;
  int64_t chunk_edits = 0;
  int64_t layer_edits = 0;
  int64_t reused = 0;  // bytes of its chunks that lie before the index, or in files
};
// Returns the step, which refers to the links of the commit.
CommitStep StepOf(const JournaledCommit& commit);
void Advance(const CommitStep& step, JournalPosition& end);
// Notes another receipt of the last commit, which ends at `end`.
void Extend(const format::Receipt& receipt, int64_t end, JournalPosition& journal);

// Returns the partial chunk that a commit makes of that of the state before.
PartialChunk PartialAfter(const PartialChunk& before, const format::CommitRecord& commit);

// Applies an edit. Errors: kDataLoss if the edit needs a page of the committed index that cannot be
// read.
absl::Status ApplyEdit(const format::ChunkEdit& edit, ChunkIndex& chunks);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_REPLAY_COMMIT_STEP_H_
