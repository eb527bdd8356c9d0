// Tells when an open file of the operating system changes.
#ifndef CAIRN_ENGINE_STORAGE_POSIX_WATCH_H_
#define CAIRN_ENGINE_STORAGE_POSIX_WATCH_H_

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"

#include "cairn/file_system.h"

namespace cairn::storage {

// Watches the file that `fd` is open for, whatever name it has. `path` is that of ErrnoStatus.
absl::StatusOr<std::unique_ptr<FileWatch>> WatchFile(int fd, std::string_view path);

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_POSIX_WATCH_H_
