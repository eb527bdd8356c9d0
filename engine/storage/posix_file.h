// Open files of the operating system.
#ifndef CAIRN_ENGINE_STORAGE_POSIX_FILE_H_
#define CAIRN_ENGINE_STORAGE_POSIX_FILE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "engine/storage/posix_fd.h"

namespace cairn::storage {

// The file that `fd` was opened for at `path`; `writable` says how. kFailedPrecondition unless it
// is a regular one.
absl::StatusOr<std::unique_ptr<File>> MakePosixFile(UniqueFd fd, std::string path, bool writable);

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_POSIX_FILE_H_
