// Inbox: what other processes ask the writer of a log for.
#ifndef CAIRN_ENGINE_LOG_WRITE_INBOX_H_
#define CAIRN_ENGINE_LOG_WRITE_INBOX_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cairn/log.h"
#include "engine/log/state/log_core.h"
#include "engine/log/write/limits_request.h"

namespace cairn::log {

// Finds the requests to the writer of a log, each of them once. A file that happens to have the
// name of a request is left alone, since it must not end a writer. Not thread-safe.
class Inbox {
 public:
  explicit Inbox(std::shared_ptr<LogCore> log) : log_(std::move(log)) {}

  // Returns true from time to time. Looking at each of many commits would cost as much as some of
  // the commits.
  bool ShouldLook();
  // Makes the next call of ShouldLook return true.
  void LookNext() { looked_at_.reset(); }
  // Returns true if there is a request.
  bool HasRequests() const { return FindLimits().has_value() || FindDeletion().has_value(); }
  std::optional<LimitsRequest> FindLimits() const;
  std::optional<LogSelection> FindDeletion() const;
  // Ends a request, which is carried out, whether its file can be removed or not.
  void End(const LimitsRequest& request);
  void End(const LogSelection& deletion);

 private:
  const std::shared_ptr<LogCore> log_;
  std::optional<std::chrono::steady_clock::time_point> looked_at_;
  // These were carried out, and are still there.
  std::optional<LimitsRequest> limits_;
  std::optional<std::vector<std::byte>> deletion_;
};

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_WRITE_INBOX_H_
