#include "engine/log/write/record_ages.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "engine/base/status.h"
#include "engine/log/stats/buckets.h"
#include "engine/log/stats/values.h"
#include "engine/log/write/record_buffer.h"

namespace cairn::log {

void RecordAges::BeginCommit(const LogState& state, const LogLayer& layer) {
  const Field* const time = state.newest().time_field();
  const bool counts = layer.retention.max_age > 0 || layer.rotation.period > 0;
  if (time != nullptr && (counts || newest_.has_value())) clock_ = ClockOf(*time);
}

void RecordAges::Note(const LogState& state, Bytes records) {
  if (!newest_.has_value() || state.newest().time_field() == nullptr) return;
  Add(state, records, newest_->file);
  Add(state, records, newest_->all);
}

absl::StatusOr<RetentionView> RecordAges::View(const LogState& state, const LogLayer& layer,
                                               Bytes arriving) {
  RetentionView view = {
      .arriving = static_cast<int64_t>(arriving.size()) / state.schema().record_size(),
      .newest_time = kNoTime,
      .clock = clock_,
      .known = &known_};
  if (layer.retention.max_age <= 0 || state.newest().time_field() == nullptr) return view;
  CAIRN_RETURN_IF_ERROR(Find(state));
  NewestTime newest = newest_->all;
  Add(state, arriving, newest);
  view.newest_time = std::min(newest.At(clock_), clock_);
  return view;
}

absl::StatusOr<size_t> RecordAges::BytesInPeriod(const LogState& state, int64_t period,
                                                 Bytes records) {
  const Segment& newest = state.newest();
  if (period <= 0 || newest.time_field() == nullptr || records.empty()) return records.size();
  const auto size = static_cast<size_t>(state.schema().record_size());
  const std::vector<int64_t> times = TimesOfRecords(*newest.time_field(), size, records);
  CAIRN_RETURN_IF_ERROR(Find(state));
  NewestTime& file = newest_->file;
  // A file may have nothing but deleted records.
  const bool has_time = newest.nrecords() > 0 && file.greatest != kNoTime;
  const int64_t current = BucketOf(has_time ? file.At(clock_) : times.front(), period, 0);
  // If there are records that the clock has reached, one from the future counts as of now.
  const int64_t most = file.has_past() ? clock_ : std::numeric_limits<int64_t>::max();
  const auto later = std::ranges::find_if(
      times, [&](int64_t time) { return BucketOf(std::min(time, most), period, 0) > current; });
  return static_cast<size_t>(later - times.begin()) * size;
}

absl::Status RecordAges::Find(const LogState& state) {
  if (newest_.has_value()) return absl::OkStatus();
  NewestTimes found;
  for (const SegmentPtr& segment : state.segments()) {
    CAIRN_ASSIGN_OR_RETURN(found.file, FindNewestTime(*segment, clock_));
    found.all.Add(found.file);
  }
  newest_ = found;
  return absl::OkStatus();
}

void RecordAges::Add(const LogState& state, Bytes records, NewestTime& newest) const {
  const Field& time = *state.newest().time_field();
  const auto size = static_cast<size_t>(state.schema().record_size());
  if (records.empty()) return;
  const std::vector<int64_t> last = TimesOfRecords(time, size, records.last(size));
  if (last.front() <= clock_) {
    newest.Add(last.front(), clock_);
  } else {
    newest.AddSorted(TimesOfRecords(time, size, records), clock_);
  }
}

}  // namespace cairn::log
