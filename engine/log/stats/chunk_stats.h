// What a log knows of a chunk without decoding it.
#ifndef CAIRN_ENGINE_LOG_STATS_CHUNK_STATS_H_
#define CAIRN_ENGINE_LOG_STATS_CHUNK_STATS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "cairn/log.h"
#include "cairn/record.h"
#include "cairn/types.h"

namespace cairn::log {

// An aggregate of one field that others can be merged with.
struct FieldSum {
  FieldAggregate values;
  int64_t first_time = 0;  // of the value `first`
  int64_t last_time = 0;
};

// Adds records of greater numbers.
void Merge(FieldSum& sum, const FieldSum& more);
// Sums up the values of a field. `times` has the time of each; empty where records have none.
FieldSum SumUp(const Field& field, Bytes column, std::span<const int64_t> times);

// Where a chunk's records are in the order of time, it is cut at round times, such as full hours,
// into up to kMaxPieces: then buckets of an aggregation are made of whole pieces.
inline constexpr int kMaxPieces = 4;

// Some records of a chunk, one after the other.
struct Piece {
  int32_t nrecords = 0;
  int64_t min_time = 0;  // 0 without a time field
  int64_t max_time = 0;
  std::vector<FieldSum> fields = {};  // of each number of the schema, in its order
};

struct ChunkStats {
  uint64_t fingerprint = 0;  // of the chunk's stored bytes
  bool in_order = true;      // no record is earlier than the one before it
  std::vector<Piece> pieces = {};

  int64_t min_time() const;
  int64_t max_time() const;
  int64_t nrecords() const;
};

// The values of all fields of some records, each field by itself.
struct Columns {
  std::vector<std::vector<std::byte>> fields;
  int64_t nrecords = 0;
};

// What lies in columns of times; see Field. Booleans, floats and bytes are no times.
bool CanBeTime(const Field& field);
std::vector<int64_t> TimesOf(const Field& field, Bytes column);

// Of one chunk; `time` is null where records have none.
ChunkStats MakeStats(const Schema& schema, const Field* time, const Columns& columns);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_STATS_CHUNK_STATS_H_
