// Deletes records of a log: finds them, and overwrites them in a frame.
#ifndef CAIRN_ENGINE_LOG_WRITE_DELETION_H_
#define CAIRN_ENGINE_LOG_WRITE_DELETION_H_

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/log.h"
#include "cairn/options.h"
#include "cairn/writer.h"
#include "engine/log/state/log_core.h"
#include "engine/log/state/segment.h"

namespace cairn::log {

// Checks that a log of such records can have this selection. Errors: as for LogSnapshot::Query.
absl::Status CheckSelection(const LogState& state, const LogSelection& which);
// Returns the records that are selected, as a set; see record_ranges.h.
absl::StatusOr<std::vector<RecordRange>> FindSelected(const LogStatePtr& state,
                                                      const LogSelection& which);

// The parts of a log's writer that a deletion uses.
struct DeletingWriter {
  const LogCore& log;
  int64_t file = 0;  // number of the newest file
  Writer& writer;    // of that file
  LogStatePtr& state;
  // Commits what is staged in the newest file, and puts the result into `state`.
  std::function<absl::Status(Durability)> commit;
};
// Deletes records that are committed, and returns how many; see LogWriter::Delete.
absl::StatusOr<int64_t> DeleteSelected(const DeletingWriter& log, const LogSelection& which);

// Deletes records that are committed, also those of older files, in one commit with what `stage`
// stages in the newest file. That commit has this durability at least. A failure of staging leaves
// nothing staged.
absl::Status ReplaceRecords(const DeletingWriter& log, std::span<const RecordRange> records,
                            const std::function<absl::Status()>& stage, Durability durability);

// Deletes the records that a salvaged frame has lost, so that its chunks have bytes again.
absl::Status DeleteLost(const DeletingWriter& log);

// Ends what a writer that died had begun to delete in older files. Overwrites the records there
// that only the newest file calls deleted, unless a file is damaged or another program holds it:
// then the next call tries it again. Also forgets deleted records that the newest file no longer
// has, because another program has cut it.
absl::Status FinishDeletions(const DeletingWriter& log);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_WRITE_DELETION_H_
