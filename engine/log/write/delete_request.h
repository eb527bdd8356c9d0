// Requests of another process to the writer of a log to delete records, in a file next to the log.
//
//   magic "CLRD" | version u32 | begin and end of the times, and of the numbers, each i64 | for
//   each filter: length u32, text
#ifndef CAIRN_ENGINE_LOG_WRITE_DELETE_REQUEST_H_
#define CAIRN_ENGINE_LOG_WRITE_DELETE_REQUEST_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/log.h"
#include "cairn/types.h"
#include "engine/log/state/log_core.h"

namespace cairn::log {

// Encodes the content of the file. Requests for the same records are equal: it does not matter
// which process left one.
std::vector<std::byte> EncodeDeletion(const LogSelection& which);
// Parses the content. Errors: kDataLoss for any other.
absl::StatusOr<LogSelection> ParseDeletion(Bytes content);

// Returns the content of the request that is there, or nothing. LeaveDeletion leaves one if there
// is none; see LeaveFile.
absl::StatusOr<std::optional<std::vector<std::byte>>> FindDeletion(const LogCore& log);
absl::Status LeaveDeletion(const LogCore& log, Bytes request, bool replace);
// Ends the request with this content.
absl::Status RemoveDeletion(const LogCore& log, Bytes request);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_WRITE_DELETE_REQUEST_H_
