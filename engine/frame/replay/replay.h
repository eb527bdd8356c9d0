// Replays the journal after a checkpoint. Readers and writers do it in the same way.
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

// Where to search for records after the position where replay stops.
enum class JournalSearch {
  kNone,  // nowhere: a reader follows a writer, and what is not there yet will come
  kNear,  // unless there are only the zeros that the writer at work reserved
  kAll,   // there is no writer: everywhere after the last commit
};

// What the commits of a journal did to the space of a frame.
struct JournalFootprint {
  struct Placed {
    // Of a chunk that a commit brought. In a sparse frame they begin at the number of its file.
    Extent bytes;
    int64_t record_end = 0;  // of that commit
  };
  std::vector<Placed> placed;
  std::vector<Extent> removed;  // chunks that a commit removed, as far as their sizes are known
  // The anchor names a summary of commits that the journal does not hold.
  bool summary_is_void = false;
  int64_t summed_up = 0;  // edits of the journal that the newest summary covers
};

struct ReplayOptions {
  uint64_t last_generation = UINT64_MAX;  // goes no further
  JournalSearch search = JournalSearch::kNone;
  bool durable_only = false;  // and not to a commit that a power cut could take back
  // Called with the state after each commit; its metadata may be that of one before.
  std::function<void(const State&)> visit = {};
  JournalFootprint* footprint = nullptr;  // is added to
  // Where there is no footprint to be had, what it sums up is skipped; else the state goes on from
  // its index. Of the checkpoint that is replayed from.
  const LoadedSummary* summary = nullptr;
};

struct ReplayResult {
  StatePtr state;      // null: no commit follows
  bool moved = false;  // another file takes the frame's name, or has taken it
  std::optional<JournalDamage> damage;
  std::vector<uint64_t> other_bases;  // as StrandedCommits tells
  Extent skipped;  // bytes that are neither chunk nor record, but before commits that follow
};

// The state with the commits that follow it, as many as are intact. A commit that a power cut may
// have left without its chunks counts only if all of them are what it says. `reader` starts where
// the state's journal ends, or after chunks that it skipped before.
absl::StatusOr<ReplayResult> ReplayJournal(const FrameFile& source, const State& state,
                                           JournalReader& reader,
                                           const ReplayOptions& options = {});

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_REPLAY_REPLAY_H_
