// Statistics of chunks as the vlmetalayers of a log hold them.
//
//   magic "CLGS" | version u32 | numbers u32 | first u64 | rows u64 | row …
//
//   row: fingerprint u64 | in order u8 | pieces u8 | piece …
//   piece: records varint | least time u64 | greatest minus least time varint | number …
//   number: count varint, and unless that is 0:
//     least, greatest, sum, first, last f64 | time of first minus least time varint |
//     greatest time minus time of last varint
#ifndef CAIRN_ENGINE_LOG_STATS_STATS_TABLE_H_
#define CAIRN_ENGINE_LOG_STATS_STATS_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/record.h"
#include "cairn/types.h"
#include "engine/log/stats/chunk_stats.h"

namespace cairn::log {

// Rows of chunks that follow each other. Chunks are counted from the log's very first, which may
// have been dropped.
struct StatsTable {
  int64_t first = 0;  // chunk of the first row
  int64_t nrows = 0;
  std::vector<std::byte> rows = {};  // encoded

  int64_t end() const { return first + nrows; }
  void Add(const ChunkStats& stats);
  // Adds the rows of a table that begins where this one ends.
  void Add(const StatsTable& more);
};

// Returns how many fields of a schema have statistics.
int64_t CountNumbers(const Schema& schema);

// Parses a table. Errors: kDataLoss unless it is the table of a log of such records.
absl::StatusOr<StatsTable> ParseStatsTable(const Schema& schema, Bytes content);
std::vector<std::byte> EncodeStatsTable(const Schema& schema, const StatsTable& table);

// Decodes the rows of chunks of `chunk_records` records each. Errors: kDataLoss for rows that no
// chunk can have.
absl::StatusOr<std::vector<ChunkStats>> DecodeRows(const Schema& schema, const StatsTable& table,
                                                   int64_t chunk_records);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_STATS_STATS_TABLE_H_
