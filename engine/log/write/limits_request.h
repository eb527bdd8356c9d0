// Requests of another process to the writer of a log to change its limits, in a file next to the
// log.
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

// Encodes the content of the file. ParseRequest returns kDataLoss for any other content.
std::vector<std::byte> EncodeRequest(LimitsRequest request);
absl::StatusOr<LimitsRequest> ParseRequest(Bytes content);

// Leaves a request. Limits that it does not set are taken from a request that is already there.
// Errors: kPermissionDenied for a user whose requests the writer would not take; see
// request_file.h.
absl::Status LeaveRequest(const LogCore& log, LimitsRequest request);
// Returns the request that is there. Errors: kDataLoss if the file is not a request;
// kPermissionDenied if it is a link, or of a user who may not change the log.
absl::StatusOr<std::optional<LimitsRequest>> FindRequest(const LogCore& log);
// Ends a request whose limits are durable in the log, unless another has come since.
absl::Status RemoveRequest(const LogCore& log, const LimitsRequest& request);
// Returns the limits with those of the request.
Retention Changed(Retention retention, const LimitsRequest& request);
Rotation Changed(Rotation rotation, const LimitsRequest& request);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_WRITE_LIMITS_REQUEST_H_
