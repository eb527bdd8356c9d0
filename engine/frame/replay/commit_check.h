// Checks a journaled commit against the state that it follows.
#ifndef CAIRN_ENGINE_FRAME_REPLAY_COMMIT_CHECK_H_
#define CAIRN_ENGINE_FRAME_REPLAY_COMMIT_CHECK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/format/journal.h"
#include "engine/frame/files/frame_file.h"
#include "engine/frame/replay/journal_reader.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// A commit in the form that the journal holds.
struct JournaledCommit {
  format::CommitRecord record;
  int64_t begin = 0;         // end of the commit before; chunks of this one lie after it
  int64_t record_begin = 0;  // end of the chunks
  int64_t end = 0;
  uint64_t checksum = 0;  // as stored in the record
  std::optional<format::Receipt> receipt;
};

// Names of vlmetalayers.
using LayerNames = std::unordered_set<std::string>;

// Returns the totals after a commit that only makes the partial chunk `partial`.
format::CommitTotals TotalsAfter(const State& before, const PartialChunk& partial);

// Checks that each edit fits the state that it meets, that the chunks lie between the commit before
// and this one's record or in the space before the index, and that the totals are those of the
// result. `commit` has its totals. `partial` is the partial chunk after the commit. `names` are
// those of the state before, once a commit needed them, and after the call those of the state
// after.
//
// Errors: kDataLoss if a check fails; kResourceExhausted if the only problem is that the totals
// pass a limit.
absl::Status CheckCommit(const State& before, const JournaledCommit& commit,
                         const PartialChunk& partial, std::optional<LayerNames>& names);

// Returns true if every stored chunk of the commit has its fingerprint, in bytes that `reader` saw
// or else in those of the file. Remembers matching chunks as verified. The commit must have passed
// CheckCommit, which bounds the bytes to read.
absl::StatusOr<bool> ChunksMatchFingerprints(const State& before, const JournaledCommit& commit,
                                             const FrameFile& source, const JournalReader& reader);
// Checks the fingerprints of a commit whose chunks have files of their own.
absl::StatusOr<bool> FilesMatchFingerprints(const State& before, const JournaledCommit& commit);

// Returns the record as a commit if it is the one that comes next after `end`.
std::optional<JournaledCommit> AsNext(const FoundRecord& record, const JournalPosition& end,
                                      const ReplayChecks& rules);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_REPLAY_COMMIT_CHECK_H_
