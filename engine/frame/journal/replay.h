// Follows the journal behind a checkpoint. Readers and writers do it in the same way.
#ifndef CAIRN_ENGINE_FRAME_JOURNAL_REPLAY_H_
#define CAIRN_ENGINE_FRAME_JOURNAL_REPLAY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/format/journal.h"
#include "engine/frame/files/frame_file.h"
#include "engine/frame/journal/journal_reader.h"
#include "engine/frame/journal/journaled_commit.h"
#include "engine/frame/journal/stranded_commits.h"
#include "engine/frame/state/state.h"
#include "engine/frame/state/vlmetalayers.h"

namespace cairn::frame {

// The journal goes on with a batch whose record ends at `end`.
struct BatchStep {
  const format::CommitLinks& links;
  uint64_t hash = 0;
  int64_t end = 0;
  std::optional<format::Receipt> receipt;
  int64_t chunk_edits = 0;
  int64_t layer_edits = 0;
};
void Advance(const BatchStep& step, JournalPosition& end);
// One more receipt of the last batch ends at `end`.
void Extend(const format::Receipt& receipt, int64_t end, JournalPosition& journal);

// Takes states from batch to batch.
class Replay {
 public:
  // Goes on from `state`, which has a journal.
  explicit Replay(const State& state) : state_(std::make_shared<State>(state)) {}

  // Every edit of the batch; the index of the checkpoint must be readable where they need it. The
  // new tail is the caller's to make: see TailAfter.
  absl::Status Apply(const JournaledCommit& following, PartialChunk tail);
  void Extend(const format::Receipt& receipt, int64_t end) {
    frame::Extend(receipt, end, *state_->journal);
  }
  // Its metadata is as it was at first.
  const State& state() const { return *state_; }
  absl::StatusOr<std::shared_ptr<const State>> Finish(const FrameFile& source) &&;

 private:
  absl::Status ApplyChunks(const std::vector<format::ChunkEdit>& edits);
  void ApplyLayers(const std::vector<format::LayerEdit>& edits);

  std::shared_ptr<State> state_;
  std::shared_ptr<Metadata> metadata_;      // of the state, from the first edit of a layer on
  std::optional<VlMetalayerTable> layers_;  // and with it its vlmetalayers
};

// The tail that a batch makes of the one before.
PartialChunk TailAfter(const PartialChunk& before, const format::TailEdit& edit);

// How to look for more where the journal does not go on.
enum class JournalSearch {
  kNone,  // a reader follows a writer: what is not there yet will come
  kNear,  // a writer is at work: unless there are only the zeros that it reserved
  kAll,   // nobody writes: all that follows the last commit
};

struct FollowOptions {
  uint64_t last_generation = UINT64_MAX;  // goes no further
  JournalSearch search = JournalSearch::kNone;
  // Called with the state after each commit; its metadata may be that of one before.
  std::function<void(const State&)> visit = {};
};

struct ReplayResult {
  std::shared_ptr<const State> state;  // null: no batch follows
  bool moved = false;                  // another file takes the frame's name, or has taken it
  std::optional<JournalDamage> damage;
  Extent skipped;  // bytes that are neither chunk nor record, but before commits that follow
};

// The state with the batches that follow it, as many as are whole. A batch that a power cut may
// have left without its chunks counts only if all of them are what it says. `finder` starts where
// the state's journal ends, or behind chunks that it hopped before.
absl::StatusOr<ReplayResult> ReplayJournal(const FrameFile& source, const State& state,
                                           JournalReader& finder,
                                           const FollowOptions& options = {});

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_JOURNAL_REPLAY_H_
