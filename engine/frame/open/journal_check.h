// Reads the journal of a state again, with the commits that a summary spared its reader.
#ifndef CAIRN_ENGINE_FRAME_OPEN_JOURNAL_CHECK_H_
#define CAIRN_ENGINE_FRAME_OPEN_JOURNAL_CHECK_H_

#include "absl/status/statusor.h"

#include "engine/frame/read/verifier.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// If there are summaries, replays every commit from the checkpoint up to the state, as a writer
// that opens does, and compares the result with the summaries. Otherwise the state's reader did
// that already.
absl::StatusOr<JournalCheck> CheckJournal(const State& state);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_OPEN_JOURNAL_CHECK_H_
