// Brings the statistics of new chunks into a log's frame.
#ifndef CAIRN_ENGINE_LOG_WRITE_STATS_WRITER_H_
#define CAIRN_ENGINE_LOG_WRITE_STATS_WRITER_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"

#include "cairn/writer.h"
#include "engine/log/state/segment.h"

namespace cairn::log {

// Stages the statistics of the complete chunks of `staged`, the writer's StagedSnapshot, from
// number `first` on. That is the first chunk without statistics, or 0 to make all again.
absl::Status AddStats(const Segment& staged, int64_t first, Writer& writer);

// Stages the statistics of chunks of `staged` that were overwritten, where they are in a table.
// `chunks` are in order.
absl::Status ReplaceStats(const Segment& staged, std::span<const int64_t> chunks, Writer& writer);

// Returns the first complete chunk after those that have statistics.
int64_t FirstWithoutStats(const Segment& segment);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_WRITE_STATS_WRITER_H_
