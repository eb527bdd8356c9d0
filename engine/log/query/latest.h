// The latest record of each group.
#ifndef CAIRN_ENGINE_LOG_QUERY_LATEST_H_
#define CAIRN_ENGINE_LOG_QUERY_LATEST_H_

#include <memory>

#include "absl/status/statusor.h"

#include "cairn/log.h"
#include "engine/log/state/log_state.h"

namespace cairn::log {

// See LogSnapshot::Latest.
absl::StatusOr<LogBatch> FindLatest(const std::shared_ptr<const LogState>& state,
                                    const LogLatest& wanted);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_QUERY_LATEST_H_
