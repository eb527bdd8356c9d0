// RecordAges: the time from which the ages of a log's records count, for retention and rotation.
#ifndef CAIRN_ENGINE_LOG_WRITE_RECORD_AGES_H_
#define CAIRN_ENGINE_LOG_WRITE_RECORD_AGES_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "engine/log/state/log_layer.h"
#include "engine/log/state/log_state.h"
#include "engine/log/state/newest_time.h"
#include "engine/log/write/retention.h"

namespace cairn::log {

// Keeps the newest times of a log for its writer, so that no commit goes through all chunks. They
// are found when a limit first needs them. All records that are passed are whole and in the order
// of time. Not thread-safe.
class RecordAges {
 public:
  // Forgets the times. A new file begins, or another writer may have written.
  void Forget() { newest_.reset(); }
  // Begins a commit. Reads the clock of this machine if a limit of the log needs it.
  void BeginCommit(const LogState& state, const LogLayer& layer);
  // Notes records that were committed to `state`.
  void Note(const LogState& state, Bytes records);

  // Returns what retention looks at if these records are committed next.
  absl::StatusOr<RetentionView> View(const LogState& state, const LogLayer& layer, Bytes arriving);
  // Returns how many bytes of the records lie before the end of the period that the newest file
  // holds.
  absl::StatusOr<size_t> BytesInPeriod(const LogState& state, int64_t period, Bytes records);

 private:
  // The newest time of all records, and of those of the newest file.
  struct NewestTimes {
    NewestTime all;
    NewestTime file;
  };

  absl::Status Find(const LogState& state);
  void Add(const LogState& state, Bytes records, NewestTime& newest) const;

  int64_t clock_ = 0;  // when the commit began, as a count of the time field
  std::optional<NewestTimes> newest_;
  KnownNewest known_;
};

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_WRITE_RECORD_AGES_H_
