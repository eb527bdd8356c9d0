// The operating system's files as a kernel or a file system without renameat2 has them.
#ifndef CAIRN_ENGINE_STORAGE_POSIX_FILE_SYSTEM_H_
#define CAIRN_ENGINE_STORAGE_POSIX_FILE_SYSTEM_H_

#include <memory>

#include "cairn/file_system.h"

namespace cairn::storage {

std::unique_ptr<FileSystem> MakePosixFileSystem(bool has_renameat2);

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_POSIX_FILE_SYSTEM_H_
