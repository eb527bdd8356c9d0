// The facts that a log knows about a chunk without decoding it.
#ifndef CAIRN_ENGINE_LOG_STATS_CHUNK_STATS_H_
#define CAIRN_ENGINE_LOG_STATS_CHUNK_STATS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "cairn/log.h"
#include "cairn/record.h"
#include "cairn/types.h"

namespace cairn::log {

// An aggregate of one field, which others can be merged into.
struct FieldSum {
  FieldAggregate values;
  int64_t first_time = 0;  // time of the value `first`
  int64_t last_time = 0;
};

// Adds the sum of records with greater numbers.
void Merge(FieldSum& sum, const FieldSum& more);
// Sums up the values of a field. `times` has the time of each. It is empty if records have none.
// Without values the sum is empty.
FieldSum SumUp(const Field& field, Bytes column, std::span<const int64_t> times);

// If a chunk's records are in the order of time, the chunk is cut at round times, such as full
// hours, into up to kMaxPieces. The buckets of an aggregation then consist of whole pieces.
inline constexpr int kMaxPieces = 4;

// Some records of a chunk, one after the other.
struct Piece {
  int32_t nrecords = 0;
  int64_t min_time = 0;  // 0 without a time field
  int64_t max_time = 0;
  std::vector<FieldSum> fields = {};  // for each number of the schema, in its order
};

struct ChunkStats {
  uint64_t fingerprint = 0;  // fingerprint of the chunk's stored bytes
  bool in_order = true;      // true if no record is earlier than the one before it
  std::vector<Piece> pieces = {};

  int64_t min_time() const;
  int64_t max_time() const;
  int64_t nrecords() const;
};

// The values of all fields of some records, each field by itself.
struct Columns {
  std::vector<std::vector<std::byte>> fields;
  int64_t nrecords = 0;
  // How many of the first records have no value, for each field. Empty if all have one.
  std::vector<int64_t> absent = {};

  int64_t AbsentOf(size_t field) const { return absent.empty() ? 0 : absent[field]; }
};

// Returns true if the field can hold times; see Field. Booleans, floats and bytes cannot.
bool CanBeTime(const Field& field);
std::vector<int64_t> TimesOf(const Field& field, Bytes column);

// Returns the statistics of one chunk. `time` is null if records have none.
ChunkStats MakeStats(const Schema& schema, const Field* time, const Columns& columns);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_STATS_CHUNK_STATS_H_
