// Finds the files of a log: one frame, or a directory of frames with numbers.
#ifndef CAIRN_ENGINE_LOG_STATE_LOG_FILES_H_
#define CAIRN_ENGINE_LOG_STATE_LOG_FILES_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/file_system.h"

namespace cairn::log {

struct LogFile {
  int64_t number = 0;  // of the file; 0 for a log that is one frame
  std::string path;
  bool operator==(const LogFile&) const = default;
};

// Returns log.000017.b2frame in the directory.
LogFile FileOf(const std::string& directory, int64_t number);

// Returns true if the path is a directory, but not a sparse frame. Errors: kNotFound if there is
// nothing.
absl::StatusOr<bool> IsDirectory(FileSystem& files, const std::string& path);

// Makes an empty directory for a log, durably. An empty one that exists will do. Errors:
// kAlreadyExists if the path is anything else.
absl::Status MakeLogDirectory(FileSystem& files, const std::string& path);

// Returns the files of a log, the oldest first. While its writer begins files and removes old ones,
// some of those may be missing. Errors: kNotFound if there is none.
absl::StatusOr<std::vector<LogFile>> ListFiles(FileSystem& files, const std::string& directory);
// Returns the files beside which a process that died has perhaps left a temporary one.
absl::StatusOr<std::vector<LogFile>> ListUnfinished(FileSystem& files,
                                                    const std::string& directory);
// Errors: kDataLoss if a file is missing between others.
absl::Status CheckConsecutive(const std::string& directory, std::span<const LogFile> files);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_STATE_LOG_FILES_H_
