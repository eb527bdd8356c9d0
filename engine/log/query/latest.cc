#include "engine/log/query/latest.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/log/query/filter.h"
#include "engine/log/query/ordered.h"
#include "engine/log/query/query_run.h"
#include "engine/log/state/live_records.h"
#include "engine/log/stats/values.h"

namespace cairn::log {

namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::min();

// The latest record of a group so far.
struct Latest {
  std::vector<FieldValue> group;
  int64_t time = 0;  // 0 without a time field
  int64_t record = 0;
  size_t place = 0;  // chunk that holds it
  int32_t row = 0;   // in the chunk
};

class LatestFinder {
 public:
  LatestFinder(const LogState& state, const LogLatest& wanted, Filter filter,
               std::vector<size_t> by)
      : state_(state), wanted_(wanted), filter_(std::move(filter)), by_(std::move(by)) {
    for (const size_t field : by_) texts_.push_back(state.TextsOf(field));
    if (texts_.size() == 1 && texts_.front() != nullptr) {
      times_of_codes_.assign(static_cast<size_t>(texts_.front()->size()), kNever);
    }
  }

  absl::Status Run() {
    CAIRN_ASSIGN_OR_RETURN(places_, FindChunks(state_, wanted_.times, filter_));
    CAIRN_RETURN_IF_ERROR(SortPlaces());
    for (size_t i = 0; i < places_.size(); ++i) {
      CAIRN_ASSIGN_OR_RETURN(const bool can, CanImprove(places_[i]));
      if (can) CAIRN_RETURN_IF_ERROR(AddChunk(i));
    }
    return absl::OkStatus();
  }

  // Returns the records with these fields, in the order of the groups.
  absl::StatusOr<LogBatch> Read(const std::vector<size_t>& fields) {
    std::vector<const Latest*> found;
    for (const auto& [key, latest] : groups_) found.push_back(&latest);
    std::ranges::sort(found, {},
                      [](const Latest* latest) { return std::tie(latest->group, latest->record); });
    LogBatch batch;
    std::vector<Field> types;
    for (const size_t field : fields) {
      const Field& type = state_.schema().fields()[field];
      types.push_back(type);
      batch.first_with_value.push_back(state_.FirstWithValue(field));
      batch.texts.push_back(state_.TextsOf(field));
      batch.columns.emplace_back(found.size() * static_cast<size_t>(type.size));
    }
    batch.fields = std::make_shared<const std::vector<Field>>(std::move(types));
    std::vector<std::vector<size_t>> rows(places_.size());  // of the result, for each chunk
    for (size_t i = 0; i < found.size(); ++i) {
      batch.records.push_back(found[i]->record);
      rows[found[i]->place].push_back(i);
    }
    for (size_t place = 0; place < places_.size(); ++place) {
      if (!rows[place].empty()) {
        CAIRN_RETURN_IF_ERROR(ReadChunk(places_[place], found, rows[place], fields, batch));
      }
    }
    return batch;
  }

 private:
  // The chunks with the latest times come first, since then others can be left out.
  absl::Status SortPlaces() {
    std::ranges::reverse(places_);
    if (state_.newest().time_field() == nullptr) return absl::OkStatus();
    std::vector<std::pair<int64_t, ChunkPlace>> timed;
    for (const ChunkPlace& place : places_) {
      CAIRN_ASSIGN_OR_RETURN(const ChunkStatsPtr stats, place.segment->StatsOf(place.nchunk));
      timed.emplace_back(stats->max_time(), place);
    }
    std::ranges::stable_sort(timed, std::ranges::greater(), &std::pair<int64_t, ChunkPlace>::first);
    std::ranges::transform(timed, places_.begin(), &std::pair<int64_t, ChunkPlace>::second);
    return absl::OkStatus();
  }

  // Returns false if each text that the chunk may have is known from a later record.
  absl::StatusOr<bool> CanImprove(const ChunkPlace& place) const {
    if (times_of_codes_.empty()) return true;
    CAIRN_ASSIGN_OR_RETURN(const ChunkStatsPtr stats, place.segment->StatsOf(place.nchunk));
    const std::vector<Field>& fields = state_.schema().fields();
    const auto number = static_cast<size_t>(
        std::count_if(fields.begin(), fields.begin() + static_cast<ptrdiff_t>(by_[0]), IsNumber));
    for (const Piece& piece : stats->pieces) {
      const FieldAggregate& codes = piece.fields[number].values;
      const auto end = static_cast<double>(times_of_codes_.size());
      const bool all_have = codes.count == piece.nrecords && codes.min >= 0 && codes.max < end;
      if (!all_have) return true;
      for (auto code = static_cast<size_t>(codes.min); code <= static_cast<size_t>(codes.max);
           ++code) {
        if (times_of_codes_[code] <= piece.max_time) return true;
      }
    }
    return false;
  }

  absl::Status AddChunk(size_t place) {
    CAIRN_ASSIGN_OR_RETURN(const ChosenRecords chosen,
                           ChooseRecords(places_[place], wanted_.times, filter_, by_));
    const Segment& segment = *places_[place].segment;
    const int64_t first = segment.RecordOf(places_[place].nchunk) + chosen.rows.begin;
    for (size_t i = 0; i < chosen.chosen.size(); ++i) {
      if (chosen.chosen[i] == 0) continue;
      const Latest here = {.group = {},
                           .time = chosen.times.empty() ? 0 : chosen.times[i],
                           .record = first + static_cast<int64_t>(i),
                           .place = place,
                           .row = chosen.rows.begin + static_cast<int32_t>(i)};
      CAIRN_RETURN_IF_ERROR(AddRecord(chosen.columns, i, here));
    }
    return absl::OkStatus();
  }

  absl::Status AddRecord(const Columns& columns, size_t i, const Latest& here) {
    std::string key;
    for (const size_t field : by_) {
      const Field& type = state_.schema().fields()[field];
      const bool has_value = std::cmp_greater_equal(i, columns.AbsentOf(field));
      key.push_back(has_value ? '\1' : '\0');
      if (!has_value) continue;
      const auto size = static_cast<size_t>(type.size);
      const std::byte* const at = columns.fields[field].data() + i * size;
      if (type.type == FieldType::kBool) {
        key.push_back(*at != std::byte{0} ? '\1' : '\0');
      } else {
        key.append(reinterpret_cast<const char*>(at), size);
      }
    }
    auto [found, is_new] = groups_.try_emplace(std::move(key));
    Latest& latest = found->second;
    if (is_new) {
      if (std::ssize(groups_) > wanted_.max_groups) {
        return ResourceExhausted(
            "log: by: more than %d groups: choose other fields, fewer records, or a greater "
            "max_groups",
            wanted_.max_groups);
      }
      latest.group = GroupOf(columns, i);
    } else if (std::pair(here.time, here.record) < std::pair(latest.time, latest.record)) {
      return absl::OkStatus();
    }
    latest.time = here.time;
    latest.record = here.record;
    latest.place = here.place;
    latest.row = here.row;
    if (!times_of_codes_.empty() && columns.AbsentOf(by_[0]) <= static_cast<int64_t>(i)) {
      const auto code = LoadLe<uint32_t>(columns.fields[by_[0]].data() + i * sizeof(uint32_t));
      if (code < times_of_codes_.size()) times_of_codes_[code] = here.time;
    }
    return absl::OkStatus();
  }

  std::vector<FieldValue> GroupOf(const Columns& columns, size_t i) const {
    std::vector<FieldValue> group;
    for (size_t j = 0; j < by_.size(); ++j) {
      const Field& type = state_.schema().fields()[by_[j]];
      if (std::cmp_less(i, columns.AbsentOf(by_[j]))) {
        group.emplace_back(std::monostate());
      } else {
        const auto size = static_cast<size_t>(type.size);
        group.push_back(
            GroupValueOf(type, texts_[j].get(), columns.fields[by_[j]].data() + i * size));
      }
    }
    return group;
  }

  // Reads the records of one chunk. `rows` are their places in the result.
  static absl::Status ReadChunk(const ChunkPlace& place, const std::vector<const Latest*>& found,
                                const std::vector<size_t>& rows, const std::vector<size_t>& fields,
                                LogBatch& batch) {
    Rows span = {.chunk = place.nchunk, .begin = std::numeric_limits<int32_t>::max(), .end = 0};
    for (const size_t row : rows) {
      span.begin = std::min(span.begin, found[row]->row);
      span.end = std::max(span.end, found[row]->row + 1);
    }
    Columns columns;
    CAIRN_RETURN_IF_ERROR(place.segment->ReadColumns(span, fields, columns));
    for (size_t j = 0; j < fields.size(); ++j) {
      const auto size = static_cast<size_t>((*batch.fields)[j].size);
      for (const size_t row : rows) {
        const auto from = static_cast<size_t>(found[row]->row - span.begin);
        CopyBytes(Bytes(columns.fields[fields[j]]).subspan(from * size, size),
                  MutableBytes(batch.columns[j]).subspan(row * size, size));
      }
    }
    return absl::OkStatus();
  }

  const LogState& state_;
  const LogLatest& wanted_;
  const Filter filter_;
  const std::vector<size_t> by_;    // in the schema
  std::vector<KeyTextsPtr> texts_;  // of each of them; null for those without
  std::vector<ChunkPlace> places_;
  std::unordered_map<std::string, Latest> groups_;  // keyed by the bytes of their fields
  // If one field of texts makes the groups: time of the latest record of each code.
  std::vector<int64_t> times_of_codes_;
};

}  // namespace

absl::StatusOr<LogBatch> FindLatest(const std::shared_ptr<const LogState>& state,
                                    const LogLatest& wanted) {
  if (wanted.by.empty()) return InvalidArgument("log: latest: by: expected the name of a field");
  CAIRN_ASSIGN_OR_RETURN(std::vector<size_t> by, state->FindFields(wanted.by));
  for (const size_t field : by)
    CAIRN_RETURN_IF_ERROR(CheckGroupField(state->schema().fields()[field]));
  CAIRN_ASSIGN_OR_RETURN(const std::vector<size_t> fields, state->FindFields(wanted.fields));
  const bool is_ever =
      wanted.times.begin == TimeRange().begin && wanted.times.end == TimeRange().end;
  if (!is_ever) CAIRN_RETURN_IF_ERROR(state->NeedTime().status());
  CAIRN_ASSIGN_OR_RETURN(Filter filter, Filter::Make(*state, wanted.where, wanted.filters));
  LatestFinder finder(*state, wanted, std::move(filter), std::move(by));
  CAIRN_RETURN_IF_ERROR(finder.Run());
  return finder.Read(fields);
}

}  // namespace cairn::log
