#include "engine/log/query/query_run.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/log/state/live_records.h"
#include "engine/log/state/time_search.h"
#include "engine/log/stats/buckets.h"

namespace cairn::log {

namespace {

constexpr TimeRange kEver;

bool IsEver(const TimeRange& range) { return range.begin == kEver.begin && range.end == kEver.end; }

// Returns the chosen values of a column.
std::vector<std::byte> Pick(Bytes column, size_t size, const std::vector<size_t>& which) {
  std::vector<std::byte> picked(which.size() * size);
  const MutableBytes out(picked);
  for (size_t i = 0; i < which.size(); ++i) {
    CopyBytes(column.subspan(which[i] * size, size), out.subspan(i * size, size));
  }
  return picked;
}

template <typename T>
std::vector<T> Pick(const std::vector<T>& values, const std::vector<size_t>& which) {
  std::vector<T> picked;
  picked.reserve(which.size());
  for (const size_t i : which) picked.push_back(values[i]);
  return picked;
}

template <typename T>
void AppendPart(std::vector<T>& to, const std::vector<T>& from, size_t begin, size_t end) {
  to.insert(to.end(), from.begin() + static_cast<ptrdiff_t>(begin),
            from.begin() + static_cast<ptrdiff_t>(end));
}

}  // namespace

absl::StatusOr<std::vector<ChunkPlace>> FindChunks(const LogState& state, const TimeRange& times,
                                                   const Filter& filter) {
  std::vector<ChunkPlace> places;
  for (const SegmentPtr& segment : state.segments()) {
    std::vector<int64_t> chunks;
    if (segment->time_field() == nullptr) {
      chunks.resize(static_cast<size_t>(segment->nchunks()));
      std::iota(chunks.begin(), chunks.end(), 0);
    } else {
      CAIRN_ASSIGN_OR_RETURN(chunks, FindChunks(*segment, times));
    }
    for (const int64_t nchunk : chunks) {
      if (CountDeleted(*segment, segment->RowsOf(nchunk)) == segment->RecordsIn(nchunk)) continue;
      if (!filter.empty()) {
        CAIRN_ASSIGN_OR_RETURN(const ChunkStatsPtr stats, segment->StatsOf(nchunk));
        if (!filter.MayMatch(*stats)) continue;
      }
      places.push_back({.segment = segment.get(), .nchunk = nchunk});
    }
  }
  return places;
}

absl::StatusOr<ChosenRecords> ChooseRecords(const ChunkPlace& place, const TimeRange& times,
                                            const Filter& filter,
                                            const std::vector<size_t>& fields) {
  const Segment& segment = *place.segment;
  ChosenRecords found = {.rows = segment.RowsOf(place.nchunk)};
  bool exact = true;  // true if all rows have times of the range
  if (segment.time_field() != nullptr) {
    CAIRN_ASSIGN_OR_RETURN(const ChunkStatsPtr stats, segment.StatsOf(place.nchunk));
    if (stats->in_order) {
      CAIRN_ASSIGN_OR_RETURN(found.rows, FindRows(segment, place.nchunk, times));
    } else {
      exact = Contains(times, stats->min_time()) && Contains(times, stats->max_time());
    }
  }
  const auto count = static_cast<size_t>(found.rows.size());
  found.chosen.assign(count, 1);
  std::vector<size_t> wanted = fields;
  wanted.insert(wanted.end(), filter.fields().begin(), filter.fields().end());
  const Field* const time = segment.time_field();
  const auto time_at =
      time == nullptr ? size_t{0} : static_cast<size_t>(time - segment.schema().fields().data());
  if (time != nullptr) wanted.push_back(time_at);
  CAIRN_RETURN_IF_ERROR(segment.ReadColumns(found.rows, wanted, found.columns));
  if (time != nullptr) found.times = TimesOf(*time, found.columns.fields[time_at]);
  for (size_t i = 0; !exact && i < count; ++i) {
    found.chosen[i] = Contains(times, found.times[i]);
  }
  filter.Apply(found.columns, found.chosen);
  LeaveOutDeleted(segment, found.rows, found.chosen);
  return found;
}

absl::StatusOr<std::unique_ptr<QueryRun>> QueryRun::Make(std::shared_ptr<const LogState> state,
                                                         const LogQuery& query) {
  CAIRN_RETURN_IF_ERROR(CheckNotNegative("log: limit", query.limit));
  std::unique_ptr<QueryRun> run(new QueryRun(state, query));
  CAIRN_ASSIGN_OR_RETURN(run->filter_, Filter::Make(*state, query.where, query.filters));
  CAIRN_ASSIGN_OR_RETURN(run->fields_, state->FindFields(query.fields));
  std::vector<Field> returned;
  returned.reserve(run->fields_.size());
  for (const size_t i : run->fields_) returned.push_back(state->schema().fields()[i]);
  run->FindTextsAndGaps();
  run->batch_fields_ = std::make_shared<const std::vector<Field>>(std::move(returned));
  if (state->newest().time_field() == nullptr) {
    if (!IsEver(query.times)) CAIRN_RETURN_IF_ERROR(state->NeedTime().status());
    run->order_ = LogOrder::kRecord;
  }
  CAIRN_ASSIGN_OR_RETURN(run->places_, FindChunks(*state, query.times, run->filter_));
  if (run->order_ == LogOrder::kRecord) return run;
  const auto min_time = [](const ChunkPlace& place) {
    const absl::StatusOr<const TimeIndex*> times = place.segment->times();
    return times.ok() ? (*times)->min_time[static_cast<size_t>(place.nchunk)] : 0;
  };
  std::ranges::stable_sort(run->places_, {}, min_time);
  for (const ChunkPlace& place : run->places_) run->min_times_.push_back(min_time(place));
  return run;
}

void QueryRun::FindTextsAndGaps() {
  const auto is_plain = [this](size_t i) {
    return state_->TextsOf(i) == nullptr && state_->FirstWithValue(i) == state_->first_record();
  };
  if (std::ranges::all_of(fields_, is_plain)) return;
  for (const size_t i : fields_) {
    first_with_value_.push_back(state_->FirstWithValue(i));
    texts_.push_back(state_->TextsOf(i));
  }
}

size_t QueryRun::SizeOf(size_t column) const {
  return static_cast<size_t>(state_->schema().fields()[fields_[column]].size);
}

absl::StatusOr<QueryRun::Found> QueryRun::Load(const ChunkPlace& place) const {
  CAIRN_ASSIGN_OR_RETURN(ChosenRecords chosen, ChooseRecords(place, range_, filter_, fields_));
  const int64_t first = place.segment->RecordOf(place.nchunk) + chosen.rows.begin;
  Found found;
  if (std::ranges::find(chosen.chosen, 0) == chosen.chosen.end()) {
    found.batch.records.resize(chosen.chosen.size());
    std::iota(found.batch.records.begin(), found.batch.records.end(), first);
    if (order_ == LogOrder::kTime) found.times = std::move(chosen.times);
    for (size_t i = 0; i < fields_.size(); ++i) {
      std::vector<std::byte>& column = chosen.columns.fields[fields_[i]];
      const auto rest = std::span(fields_).subspan(i + 1);
      const bool is_asked_again = std::ranges::find(rest, fields_[i]) != rest.end();
      found.batch.columns.push_back(is_asked_again ? column : std::move(column));
    }
    return found;
  }
  std::vector<size_t> which;
  for (size_t i = 0; i < chosen.chosen.size(); ++i) {
    if (chosen.chosen[i] != 0) which.push_back(i);
  }
  found.batch.records.resize(which.size());
  std::ranges::transform(which, found.batch.records.begin(),
                         [first](size_t i) { return first + static_cast<int64_t>(i); });
  if (order_ == LogOrder::kTime) found.times = Pick(chosen.times, which);
  for (size_t i = 0; i < fields_.size(); ++i) {
    found.batch.columns.push_back(Pick(Bytes(chosen.columns.fields[fields_[i]]), SizeOf(i), which));
  }
  return found;
}

// Sorts records by time, and records of one time by number.
void QueryRun::Sort(Found& found) const {
  const auto key = [&found](size_t i) {
    return std::tuple(found.times[i], found.batch.records[i]);
  };
  const size_t count = found.times.size();
  size_t sorted = 1;  // records at the begin that are in order
  while (sorted < count && key(sorted - 1) < key(sorted)) ++sorted;
  if (sorted >= count) return;
  std::vector<size_t> which(count);
  std::iota(which.begin(), which.end(), size_t{0});
  std::ranges::sort(which, {}, key);
  for (size_t i = 0; i < fields_.size(); ++i) {
    found.batch.columns[i] = Pick(Bytes(found.batch.columns[i]), SizeOf(i), which);
  }
  found.batch.records = Pick(found.batch.records, which);
  found.times = Pick(found.times, which);
}

// Takes the records before a time from all that are held. Without a time, takes all.
LogBatch QueryRun::TakeHeld(std::optional<int64_t> before) {
  Found taken;
  taken.batch.columns.resize(fields_.size());
  for (Held& held : held_) {
    const std::vector<int64_t>& times = held.found.times;
    size_t end = times.size();
    if (before.has_value()) {
      const auto rest = times.begin() + static_cast<ptrdiff_t>(held.next);
      end = static_cast<size_t>(std::lower_bound(rest, times.end(), *before) - times.begin());
    }
    if (held_.size() == 1 && held.next == 0 && end == times.size()) {
      taken = std::exchange(held.found, {});
      held.next = 0;
      break;
    }
    AppendPart(taken.times, times, held.next, end);
    AppendPart(taken.batch.records, held.found.batch.records, held.next, end);
    for (size_t i = 0; i < fields_.size(); ++i) {
      AppendPart(taken.batch.columns[i], held.found.batch.columns[i], held.next * SizeOf(i),
                 end * SizeOf(i));
    }
    held.next = end;
  }
  std::erase_if(held_, [](const Held& held) { return held.next == held.found.times.size(); });
  Sort(taken);
  return std::move(taken.batch);
}

absl::StatusOr<LogBatch> QueryRun::NextInTime() {
  while (true) {
    const bool more = next_ < places_.size();
    LogBatch certain = TakeHeld(more ? std::optional(min_times_[next_]) : std::nullopt);
    if (certain.size() > 0 || !more) return certain;
    CAIRN_ASSIGN_OR_RETURN(Found found, Load(places_[next_]));
    ++next_;
    Sort(found);
    held_.push_back({.found = std::move(found)});
  }
}

absl::StatusOr<LogBatch> QueryRun::NextByNumber() {
  while (next_ < places_.size()) {
    CAIRN_ASSIGN_OR_RETURN(Found found, Load(places_[next_]));
    ++next_;
    if (found.batch.size() > 0) return std::move(found.batch);
  }
  return LogBatch();
}

absl::StatusOr<LogBatch> QueryRun::Next() {
  LogBatch batch;
  if (left_ > 0) {
    CAIRN_ASSIGN_OR_RETURN(batch, order_ == LogOrder::kTime ? NextInTime() : NextByNumber());
  }
  batch.fields = batch_fields_;
  batch.first_with_value = first_with_value_;
  batch.texts = texts_;
  if (batch.size() > left_) {
    const auto count = static_cast<size_t>(left_);
    batch.records.resize(count);
    for (size_t i = 0; i < fields_.size(); ++i) batch.columns[i].resize(count * SizeOf(i));
  }
  left_ -= batch.size();
  return batch;
}

}  // namespace cairn::log
