// Where a log lives: one frame, or a directory of frames with numbers.
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
  int64_t number = 0;  // of the file; 0 of a log that is one frame
  std::string path;
  bool operator==(const LogFile&) const = default;
};

// log.000017.b2frame in the directory.
LogFile FileOf(const std::string& directory, int64_t number);

// Whether the path is a directory that is no sparse frame. kNotFound when nothing is there.
absl::StatusOr<bool> IsDirectory(FileSystem& files, const std::string& path);

// An empty directory for a log, durable; one that is there already will do. kAlreadyExists.
absl::Status MakeLogDirectory(FileSystem& files, const std::string& path);

// The files of a log, the oldest first. kNotFound where there is none. While its writer begins
// files and removes old ones, some of those may be missing.
absl::StatusOr<std::vector<LogFile>> ListFiles(FileSystem& files, const std::string& directory);
// kDataLoss where one is missing between others.
absl::Status CheckConsecutive(const std::string& directory, std::span<const LogFile> files);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_STATE_LOG_FILES_H_
