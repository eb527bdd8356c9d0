#include "engine/log/state/log_state.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_format.h"

#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/log/records/record_ranges.h"
#include "engine/log/state/blank_records.h"
#include "engine/log/state/live_records.h"
#include "engine/log/state/newest_time.h"
#include "engine/log/state/time_search.h"
#include "engine/log/stats/buckets.h"
#include "engine/log/stats/chunk_stats.h"
#include "engine/log/stats/stats_table.h"
#include "engine/log/stats/values.h"

namespace cairn::log {

namespace {

constexpr int64_t kMaxTime = std::numeric_limits<int64_t>::max();

}  // namespace

LogState::LogState(std::vector<SegmentPtr> segments) : segments_(std::move(segments)) {
  const std::vector<RecordRange>& deleted = newest().edits().deleted;
  if (deleted.empty() || deleted.front().begin >= newest().first_record()) return;
  for (size_t i = 0; i + 1 < segments_.size(); ++i) {
    const std::vector<RecordRange> here = PartIn(deleted, NumbersOf(*segments_[i]));
    if (Difference(here, segments_[i]->edits().deleted).empty()) continue;
    segments_[i] = Segment::WithDeleted(*segments_[i], here);
  }
}

template <typename Read>
absl::Status LogState::ForEachPart(int64_t record, size_t size, MutableBytes dst,
                                   const Read& read) const {
  if (dst.size() % size != 0) {
    return InvalidArgument("log: size %d is not a multiple of the value size %d", dst.size(), size);
  }
  const auto count = static_cast<int64_t>(dst.size() / size);
  if (record < first_record() || record > end_record() || count > end_record() - record) {
    return OutOfRange("log: cannot read %d records from %d on: the log holds %d records from %d on",
                      count, record, end_record() - first_record(), first_record());
  }
  for (const SegmentPtr& segment : segments_) {
    if (dst.empty()) break;
    if (record >= segment->end_record()) continue;
    const auto here = static_cast<size_t>(segment->end_record() - record);
    const MutableBytes part = dst.first(std::min(dst.size(), here * size));
    CAIRN_RETURN_IF_ERROR(read(*segment, record, part));
    record += static_cast<int64_t>(part.size() / size);
    dst = dst.subspan(part.size());
  }
  return absl::OkStatus();
}

absl::StatusOr<const Field*> LogState::NeedTime() const {
  if (newest().time_field() == nullptr) {
    return FailedPrecondition("log: its records have no time field");
  }
  return newest().time_field();
}

absl::StatusOr<std::vector<size_t>> LogState::FindFields(std::span<const std::string> names) const {
  std::vector<size_t> found;
  const std::vector<Field>& fields = schema().fields();
  for (size_t i = 0; names.empty() && i < fields.size(); ++i) found.push_back(i);
  for (const std::string& name : names) {
    const Field* const field = schema().Find(name);
    if (field == nullptr) return NotFound("log: no field '%s'", name);
    found.push_back(static_cast<size_t>(field - fields.data()));
  }
  return found;
}

int64_t LogState::FirstWithValue(size_t field) const {
  int64_t first = first_record();
  for (const SegmentPtr& segment : segments_) {
    const int64_t here = log::FirstWithValue(*segment, field);
    if (here > segment->first_record()) first = here;
  }
  return first;
}

KeyTextsPtr LogState::TextsOf(size_t field) const {
  if (schema().fields()[field].type != FieldType::kText) return nullptr;
  return newest().keys().texts(KeyNumber(schema(), field));
}

int64_t LogState::CountDeleted() const {
  int64_t count = 0;
  for (const SegmentPtr& segment : segments_) count += log::CountDeleted(*segment);
  return count;
}

std::vector<RecordRange> LogState::Deleted() const {
  std::vector<RecordRange> all;
  for (const SegmentPtr& segment : segments_) {
    for (const RecordRange& range : PartIn(segment->edits().deleted, NumbersOf(*segment))) {
      AddRange(all, range);
    }
  }
  return all;
}

LogChanges LogState::ChangesSince(const LogState& seen) const {
  const RecordRange both = {.begin = std::max(first_record(), seen.first_record()),
                            .end = std::min(end_record(), seen.end_record())};
  return {.deleted = PartIn(Difference(Deleted(), seen.Deleted()), both)};
}

absl::StatusOr<std::optional<TimeRange>> LogState::Times() const {
  CAIRN_RETURN_IF_ERROR(NeedTime().status());
  std::optional<TimeRange> range;
  for (const SegmentPtr& segment : segments_) {
    CAIRN_ASSIGN_OR_RETURN(const std::optional<TimeSpan> span, FindSpan(*segment));
    if (!span.has_value()) continue;
    if (!range.has_value()) range = TimeRange{.begin = kMaxTime, .end = kNoTime};
    range->begin = std::min(range->begin, span->least);
    range->end = std::max(range->end, span->greatest);
  }
  if (range.has_value() && range->end < kMaxTime) ++range->end;
  return range;
}

absl::StatusOr<std::optional<int64_t>> LogState::GreatestTime() const {
  CAIRN_RETURN_IF_ERROR(NeedTime().status());
  std::optional<int64_t> greatest;
  for (const SegmentPtr& segment : segments_) {
    CAIRN_ASSIGN_OR_RETURN(const std::optional<TimeSpan> span, FindSpan(*segment));
    if (!span.has_value()) continue;
    greatest = std::max(greatest.value_or(span->greatest), span->greatest);
  }
  return greatest;
}

absl::StatusOr<LogState::Reached> LogState::FindReached() const {
  CAIRN_ASSIGN_OR_RETURN(const Field* const time, NeedTime());
  const int64_t clock = ClockOf(*time);
  CAIRN_ASSIGN_OR_RETURN(const std::optional<int64_t> found, GreatestTime());
  const int64_t greatest = found.value_or(kNoTime);
  if (greatest <= clock) return Reached{.newest = greatest, .end = kMaxTime};
  NewestTime newest;
  for (const SegmentPtr& segment : segments_) {
    CAIRN_ASSIGN_OR_RETURN(const NewestTime here, FindNewestTime(*segment, clock));
    newest.Add(here);
  }
  return Reached{.newest = newest.At(clock), .end = newest.has_past() ? clock + 1 : kMaxTime};
}

absl::StatusOr<TimeRange> LogState::Last(int64_t span) const {
  CAIRN_RETURN_IF_ERROR(CheckNotNegative("log: span", span));
  CAIRN_ASSIGN_OR_RETURN(const Reached reached, FindReached());
  return TimeRange{.begin = CheckedAdd(reached.newest, -span).value_or(kNoTime),
                   .end = reached.end};
}

absl::StatusOr<int64_t> LogState::CountFuture() const {
  CAIRN_ASSIGN_OR_RETURN(const Field* const time, NeedTime());
  const int64_t clock = ClockOf(*time);
  int64_t count = 0;
  for (const SegmentPtr& segment : segments_) {
    CAIRN_ASSIGN_OR_RETURN(const int64_t here, log::CountFuture(*segment, clock));
    count += here;
  }
  return count;
}

absl::StatusOr<int64_t> LogState::FindTime(int64_t time) const {
  CAIRN_ASSIGN_OR_RETURN(const Reached reached, FindReached());
  const TimeRange range = {.begin = time, .end = time < reached.end ? reached.end : kMaxTime};
  for (const SegmentPtr& segment : segments_) {
    CAIRN_ASSIGN_OR_RETURN(const std::optional<int64_t> found, FindFirst(*segment, range));
    if (found.has_value()) return *found;
  }
  return end_record();
}

absl::Status LogState::ReadRecords(int64_t record, MutableItems dst) const {
  const auto size = static_cast<size_t>(schema().record_size());
  if (dst.value_size() != 0 && dst.value_size() != size) {
    return InvalidArgument("log: values of %d bytes, its records have %d", dst.value_size(), size);
  }
  const std::vector<RecordRange> gone = OverwrittenLater(newest());
  return ForEachPart(record, size, dst.bytes(),
                     [&gone](const Segment& segment, int64_t at, MutableBytes part) {
                       CAIRN_RETURN_IF_ERROR(segment.ReadRecords(at, part));
                       BlankRecords(segment, gone, at, part);
                       return absl::OkStatus();
                     });
}

absl::Status LogState::ReadColumn(std::string_view name, int64_t record, MutableItems dst) const {
  const Field* const field = schema().Find(name);
  if (field == nullptr) return NotFound("log: no field '%s'", name);
  const auto size = static_cast<size_t>(field->size);
  if (dst.value_size() != 0 && dst.value_size() != size) {
    return InvalidArgument("log: values of %d bytes, field '%s' has %d", dst.value_size(), name,
                           size);
  }
  const auto index = static_cast<size_t>(field - schema().fields().data());
  const std::vector<RecordRange> gone = OverwrittenLater(newest());
  return ForEachPart(record, size, dst.bytes(),
                     [&](const Segment& segment, int64_t at, MutableBytes part) {
                       CAIRN_RETURN_IF_ERROR(segment.ReadField(index, at, part));
                       BlankColumn(segment, *field, gone, at, part);
                       return absl::OkStatus();
                     });
}

absl::StatusOr<std::vector<std::string>> LogState::VerifyStatistics() const {
  std::vector<std::string> wrong;
  for (const SegmentPtr& segment : segments_) {
    for (int64_t n = 0; n < segment->nchunks(); ++n) {
      CAIRN_ASSIGN_OR_RETURN(const ChunkStatsPtr known, segment->StatsOf(n));
      CAIRN_ASSIGN_OR_RETURN(ChunkStats computed, segment->ComputeStats(n));
      computed.fingerprint = known->fingerprint;
      // They are compared in stored form, because a sum that is NaN is not equal to itself.
      StatsTable a;
      StatsTable b;
      a.Add(*known);
      b.Add(computed);
      if (a.rows == b.rows) continue;
      wrong.push_back(absl::StrFormat("records %d to %d: the statistics are not those of the data",
                                      segment->RecordOf(n),
                                      segment->RecordOf(n) + segment->RecordsIn(n) - 1));
    }
  }
  return wrong;
}

}  // namespace cairn::log
