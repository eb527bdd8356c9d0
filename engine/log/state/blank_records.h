// Records without values, which stand for deleted ones.
#ifndef CAIRN_ENGINE_LOG_STATE_BLANK_RECORDS_H_
#define CAIRN_ENGINE_LOG_STATE_BLANK_RECORDS_H_

#include <cstdint>
#include <span>

#include "cairn/record.h"
#include "cairn/types.h"
#include "engine/log/records/record_ranges.h"
#include "engine/log/state/segment.h"

namespace cairn::log {

// Overwrites the records of a set, except their times, by which the others are found. `rows` are
// records of the segment from number `first` on.
void BlankRecords(const Segment& segment, std::span<const RecordRange> set, int64_t first,
                  MutableBytes rows);
// Overwrites the values of a field of these records, unless it is the time.
void BlankColumn(const Segment& segment, const Field& field, std::span<const RecordRange> set,
                 int64_t first, MutableBytes values);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_STATE_BLANK_RECORDS_H_
