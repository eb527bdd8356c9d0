// Sums of records by time.
#ifndef CAIRN_ENGINE_LOG_QUERY_AGGREGATE_H_
#define CAIRN_ENGINE_LOG_QUERY_AGGREGATE_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/log.h"
#include "engine/log/state/log_state.h"

namespace cairn::log {

// See LogSnapshot::Aggregate.
absl::StatusOr<std::vector<LogBucket>> Aggregate(const std::shared_ptr<const LogState>& state,
                                                 const LogAggregation& aggregation);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_QUERY_AGGREGATE_H_
