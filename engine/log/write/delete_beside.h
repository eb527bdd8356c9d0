// Deletes records of a log that another process may write.
#ifndef CAIRN_ENGINE_LOG_WRITE_DELETE_BESIDE_H_
#define CAIRN_ENGINE_LOG_WRITE_DELETE_BESIDE_H_

#include <chrono>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"

#include "cairn/log.h"
#include "engine/log/state/log_core.h"

namespace cairn::log {

// See Log::Delete.
absl::StatusOr<int64_t> DeleteBesideWriters(const std::shared_ptr<LogCore>& log, LogSelection which,
                                            std::chrono::milliseconds wait);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_WRITE_DELETE_BESIDE_H_
