// Replays the journal after a checkpoint. Readers and writers use the same code.
#ifndef CAIRN_ENGINE_FRAME_REPLAY_REPLAY_H_
#define CAIRN_ENGINE_FRAME_REPLAY_REPLAY_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"

#include "engine/base/extent.h"
#include "engine/format/journal.h"
#include "engine/frame/files/frame_file.h"
#include "engine/frame/replay/commit_step.h"
#include "engine/frame/replay/journal_reader.h"
#include "engine/frame/replay/summary.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// Tells where to search for records after the position where replay stops.
enum class JournalSearch {
  kNone,  // nowhere, because a reader follows a writer, and missing records will come
  kNear,  // unless there are only zeros that the writer has reserved
  kAll,   // everywhere after the last commit, because there is no writer
};

// The effect of a journal's commits on the space of a frame.
struct JournalFootprint {
  struct Placed {
    // A chunk that a commit brought. In a sparse frame its bytes begin at the number of its file.
    Extent bytes;
    int64_t record_end = 0;  // end of the record of that commit
  };
  std::vector<Placed> placed;
  std::vector<Extent> removed;  // chunks that a commit removed, if their sizes are known
  // The anchor names a summary of commits that the journal does not hold.
  bool summary_is_void = false;
  int64_t summed_up = 0;  // edits of the journal that the newest summary covers
};

struct ReplayOptions {
  uint64_t last_generation = UINT64_MAX;  // stops after this generation
  JournalSearch search = JournalSearch::kNone;
  bool durable_only = false;  // stops before a commit that a power cut could take back
  // Called with the state after each commit. Its metadata may be that of an earlier commit.
  std::function<void(const State&)> visit = {};
  JournalFootprint* footprint = nullptr;  // replay adds to it
  // A summary of the checkpoint from which replay starts. Without a footprint, its commits are
  // skipped. With one, the state continues from the summary's index.
  const LoadedSummary* summary = nullptr;
};

struct ReplayResult {
  StatePtr state;      // null if no commit follows
  bool moved = false;  // another file takes the frame's name, or has taken it
  std::optional<JournalDamage> damage;
  std::vector<uint64_t> other_bases;  // see StrandedCommits
  Extent skipped;  // bytes that are neither chunk nor record, but lie before commits that follow
};

// Returns the state with the commits that follow it, as many as are intact. A commit that a power
// cut may have left without its chunks counts only if all of them have their fingerprints. `reader`
// starts where the state's journal ends, or after chunks that it skipped before.
absl::StatusOr<ReplayResult> ReplayJournal(const FrameFile& source, const State& state,
                                           JournalReader& reader,
                                           const ReplayOptions& options = {});

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_REPLAY_REPLAY_H_
