#include "engine/log/query/aggregate.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/log/query/buckets.h"
#include "engine/log/query/field_sums.h"
#include "engine/log/query/filter.h"
#include "engine/log/query/ordered.h"
#include "engine/log/query/query_run.h"
#include "engine/log/state/live_records.h"
#include "engine/log/stats/values.h"

namespace cairn::log {

namespace {

struct Sums {
  int64_t end = 0;
  int64_t records = 0;
  std::vector<ExactSum> fields;
};

// Records of a chunk that follow each other.
struct Span {
  Rows rows;
  int64_t min_time = 0;
  int64_t max_time = 0;
};

// Returns how many bytes are 1 instead of 0.
int64_t CountOnes(std::span<const uint8_t> bytes) {
  constexpr uint64_t kAdd = 0x0101010101010101;  // the highest byte of a product is the sum of all
  const Bytes whole = std::as_bytes(bytes);
  uint64_t count = 0;
  size_t i = 0;
  for (; i + 8 <= whole.size(); i += 8) count += LoadLe<uint64_t>(&whole[i]) * kAdd >> 56;
  for (; i < whole.size(); ++i) count += bytes[i];
  return static_cast<int64_t>(count);
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

  // Takes from the statistics those pieces whose records are all in one bucket, and reads the other
  // ones.
  absl::Status AddChunk(const ChunkPlace& place) {
    const Segment& segment = *place.segment;
    CAIRN_ASSIGN_OR_RETURN(const ChunkStatsPtr stats, segment.StatsOf(place.nchunk));
    Span unread = {.rows = {.chunk = place.nchunk}};
    int32_t begin = 0;
    for (const Piece& piece : stats->pieces) {
      const Rows rows = {.chunk = place.nchunk, .begin = begin, .end = begin + piece.nrecords};
      begin = rows.end;
      const Span span = {.rows = rows, .min_time = piece.min_time, .max_time = piece.max_time};
      if (piece.max_time < aggregation_.times.begin ||
          !IsBefore(piece.min_time, aggregation_.times.end)) {
        continue;
      }
      if (filter_.empty() && IsInOneBucket(span) && CountDeleted(segment, rows) == 0) {
        CAIRN_RETURN_IF_ERROR(AddPiece(segment, piece, rows, stats->in_order));
      } else if (unread.rows.size() > 0 && unread.rows.end == rows.begin) {
        unread.rows.end = rows.end;
        unread.min_time = std::min(unread.min_time, piece.min_time);
        unread.max_time = std::max(unread.max_time, piece.max_time);
      } else {
        CAIRN_RETURN_IF_ERROR(AddRecords(segment, unread, stats->in_order));
        unread = span;
      }
    }
    return AddRecords(segment, unread, stats->in_order);
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

  bool IsInOneBucket(const Span& span) {
    return Contains(aggregation_.times, span.min_time) &&
           Contains(aggregation_.times, span.max_time) &&
           Contains(buckets_.Of(span.min_time), span.max_time);
  }

  // Adds all records of a piece. Reads only the fields whose statistics are not exact.
  absl::Status AddPiece(const Segment& segment, const Piece& piece, const Rows& rows,
                        bool in_order) {
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
    CAIRN_RETURN_IF_ERROR(segment.ReadColumns(rows, wanted, columns_));
    RowTimes times(segment, rows, in_order);
    if (!in_order) CAIRN_RETURN_IF_ERROR(times.Load());
    chosen_.assign(static_cast<size_t>(rows.size()), 1);
    for (const size_t i : inexact)
      CAIRN_RETURN_IF_ERROR(AddField(sums, i, times, 0, chosen_.size()));
    return absl::OkStatus();
  }

  absl::Status AddRecords(const Segment& segment, const Span& span, bool in_order) {
    if (span.rows.size() == 0) return absl::OkStatus();
    std::vector<size_t> wanted = fields_;
    wanted.insert(wanted.end(), filter_.fields().begin(), filter_.fields().end());
    CAIRN_RETURN_IF_ERROR(segment.ReadColumns(span.rows, wanted, columns_));
    chosen_.assign(static_cast<size_t>(span.rows.size()), 1);
    RowTimes times(segment, span.rows, in_order);
    const bool one_bucket = IsInOneBucket(span);
    if (!in_order || !one_bucket) CAIRN_RETURN_IF_ERROR(times.Load());
    if (!one_bucket) {
      for (size_t i = 0; i < chosen_.size(); ++i) {
        chosen_[i] = Contains(aggregation_.times, times.loaded()[i]) ? 1 : 0;
      }
    }
    filter_.Apply(columns_, chosen_);
    LeaveOutDeleted(segment, span.rows, chosen_);
    for (size_t begin = 0; begin < chosen_.size();) {
      const size_t end = one_bucket ? chosen_.size() : EndOfBucket(times, begin);
      CAIRN_RETURN_IF_ERROR(AddRun(times, begin, end));
      begin = end;
    }
    return absl::OkStatus();
  }

  // Returns the first row, after `begin`, in another bucket than that.
  size_t EndOfBucket(const RowTimes& times, size_t begin) {
    const TimeRange bucket = buckets_.Of(times.loaded()[begin]);
    const auto rest = std::span(times.loaded()).subspan(begin + 1);
    const auto is_in = [&](int64_t time) { return Contains(bucket, time); };
    const auto end = times.in_order() ? std::ranges::partition_point(rest, is_in)
                                      : std::ranges::find_if_not(rest, is_in);
    return begin + 1 + static_cast<size_t>(end - rest.begin());
  }

  // Adds the chosen ones of rows that are in one bucket.
  absl::Status AddRun(const RowTimes& times, size_t begin, size_t end) {
    const auto chosen = std::span(chosen_).subspan(begin, end - begin);
    const auto first = std::ranges::find(chosen, 1);
    if (first == chosen.end()) return absl::OkStatus();
    size_t from = static_cast<size_t>(first - chosen.begin()) + begin;
    size_t to = end - 1;
    while (chosen_[to] == 0) --to;
    CAIRN_ASSIGN_OR_RETURN(int64_t least, times.At(from));
    CAIRN_ASSIGN_OR_RETURN(int64_t greatest, times.At(to));
    for (size_t i = from; !times.in_order() && i <= to; ++i) {
      if (chosen_[i] == 0) continue;
      least = std::min(least, times.loaded()[i]);
      greatest = std::max(greatest, times.loaded()[i]);
    }
    Sums& sums = SumsOf(least, greatest);
    sums.records += CountOnes(chosen);
    for (size_t i = 0; i < fields_.size(); ++i) {
      CAIRN_RETURN_IF_ERROR(AddField(sums, i, times, from, to + 1));
    }
    return absl::OkStatus();
  }

  // Adds the chosen ones of rows to the sum of a field. Those in front that have no value do not
  // count.
  absl::Status AddField(Sums& sums, size_t i, const RowTimes& times, size_t begin, size_t end) {
    const Field& field = schema_.fields()[fields_[i]];
    begin = std::clamp(static_cast<size_t>(columns_.AbsentOf(fields_[i])), begin, end);
    const auto size = static_cast<size_t>(field.size);
    const auto column =
        Bytes(columns_.fields[fields_[i]]).subspan(begin * size, (end - begin) * size);
    CAIRN_ASSIGN_OR_RETURN(
        const ExactSum sum,
        SumChosen(field, column, std::span(chosen_).subspan(begin, end - begin), times, begin));
    Merge(sums.fields[i], sum);
    return absl::OkStatus();
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
  // These are of the rows that are being added.
  Columns columns_;
  std::vector<uint8_t> chosen_;  // 1 for each row that counts, or else 0
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
