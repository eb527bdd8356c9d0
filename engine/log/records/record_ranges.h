// Sets of records, as ranges of their numbers.
#ifndef CAIRN_ENGINE_LOG_RECORDS_RECORD_RANGES_H_
#define CAIRN_ENGINE_LOG_RECORDS_RECORD_RANGES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "cairn/log.h"

namespace cairn::log {

// All sets here are in order, and their ranges neither touch nor are empty.

// Returns how many records of the range are in the set.
int64_t CountIn(std::span<const RecordRange> set, const RecordRange& range);
inline bool Contains(std::span<const RecordRange> set, int64_t record) {
  return CountIn(set, {.begin = record, .end = record + 1}) > 0;
}
// Returns the part of the set that lies in the range.
std::vector<RecordRange> PartIn(std::span<const RecordRange> set, const RecordRange& range);
// Adds a range that begins at the end of the set or later.
void AddRange(std::vector<RecordRange>& set, const RecordRange& range);
std::vector<RecordRange> Union(std::span<const RecordRange> a, std::span<const RecordRange> b);
// Returns the records of `a` that are not in `b`.
std::vector<RecordRange> Difference(std::span<const RecordRange> a, std::span<const RecordRange> b);
// Returns the number of records.
int64_t CountAll(std::span<const RecordRange> set);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_RECORDS_RECORD_RANGES_H_
