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

// A commit as the journal holds it.
struct JournaledCommit {
  format::CommitRecord record;
  int64_t begin = 0;         // where the commit before ends: chunks of this one lie after
  int64_t record_begin = 0;  // where those end
  int64_t end = 0;
  uint64_t checksum = 0;  // as stored in the record
  std::optional<format::Receipt> receipt;
};

// Names of vlmetalayers.
using LayerNames = std::unordered_set<std::string>;

// The totals after a commit that only makes the partial chunk `partial`.
format::CommitTotals TotalsAfter(const State& before, const PartialChunk& partial);

// `commit` has its totals. Whether each edit fits the state that it meets, the chunks lie between
// the commit before and this one's record or in the space before the index, and the totals are
// those of the result. kResourceExhausted when nothing is wrong but that they pass a limit.
// `partial` is the partial chunk after the commit. `names` are those of the state before, once a
// commit needed them, and after the call those of the state after.
absl::Status CheckCommit(const State& before, const JournaledCommit& commit,
                         const PartialChunk& partial, std::optional<LayerNames>& names);

// Whether every stored chunk of the commit has its fingerprint, by bytes that `reader` saw or else
// by those in the file. Remembers the chunks that do as verified. The commit must have passed
// CheckCommit, which bounds what is read.
absl::StatusOr<bool> ChunksMatchFingerprints(const State& before, const JournaledCommit& commit,
                                             const FrameFile& source, const JournalReader& reader);
// The same where each chunk has a file.
absl::StatusOr<bool> FilesMatchFingerprints(const State& before, const JournaledCommit& commit);

// The record as the commit that comes next after `end`, if it is.
std::optional<JournaledCommit> AsNext(const FoundRecord& record, const JournalPosition& end,
                                      const ReplayChecks& rules);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_REPLAY_COMMIT_CHECK_H_
