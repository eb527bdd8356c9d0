// Deletes records of a log: finds them, and overwrites them in a frame.
#ifndef CAIRN_ENGINE_LOG_WRITE_DELETION_H_
#define CAIRN_ENGINE_LOG_WRITE_DELETION_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/log.h"
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
  // Commits what is staged in the newest file, durably, and puts the result into `state`.
  std::function<absl::Status()> commit;
};
// Deletes records that are committed, and returns how many; see LogWriter::Delete.
absl::StatusOr<int64_t> DeleteSelected(const DeletingWriter& log, const LogSelection& which);

// Stages the end of what a writer that died had begun to delete in older files. Also forgets
// deleted records that the frame no longer has, because another program has cut it. Returns false
// if there is nothing to do.
absl::StatusOr<bool> StageMend(const Segment& newest, Writer& writer);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_WRITE_DELETION_H_
