// What another process asks the writer of a log to keep, in a file beside the log.
//
//   magic "CLRQ" | version u32 | retention: age, records, bytes, each i64 | rotation: bytes,
//   period, each i64; -1: as it is
#ifndef CAIRN_ENGINE_LOG_WRITE_LIMITS_REQUEST_H_
#define CAIRN_ENGINE_LOG_WRITE_LIMITS_REQUEST_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/log.h"
#include "cairn/types.h"
#include "engine/log/state/log_core.h"

namespace cairn::log {

struct LimitsRequest {
  Retention retention = {.max_age = -1, .max_records = -1, .max_bytes = -1};
  Rotation rotation = {.max_bytes = -1, .period = -1};
  bool operator==(const LimitsRequest&) const = default;
};

// The content of the file. What is none is kDataLoss.
std::vector<std::byte> EncodeRequest(LimitsRequest request);
absl::StatusOr<LimitsRequest> ParseRequest(Bytes content);

// Returns true if the log can have such a file: it is none of an object store, where each look for
// one would be a request.
bool TakesRequests(const LogCore& log);

// Leaves a request, which has the limits of one that is there already where it has none itself.
// kPermissionDenied for a user whose requests the writer would not take; see FindRequest.
absl::Status LeaveRequest(const LogCore& log, LimitsRequest request);
// The request that is there. A file that is none is kDataLoss; one that is a link, or of a user who
// may not change the log, is kPermissionDenied.
absl::StatusOr<std::optional<LimitsRequest>> FindRequest(const LogCore& log);
// Ends a request whose limits are durable in the log, unless another has come since.
absl::Status RemoveRequest(const LogCore& log, const LimitsRequest& request);
// The limits with those of the request.
Retention Changed(Retention retention, const LimitsRequest& request);
Rotation Changed(Rotation rotation, const LimitsRequest& request);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_WRITE_LIMITS_REQUEST_H_
