#include "engine/log/query/aggregate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <type_traits>
#include <utility>

#include "engine/base/status.h"
#include "engine/log/query/buckets.h"
#include "engine/log/query/filter.h"
#include "engine/log/query/ordered.h"
#include "engine/log/query/query_run.h"
#include "engine/log/state/live_records.h"
#include "engine/log/stats/values.h"

namespace cairn::log {

namespace {

// The sum of one field, as doubles and exact.
struct ExactSum {
  FieldSum sum;
  WholeAggregate whole = {};
};

struct Sums {
  int64_t end = 0;
  int64_t records = 0;
  std::vector<ExactSum> fields;
};

bool IsWhole(const Field& field) { return IsNumber(field) && field.type != FieldType::kFloat; }

// Adds the sum of records with greater numbers.
void Merge(ExactSum& sum, const ExactSum& more) {
  if (more.sum.values.count == 0) return;
  const bool none = sum.sum.values.count == 0;
  WholeAggregate& a = sum.whole;
  const WholeAggregate& b = more.whole;
  a.min = none ? b.min : std::min(a.min, b.min);
  a.max = none ? b.max : std::max(a.max, b.max);
  a.sum += b.sum;
  if (none || more.sum.first_time < sum.sum.first_time) a.first = b.first;
  if (none || more.sum.last_time >= sum.sum.last_time) a.last = b.last;
  Merge(sum.sum, more.sum);
}

// Statistics of integers are kept as doubles, which are exact up to 2^53. A sum that was never
// beyond that is exact too.
bool IsExact(const FieldAggregate& values) {
  constexpr double kExact = 9007199254740992;
  const double largest = std::max(std::abs(values.min), std::abs(values.max));
  const bool one_sign = values.min >= 0 || values.max <= 0;
  const double sum = one_sign ? std::abs(values.sum) : largest * static_cast<double>(values.count);
  return largest < kExact && sum < kExact;
}

ExactSum FromStatistics(const Field& field, const FieldSum& sum) {
  const FieldAggregate& values = sum.values;
  if (!IsWhole(field)) return {.sum = sum};
  const auto whole = [](double value) { return absl::int128(value); };
  return {.sum = sum,
          .whole = {.min = whole(values.min),
                    .max = whole(values.max),
                    .sum = whole(values.sum),
                    .first = whole(values.first),
                    .last = whole(values.last)}};
}

// The first `absent` records have no value.
ExactSum FromRecords(const Field& field, Bytes column, std::span<const int64_t> times,
                     int64_t absent) {
  const auto left_out = static_cast<size_t>(std::clamp<int64_t>(absent, 0, std::ssize(times)));
  column = column.subspan(left_out * static_cast<size_t>(field.size));
  times = times.subspan(left_out);
  ExactSum exact = {.sum = SumUp(field, column, times)};
  if (!IsWhole(field) || exact.sum.values.count == 0) return exact;
  VisitLoader(field, [&](const auto& load) {
    const auto step = static_cast<size_t>(field.size);
    auto least = load(column.data());
    auto greatest = least;
    size_t first = 0;
    size_t last = 0;
    bool none = true;
    if constexpr (std::is_integral_v<decltype(least)>) {
      for (size_t i = 0; i < times.size(); ++i) {
        const auto value = load(column.data() + i * step);
        if (IsNone(field, value)) continue;
        if (none) {
          least = greatest = value;
          first = last = i;
          none = false;
        }
        least = std::min(least, value);
        greatest = std::max(greatest, value);
        exact.whole.sum += value;
        if (times[i] < times[first]) first = i;
        if (times[i] >= times[last]) last = i;
      }
      exact.whole.min = least;
      exact.whole.max = greatest;
      exact.whole.first = load(column.data() + first * step);
      exact.whole.last = load(column.data() + last * step);
    }
  });
  return exact;
}

class Aggregator {
 public:
  Aggregator(const LogAggregation& aggregation, Buckets buckets, const Schema& schema,
             Filter filter, std::vector<size_t> fields)
      : aggregation_(aggregation),
        buckets_(buckets),
        schema_(schema),
        filter_(std::move(filter)),
        fields_(std::move(fields)) {
    for (const size_t field : fields_) {
      numbers_.push_back(static_cast<size_t>(
          std::count_if(schema_.fields().begin(),
                        schema_.fields().begin() + static_cast<ptrdiff_t>(field), IsNumber)));
    }
  }

  // Takes from the statistics those pieces whose records are all in one bucket.
  absl::Status AddChunk(const ChunkPlace& place) {
    CAIRN_ASSIGN_OR_RETURN(const ChunkStatsPtr stats, place.segment->StatsOf(place.nchunk));
    int32_t begin = 0;
    for (const Piece& piece : stats->pieces) {
      const Rows rows = {.chunk = place.nchunk, .begin = begin, .end = begin + piece.nrecords};
      begin = rows.end;
      if (piece.max_time < aggregation_.times.begin ||
          !IsBefore(piece.min_time, aggregation_.times.end)) {
        continue;
      }
      if (IsInOneBucket(piece) && CountDeleted(*place.segment, rows) == 0) {
        CAIRN_RETURN_IF_ERROR(AddPiece(*place.segment, piece, rows));
      } else {
        CAIRN_RETURN_IF_ERROR(AddRecords(*place.segment, rows));
      }
    }
    return absl::OkStatus();
  }

  std::vector<LogBucket> Take() && {
    std::vector<LogBucket> buckets;
    for (auto& [begin, sums] : sums_) {
      LogBucket& bucket = buckets.emplace_back();
      bucket.begin = aggregation_.bucket > 0 ? begin : least_time_;
      bucket.end = aggregation_.bucket > 0 ? sums.end : EndAfter(greatest_time_);
      bucket.records = sums.records;
      for (const ExactSum& sum : sums.fields) {
        bucket.fields.push_back(sum.sum.values);
        bucket.wholes.push_back(sum.whole);
      }
    }
    return buckets;
  }

 private:
  static int64_t EndAfter(int64_t time) {
    return time == std::numeric_limits<int64_t>::max() ? time : time + 1;
  }

  // Returns the sums of the bucket of these times.
  Sums& SumsOf(int64_t least, int64_t greatest) {
    const TimeRange& bucket = buckets_.Of(least);
    Sums& sums = sums_[bucket.begin];
    sums.end = bucket.end;
    sums.fields.resize(fields_.size());
    least_time_ = std::min(least_time_, least);
    greatest_time_ = std::max(greatest_time_, greatest);
    return sums;
  }

  bool IsInOneBucket(const Piece& piece) {
    return filter_.empty() && Contains(aggregation_.times, piece.min_time) &&
           Contains(aggregation_.times, piece.max_time) &&
           Contains(buckets_.Of(piece.min_time), piece.max_time);
  }

  // Adds all records of a piece. Reads only the fields whose statistics are not exact.
  absl::Status AddPiece(const Segment& segment, const Piece& piece, const Rows& rows) {
    Sums& sums = SumsOf(piece.min_time, piece.max_time);
    sums.records += piece.nrecords;
    std::vector<size_t> inexact;
    for (size_t i = 0; i < fields_.size(); ++i) {
      const FieldSum& sum = piece.fields[numbers_[i]];
      const Field& field = schema_.fields()[fields_[i]];
      if (IsWhole(field) && !IsExact(sum.values)) {
        inexact.push_back(i);
      } else {
        Merge(sums.fields[i], FromStatistics(field, sum));
      }
    }
    if (inexact.empty()) return absl::OkStatus();
    std::vector<size_t> wanted;
    for (const size_t i : inexact) wanted.push_back(fields_[i]);
    CAIRN_ASSIGN_OR_RETURN(const std::vector<int64_t> times, segment.ReadTimes(rows));
    CAIRN_ASSIGN_OR_RETURN(const Columns columns, segment.ReadColumns(rows, wanted));
    for (const size_t i : inexact) {
      const Field& field = schema_.fields()[fields_[i]];
      Merge(sums.fields[i],
            FromRecords(field, columns.fields[fields_[i]], times, columns.AbsentOf(fields_[i])));
    }
    return absl::OkStatus();
  }

  absl::Status AddRecords(const Segment& segment, const Rows& rows) {
    CAIRN_ASSIGN_OR_RETURN(const std::vector<int64_t> times, segment.ReadTimes(rows));
    std::vector<size_t> wanted = fields_;
    wanted.insert(wanted.end(), filter_.fields().begin(), filter_.fields().end());
    CAIRN_ASSIGN_OR_RETURN(const Columns columns, segment.ReadColumns(rows, wanted));
    std::vector<uint8_t> chosen(times.size());
    for (size_t i = 0; i < times.size(); ++i) {
      chosen[i] = Contains(aggregation_.times, times[i]);
    }
    filter_.Apply(columns, chosen);
    LeaveOutDeleted(segment, rows, chosen);
    // Runs of records that follow each other in one bucket.
    for (size_t begin = 0; begin < times.size();) {
      size_t end = begin + 1;
      const TimeRange bucket = buckets_.Of(times[begin]);
      while (end < times.size() && chosen[end] == chosen[begin] && Contains(bucket, times[end])) {
        ++end;
      }
      if (chosen[begin] != 0) AddRun(columns, times, begin, end);
      begin = end;
    }
    return absl::OkStatus();
  }

  void AddRun(const Columns& columns, const std::vector<int64_t>& times, size_t begin, size_t end) {
    const auto here = std::span(times).subspan(begin, end - begin);
    const auto [least, greatest] = std::ranges::minmax(here);
    Sums& sums = SumsOf(least, greatest);
    sums.records += std::ssize(here);
    for (size_t i = 0; i < fields_.size(); ++i) {
      const Field& field = schema_.fields()[fields_[i]];
      const auto size = static_cast<size_t>(field.size);
      const Bytes column = columns.fields[fields_[i]];
      Merge(sums.fields[i],
            FromRecords(field, column.subspan(begin * size, here.size() * size), here,
                        columns.AbsentOf(fields_[i]) - static_cast<int64_t>(begin)));
    }
  }

  const LogAggregation& aggregation_;
  Buckets buckets_;
  const Schema& schema_;
  const Filter filter_;
  const std::vector<size_t> fields_;  // of the schema
  std::vector<size_t> numbers_;       // place of each of them in a piece
  std::map<int64_t, Sums> sums_;      // keyed by the begin of the bucket
  int64_t least_time_ = std::numeric_limits<int64_t>::max();
  int64_t greatest_time_ = std::numeric_limits<int64_t>::min();
};

}  // namespace

absl::StatusOr<std::vector<LogBucket>> Aggregate(
    const std::shared_ptr<const LogState>& shared_state, const LogAggregation& aggregation) {
  const LogState& state = *shared_state;
  CAIRN_ASSIGN_OR_RETURN(const Field* const time, state.NeedTime());
  CAIRN_ASSIGN_OR_RETURN(const Buckets buckets, Buckets::Make(aggregation, *time));
  CAIRN_ASSIGN_OR_RETURN(std::vector<size_t> fields, state.FindFields(aggregation.fields));
  const auto is_text = [&](size_t i) { return IsText(state.schema().fields()[i]); };
  if (aggregation.fields.empty()) {
    std::erase_if(fields, is_text);
  } else if (const auto text = std::ranges::find_if(fields, is_text); text != fields.end()) {
    return InvalidArgument("log: field '%s' is not numeric", state.schema().fields()[*text].name);
  }
  if (!aggregation.by.empty()) return AggregateInOrder(shared_state, aggregation, buckets, fields);
  std::vector<LogBucket> measured;
  if (!aggregation.measures.empty()) {
    CAIRN_ASSIGN_OR_RETURN(measured, AggregateInOrder(shared_state, aggregation, buckets, {}));
  }
  CAIRN_ASSIGN_OR_RETURN(Filter filter,
                         Filter::Make(state, aggregation.where, aggregation.filters));
  CAIRN_ASSIGN_OR_RETURN(const std::vector<ChunkPlace> places,
                         FindChunks(state, aggregation.times, filter));
  Aggregator aggregator(aggregation, buckets, state.schema(), std::move(filter), std::move(fields));
  for (const ChunkPlace& place : places) CAIRN_RETURN_IF_ERROR(aggregator.AddChunk(place));
  std::vector<LogBucket> found = std::move(aggregator).Take();
  if (aggregation.measures.empty()) return found;
  // Both have a bucket wherever there are records, unless statistics lie.
  if (!std::ranges::equal(found, measured, {}, &LogBucket::begin, &LogBucket::begin)) {
    return DataLoss("log: its statistics are not those of its records");
  }
  for (size_t i = 0; i < found.size(); ++i) found[i].measures = std::move(measured[i].measures);
  return found;
}

}  // namespace cairn::log
