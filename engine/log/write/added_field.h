// Fields that are added to a log, and the file that takes the place of the only file of a log,
// whose records have one field more.
#ifndef CAIRN_ENGINE_LOG_WRITE_ADDED_FIELD_H_
#define CAIRN_ENGINE_LOG_WRITE_ADDED_FIELD_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "cairn/record.h"
#include "engine/log/state/log_core.h"
#include "engine/log/state/segment.h"

namespace cairn::log {

// Returns the files in which a copy of the log's file at `path` is open to the same users.
std::shared_ptr<FileSystem> FilesLike(const LogCore& log, const std::string& path);

// Checks the name of a field that a log gets. Logs that have another name already stay readable.
// Errors: kInvalidArgument if the name is not UTF-8, as dtypes are for Python.
absl::Status CheckNewName(const Field& field);

// Returns the fields of the log with another one after them. Errors: as for LogWriter::AddField.
absl::StatusOr<Schema> WithField(const Segment& newest, const Field& field);

// Returns the path of the only file of a log, whatever links lead to it.
std::string PathOfFile(const LogCore& log);
// Returns the path of the file that WriteWithFields writes.
std::string PathWithFields(const LogCore& log);
// Writes the only file of a log again, durably, next to it. The records have the fields of `wider`,
// which are those of the log and one more. Nothing changes for readers and writers.
absl::Status WriteWithFields(const LogCore& log, const Segment& newest, const Schema& wider);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_WRITE_ADDED_FIELD_H_
