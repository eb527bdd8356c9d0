#include "engine/log/stats/chunk_stats.h"

#include <algorithm>
#include <array>

#include "engine/log/stats/buckets.h"
#include "engine/log/stats/values.h"

namespace cairn::log {

namespace {

// The seconds between round times.
constexpr std::array<int64_t, 6> kRound = {1, 10, 60, 600, 3600, 86400};

// Returns the records that lie after a round time and whose predecessor lies before it.
std::vector<int64_t> CutsAt(std::span<const int64_t> times, int64_t step) {
  std::vector<int64_t> cuts;
  for (size_t i = 1; i < times.size() && std::ssize(cuts) < kMaxPieces; ++i) {
    if (BucketOf(times[i], step, 0) != BucketOf(times[i - 1], step, 0)) {
      cuts.push_back(static_cast<int64_t>(i));
    }
  }
  return cuts;
}

// Returns the numbers of the records that begin a piece, except the first.
std::vector<int64_t> ChooseCuts(const Field& time, std::span<const int64_t> times) {
  const int64_t second = time.type == FieldType::kTimestamp ? UnitsPerSecond(time.unit) : 1;
  for (const int64_t round : kRound) {
    // Times are in order, so the first and the last rule out most steps that are too short.
    const uint64_t span = static_cast<uint64_t>(times.back()) - static_cast<uint64_t>(times[0]);
    if (span / static_cast<uint64_t>(round * second) > times.size()) continue;
    std::vector<int64_t> cuts = CutsAt(times, round * second);
    if (std::ssize(cuts) < kMaxPieces) return cuts;
  }
  return {};
}

Bytes Part(const Field& field, Bytes column, int64_t begin, int64_t end) {
  return column.subspan(static_cast<size_t>(begin * field.size),
                        static_cast<size_t>((end - begin) * field.size));
}

Piece MakePiece(const Schema& schema, std::span<const int64_t> times, const Columns& columns,
                int64_t begin, int64_t end) {
  Piece piece = {.nrecords = static_cast<int32_t>(end - begin)};
  if (!times.empty()) {
    times = times.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
    const auto [least, greatest] = std::ranges::minmax(times);
    piece.min_time = least;
    piece.max_time = greatest;
  }
  for (size_t i = 0; i < schema.fields().size(); ++i) {
    const Field& field = schema.fields()[i];
    if (!IsNumber(field)) continue;
    const int64_t first = std::clamp(columns.AbsentOf(i), begin, end);
    piece.fields.push_back(
        SumUp(field, Part(field, columns.fields[i], first, end),
              times.empty() ? times : times.subspan(static_cast<size_t>(first - begin))));
  }
  return piece;
}

}  // namespace

void Merge(FieldSum& sum, const FieldSum& more) {
  FieldAggregate& a = sum.values;
  const FieldAggregate& b = more.values;
  if (b.count == 0) return;
  if (a.count == 0) {
    sum = more;
    return;
  }
  a.count += b.count;
  a.min = std::min(a.min, b.min);
  a.max = std::max(a.max, b.max);
  a.sum += b.sum;
  if (more.first_time < sum.first_time) {
    a.first = b.first;
    sum.first_time = more.first_time;
  }
  if (more.last_time >= sum.last_time) {
    a.last = b.last;
    sum.last_time = more.last_time;
  }
}

FieldSum SumUp(const Field& field, Bytes column, std::span<const int64_t> times) {
  FieldSum sum;
  if (column.empty()) return sum;
  FieldAggregate& values = sum.values;
  size_t first = 0;
  size_t last = 0;
  VisitLoader(field, [&](const auto& load) {
    const auto step = static_cast<size_t>(field.size);
    const size_t n = column.size() / step;
    auto least = load(column.data());
    auto greatest = least;
    for (size_t i = 0; i < n; ++i) {
      const auto value = load(column.data() + i * step);
      if (IsNone(field, value)) continue;
      if (values.count++ == 0) {
        least = greatest = value;
        first = last = i;
      }
      least = std::min(least, value);
      greatest = std::max(greatest, value);
      values.sum += static_cast<double>(value);
      if (times.empty()) {
        last = i;
      } else {
        if (times[i] < times[first]) first = i;
        if (times[i] >= times[last]) last = i;
      }
    }
    if (values.count == 0) return;
    values.min = static_cast<double>(least);
    values.max = static_cast<double>(greatest);
    values.first = static_cast<double>(load(column.data() + first * step));
    values.last = static_cast<double>(load(column.data() + last * step));
  });
  if (values.count > 0 && !times.empty()) {
    sum.first_time = times[first];
    sum.last_time = times[last];
  }
  return sum;
}

int64_t ChunkStats::min_time() const {
  return std::ranges::min_element(pieces, {}, &Piece::min_time)->min_time;
}
int64_t ChunkStats::max_time() const {
  return std::ranges::max_element(pieces, {}, &Piece::max_time)->max_time;
}
int64_t ChunkStats::nrecords() const {
  int64_t n = 0;
  for (const Piece& piece : pieces) n += piece.nrecords;
  return n;
}

bool CanBeTime(const Field& field) {
  return field.type == FieldType::kTimestamp || field.type == FieldType::kInt ||
         (field.type == FieldType::kUint && field.size < 8);
}

std::vector<int64_t> TimesOf(const Field& field, Bytes column) {
  const auto step = static_cast<size_t>(field.size);
  std::vector<int64_t> times(column.size() / step);
  VisitLoader(field, [&](const auto& load) {
    for (size_t i = 0; i < times.size(); ++i) {
      times[i] = static_cast<int64_t>(load(column.data() + i * step));
    }
  });
  return times;
}

ChunkStats MakeStats(const Schema& schema, const Field* time, const Columns& columns) {
  ChunkStats stats;
  std::vector<int64_t> times;
  std::vector<int64_t> cuts;
  if (time != nullptr) {
    times = TimesOf(*time, columns.fields[static_cast<size_t>(time - schema.fields().data())]);
    stats.in_order = std::ranges::is_sorted(times);
    if (stats.in_order && !times.empty()) cuts = ChooseCuts(*time, times);
  }
  cuts.push_back(columns.nrecords);
  int64_t begin = 0;
  for (const int64_t end : cuts) {
    stats.pieces.push_back(MakePiece(schema, times, columns, begin, end));
    begin = end;
  }
  return stats;
}

}  // namespace cairn::log
