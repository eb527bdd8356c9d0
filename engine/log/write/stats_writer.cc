#include "engine/log/write/stats_writer.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "engine/log/state/log_layer.h"
#include "engine/log/stats/stats_table.h"

namespace cairn::log {

namespace {

constexpr size_t kTables = std::size(kStatsLayers);
// The rows of a full table. A chunk's row is written about 16 times in each table, whatever the
// number of chunks is.
constexpr std::array<int64_t, kTables> kMostRows = {32, 1024, std::numeric_limits<int64_t>::max()};
// If there are more bytes, the oldest rows are dropped, because they can be computed again.
constexpr size_t kMostBytes = 32 << 20;

// Returns a table of a frame, or an empty one at `end` if there is none, it is damaged, or it does
// not end there.
StatsTable ReadTable(const Segment& segment, size_t i, int64_t end) {
  const auto content = segment.snapshot().GetVlmetalayer(kStatsLayers[i]);
  if (content.ok()) {
    absl::StatusOr<StatsTable> table = ParseStatsTable(segment.schema(), *content);
    if (table.ok() && table->end() == end) return *std::move(table);
  }
  return {.first = end};
}

// Drops the rows before a chunk. Rows that cannot be decoded are dropped too.
void DropBefore(const Segment& segment, int64_t chunk, StatsTable& table) {
  const auto rows = DecodeRows(segment.schema(), table, segment.chunk_records());
  StatsTable kept = {.first = std::clamp(chunk, table.first, table.end())};
  for (int64_t i = kept.first; rows.ok() && i < table.end(); ++i) {
    kept.Add((*rows)[static_cast<size_t>(i - table.first)]);
  }
  table = std::move(kept);
}

}  // namespace

absl::Status AddStats(const Segment& staged, int64_t first, Writer& writer) {
  const int64_t complete = staged.nrecords() / staged.chunk_records();
  if (first >= complete) return absl::OkStatus();
  StatsTable added = {.first = staged.Ordinal(first)};
  for (int64_t n = first; n < complete; ++n) {
    CAIRN_ASSIGN_OR_RETURN(const ChunkStatsPtr stats, staged.StatsOf(n));
    added.Add(*stats);
  }
  const auto write = [&](size_t i, const StatsTable& table) {
    return writer.SetVlmetalayer(kStatsLayers[i], EncodeStatsTable(staged.schema(), table));
  };
  // The large tables are read when a smaller one is full, and not for each chunk.
  size_t i = 0;
  StatsTable table = ReadTable(staged, i, added.first);
  table.Add(added);
  for (; i + 1 < kTables && table.nrows > kMostRows[i]; ++i) {
    CAIRN_RETURN_IF_ERROR(write(i, {.first = table.end()}));
    StatsTable next = ReadTable(staged, i + 1, table.first);
    next.Add(table);
    table = std::move(next);
  }
  if (i == kTables - 1) {
    const int64_t middle = table.first + table.nrows / 2;
    const bool too_large = table.rows.size() > kMostBytes;
    DropBefore(staged, too_large ? middle : staged.Ordinal(0), table);
  }
  return write(i, table);
}

absl::Status ReplaceStats(const Segment& staged, std::span<const int64_t> chunks, Writer& writer) {
  for (const std::string_view name : kStatsLayers) {
    const auto content = staged.snapshot().GetVlmetalayer(name);
    if (!content.ok()) continue;
    const absl::StatusOr<StatsTable> table = ParseStatsTable(staged.schema(), *content);
    if (!table.ok()) continue;
    const auto begin = std::ranges::lower_bound(chunks, table->first - staged.Ordinal(0));
    const auto end = std::ranges::lower_bound(chunks, table->end() - staged.Ordinal(0));
    if (begin == end) continue;
    auto rows = DecodeRows(staged.schema(), *table, staged.chunk_records());
    if (!rows.ok()) continue;
    for (const int64_t nchunk : std::span(begin, end)) {
      CAIRN_ASSIGN_OR_RETURN(const ChunkStatsPtr stats, staged.StatsOf(nchunk));
      (*rows)[static_cast<size_t>(staged.Ordinal(nchunk) - table->first)] = *stats;
    }
    StatsTable replaced = {.first = table->first};
    for (const ChunkStats& row : *rows) replaced.Add(row);
    CAIRN_RETURN_IF_ERROR(writer.SetVlmetalayer(name, EncodeStatsTable(staged.schema(), replaced)));
  }
  return absl::OkStatus();
}

int64_t FirstWithoutStats(const Segment& segment) {
  const int64_t complete = segment.nrecords() / segment.chunk_records();
  const auto content = segment.snapshot().GetVlmetalayer(kStatsLayers[0]);
  if (!content.ok()) return 0;
  const absl::StatusOr<StatsTable> newest = ParseStatsTable(segment.schema(), *content);
  if (!newest.ok()) return 0;
  return std::clamp<int64_t>(newest->end() - segment.Ordinal(0), 0, complete);
}

}  // namespace cairn::log
