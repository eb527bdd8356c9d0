#include "engine/log/query_run.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/status.h"

namespace cairn::log {

namespace {

constexpr TimeRange kEver;

bool IsEver(const TimeRange& range) { return range.begin == kEver.begin && range.end == kEver.end; }

// Chooses only values of a column.
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
std::vector<T> TakeFirst(std::vector<T>& values, size_t count) {
  if (count == values.size()) return std::exchange(values, {});
  const auto end = values.begin() + static_cast<ptrdiff_t>(count);
  std::vector<T> taken(values.begin(), end);
  values.erase(values.begin(), end);
  return taken;
}

template <typename T>
void Append(std::vector<T>& to, std::vector<T> more) {
  if (to.empty()) {
    to = std::move(more);
  } else {
    to.insert(to.end(), more.begin(), more.end());
  }
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
      CAIRN_ASSIGN_OR_RETURN(chunks, segment->ChunksIn(times));
    }
    for (const int64_t nchunk : chunks) {
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
  ChosenRecords found = {
      .rows = {.chunk = place.nchunk, .begin = 0, .end = segment.RecordsIn(place.nchunk)}};
  bool exact = true;  // all of the rows have times of the range
  if (segment.time_field() != nullptr) {
    CAIRN_ASSIGN_OR_RETURN(const ChunkStatsPtr stats, segment.StatsOf(place.nchunk));
    if (stats->in_order) {
      CAIRN_ASSIGN_OR_RETURN(found.rows, segment.RowsIn(place.nchunk, times));
    } else {
      exact = stats->min_time() >= times.begin && stats->max_time() < times.end;
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
  CAIRN_ASSIGN_OR_RETURN(found.columns, segment.ReadColumns(found.rows, wanted));
  if (time != nullptr) found.times = TimesOf(*time, found.columns.fields[time_at]);
  for (size_t i = 0; !exact && i < count; ++i) {
    found.chosen[i] = found.times[i] >= times.begin && found.times[i] < times.end;
  }
  filter.Apply(found.columns, found.chosen);
  return found;
}

absl::StatusOr<std::unique_ptr<QueryRun>> QueryRun::Make(std::shared_ptr<const LogState> state,
                                                         const LogQuery& query) {
  std::unique_ptr<QueryRun> run(new QueryRun(state, query));
  CAIRN_ASSIGN_OR_RETURN(run->filter_, Filter::Make(state->schema(), query.where));
  CAIRN_ASSIGN_OR_RETURN(run->fields_, state->FindFields(query.fields));
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

size_t QueryRun::SizeOf(size_t column) const {
  return static_cast<size_t>(state_->schema().fields()[fields_[column]].size);
}

absl::StatusOr<QueryRun::Found> QueryRun::Load(const ChunkPlace& place) const {
  CAIRN_ASSIGN_OR_RETURN(ChosenRecords chosen, ChooseRecords(place, range_, filter_, fields_));
  const int64_t first = place.segment->RecordOf(place.nchunk) + chosen.rows.begin;
  std::vector<size_t> which;
  for (size_t i = 0; i < chosen.chosen.size(); ++i) {
    if (chosen.chosen[i] != 0) which.push_back(i);
  }
  Found found;
  for (const size_t i : which) found.batch.records.push_back(first + static_cast<int64_t>(i));
  const bool all = which.size() == chosen.chosen.size();
  if (order_ == LogOrder::kTime) {
    found.times = all ? std::move(chosen.times) : Pick(chosen.times, which);
  }
  for (size_t i = 0; i < fields_.size(); ++i) {
    // A copy where a field is asked for twice.
    const std::vector<std::byte>& column = chosen.columns.fields[fields_[i]];
    found.batch.columns.push_back(all ? column : Pick(Bytes(column), SizeOf(i), which));
  }
  return found;
}

// Puts records among those that are held.
void QueryRun::Hold(Found found) {
  if (held_.times.empty()) held_.batch.columns.resize(fields_.size());
  Append(held_.times, std::move(found.times));
  Append(held_.batch.records, std::move(found.batch.records));
  for (size_t i = 0; i < fields_.size(); ++i) {
    Append(held_.batch.columns[i], std::move(found.batch.columns[i]));
  }
  std::vector<size_t> which(held_.times.size());
  std::iota(which.begin(), which.end(), size_t{0});
  const auto key = [this](size_t i) { return std::tuple(held_.times[i], held_.batch.records[i]); };
  if (std::ranges::is_sorted(which, {}, key)) return;
  std::ranges::sort(which, {}, key);
  for (size_t i = 0; i < fields_.size(); ++i) {
    held_.batch.columns[i] = Pick(Bytes(held_.batch.columns[i]), SizeOf(i), which);
  }
  held_.batch.records = Pick(held_.batch.records, which);
  held_.times = Pick(held_.times, which);
}

QueryRun::Found QueryRun::TakeHeld(size_t count) {
  Found found;
  found.times = TakeFirst(held_.times, count);
  found.batch.records = TakeFirst(held_.batch.records, count);
  for (size_t i = 0; i < fields_.size(); ++i) {
    found.batch.columns.push_back(TakeFirst(held_.batch.columns[i], count * SizeOf(i)));
  }
  return found;
}

absl::StatusOr<LogBatch> QueryRun::NextInTime() {
  while (true) {
    const bool more = next_ < places_.size();
    const auto certain =
        more ? std::ranges::lower_bound(held_.times, min_times_[next_]) : held_.times.end();
    if (certain != held_.times.begin()) {
      return TakeHeld(static_cast<size_t>(certain - held_.times.begin())).batch;
    }
    if (!more) return LogBatch{.records = {}, .columns = {}};
    CAIRN_ASSIGN_OR_RETURN(Found found, Load(places_[next_]));
    ++next_;
    Hold(std::move(found));
  }
}

absl::StatusOr<LogBatch> QueryRun::NextByNumber() {
  while (next_ < places_.size()) {
    CAIRN_ASSIGN_OR_RETURN(Found found, Load(places_[next_]));
    ++next_;
    if (found.batch.size() > 0) return std::move(found.batch);
  }
  return LogBatch{.records = {}, .columns = {}};
}

absl::StatusOr<LogBatch> QueryRun::Next() {
  if (left_ <= 0) return LogBatch{.records = {}, .columns = {}};
  CAIRN_ASSIGN_OR_RETURN(LogBatch batch, order_ == LogOrder::kTime ? NextInTime() : NextByNumber());
  if (batch.size() > left_) {
    const auto count = static_cast<size_t>(left_);
    batch.records.resize(count);
    for (size_t i = 0; i < fields_.size(); ++i) batch.columns[i].resize(count * SizeOf(i));
  }
  left_ -= batch.size();
  return batch;
}

}  // namespace cairn::log
