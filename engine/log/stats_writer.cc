#include "engine/log/stats_writer.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "engine/log/log_layer.h"
#include "engine/log/stats_table.h"

namespace cairn::log {

namespace {

constexpr size_t kTables = std::size(kStatsLayers);
// Rows of a table that is full: a chunk's row is written about 16 times in each table, whatever the
// number of chunks.
constexpr std::array<int64_t, kTables> kMostRows = {32, 1024, std::numeric_limits<int64_t>::max()};
// The oldest rows go when there are more: they can be computed again.
constexpr size_t kMostBytes = 32 << 20;

using Tables = std::array<StatsTable, kTables>;

// Those that a frame has, the newest first; from the first one on that is damaged, or does not end
// where the one before begins, they count as empty.
Tables ReadTables(const Segment& segment) {
  Tables tables;
  int64_t end = segment.Ordinal(0);
  bool usable = true;
  for (size_t i = 0; i < kTables; ++i) {
    const auto content = segment.snapshot().GetVlmetalayer(kStatsLayers[i]);
    if (content.ok() && usable) {
      absl::StatusOr<StatsTable> table = ParseStatsTable(segment.schema(), *content);
      usable = table.ok() && (i == 0 || table->end() == end);
      if (usable) tables[i] = *std::move(table);
    }
    if (tables[i].nrows == 0) tables[i].first = end;
    end = tables[i].first;
  }
  return tables;
}

void Add(StatsTable& to, const StatsTable& more) {
  if (to.nrows == 0) to.first = more.first;
  to.Add(more);
}

// Leaves the rows from a chunk on. What does not decode is of no use.
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
  Tables tables = ReadTables(staged);
  // Another program has changed the frame: `added` begins with its first chunk.
  if (tables[0].end() != added.first) {
    tables = {};
    for (StatsTable& table : tables) table.first = added.first;
  }
  std::array<bool, kTables> changed = {true};
  Add(tables[0], added);
  for (size_t i = 0; i + 1 < kTables && tables[i].nrows > kMostRows[i]; ++i) {
    Add(tables[i + 1], tables[i]);
    tables[i] = {.first = tables[i + 1].end()};
    changed[i + 1] = true;
  }
  StatsTable& oldest = tables[kTables - 1];
  if (changed[kTables - 1]) {
    const int64_t middle = oldest.first + oldest.nrows / 2;
    const bool too_large = oldest.rows.size() > kMostBytes;
    DropBefore(staged, too_large ? middle : staged.Ordinal(0), oldest);
  }
  for (size_t i = 0; i < kTables; ++i) {
    if (!changed[i]) continue;
    CAIRN_RETURN_IF_ERROR(
        writer.SetVlmetalayer(kStatsLayers[i], EncodeStatsTable(staged.schema(), tables[i])));
  }
  return absl::OkStatus();
}

int64_t FirstWithoutStats(const Segment& segment) {
  const int64_t complete = segment.nrecords() / segment.chunk_records();
  return std::clamp<int64_t>(ReadTables(segment)[0].end() - segment.Ordinal(0), 0, complete);
}

}  // namespace cairn::log
