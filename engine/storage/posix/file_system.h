// The operating system's files as a kernel or a file system without renameat2 has them.
#ifndef CAIRN_ENGINE_STORAGE_POSIX_FILE_SYSTEM_H_
#define CAIRN_ENGINE_STORAGE_POSIX_FILE_SYSTEM_H_

#include <memory>

#include "cairn/file_system.h"
#include "engine/storage/posix/attributes.h"

namespace cairn::storage {

std::unique_ptr<FileSystem> MakePosixFileSystem(bool has_renameat2);

// The operating system's files, where what is made is open to nobody to whom the limits do not open
// it, from its first moment on.
std::shared_ptr<FileSystem> MakeLimitedFiles(Limits limits);

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_POSIX_FILE_SYSTEM_H_
