// Files next to a log in which other processes leave requests to its writer.
#ifndef CAIRN_ENGINE_LOG_WRITE_REQUEST_FILE_H_
#define CAIRN_ENGINE_LOG_WRITE_REQUEST_FILE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "engine/log/state/log_core.h"

namespace cairn::log {

// Returns true if the log can have such files. A log in an object store cannot, because each look
// for a file would be a request.
bool TakesRequests(const LogCore& log);
// Returns the path of the requests of this kind: NAME.request, or log.request in a directory. NAME
// is that of the file itself, whatever links lead to it.
std::string RequestPath(const LogCore& log, std::string_view kind);

// Leaves a request, durably.
// Errors: kUnimplemented for a log in an object store; kAlreadyExists if there is one and `replace`
// is false; kPermissionDenied for a user whose requests the writer would not take; see FindFile.
absl::Status LeaveFile(const LogCore& log, std::string_view kind, Bytes content, bool replace);
// Returns the request, up to its first `max_size` bytes, or nothing if there is none.
// Errors: kPermissionDenied if it is a link, or of a user who may not change the log.
absl::StatusOr<std::optional<std::vector<std::byte>>> FindFile(const LogCore& log,
                                                               std::string_view kind,
                                                               int64_t max_size);
// Removes a request if there is one.
absl::Status RemoveFile(const LogCore& log, std::string_view kind);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_WRITE_REQUEST_FILE_H_
