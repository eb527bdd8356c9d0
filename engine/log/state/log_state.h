// A state of a log: its frames, the oldest first.
#ifndef CAIRN_ENGINE_LOG_STATE_LOG_STATE_H_
#define CAIRN_ENGINE_LOG_STATE_LOG_STATE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/log.h"
#include "engine/log/state/segment.h"

namespace cairn::log {

// A state of a log. Thread-safe.
class LogState {
 public:
  // Makes a state of at least one segment. All have one schema, and the records of each follow
  // those of the one before. Records that only the newest segment calls deleted are deleted.
  explicit LogState(std::vector<SegmentPtr> segments);

  const std::vector<SegmentPtr>& segments() const { return segments_; }
  const Segment& newest() const { return *segments_.back(); }
  const Schema& schema() const { return newest().schema(); }
  int64_t first_record() const { return segments_.front()->first_record(); }
  int64_t end_record() const { return newest().end_record(); }

  int64_t CountDeleted() const;
  std::vector<RecordRange> Deleted() const;
  LogChanges ChangesSince(const LogState& seen) const;
  absl::StatusOr<std::optional<TimeRange>> Times() const;
  absl::StatusOr<std::optional<int64_t>> GreatestTime() const;
  absl::StatusOr<int64_t> FindTime(int64_t time) const;
  absl::StatusOr<TimeRange> Last(int64_t span) const;
  absl::StatusOr<int64_t> CountFuture() const;
  absl::Status ReadRecords(int64_t record, MutableItems dst) const;
  absl::Status ReadColumn(std::string_view field, int64_t record, MutableItems dst) const;
  absl::StatusOr<std::vector<std::string>> VerifyStatistics() const;

  // Returns the number of the first record that has a value of this field, by index in the schema.
  // All later records have one, and no record before it.
  int64_t FirstWithValue(size_t field) const;
  // Returns the texts of a field of type kText, by index in the schema, or null for any other.
  KeyTextsPtr TextsOf(size_t field) const;
  // Returns the indexes of these fields in the schema, or of all if no name is given. Errors:
  // kNotFound for an unknown name.
  absl::StatusOr<std::vector<size_t>> FindFields(std::span<const std::string> names) const;
  // Returns the time field. Errors: kFailedPrecondition if records have no time.
  absl::StatusOr<const Field*> NeedTime() const;

 private:
  // The newest time, and the end of the times that are not from the future.
  struct Reached {
    int64_t newest = 0;
    int64_t end = 0;
  };
  absl::StatusOr<Reached> FindReached() const;
  // Calls read(segment, record, bytes) for the part that each segment has of the records that fill
  // dst.
  template <typename Read>
  absl::Status ForEachPart(int64_t record, size_t size, MutableBytes dst, const Read& read) const;

  std::vector<SegmentPtr> segments_;
};

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_STATE_LOG_STATE_H_
