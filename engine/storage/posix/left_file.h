// Files that one process leaves for another process, which writes a file.
#ifndef CAIRN_ENGINE_STORAGE_POSIX_LEFT_FILE_H_
#define CAIRN_ENGINE_STORAGE_POSIX_LEFT_FILE_H_

#include <string>

#include "absl/status/statusor.h"

#include "cairn/file_system.h"

namespace cairn::storage {

// See FileSystem::IdentityOfLeft. `directory` is that of fstatat.
absl::StatusOr<FileIdentity> IdentityOfLeftFile(int directory, const std::string& path,
                                                const std::string& other);

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_POSIX_LEFT_FILE_H_
