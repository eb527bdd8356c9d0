// The operating system's files, with limits or without renameat2.
#ifndef CAIRN_ENGINE_STORAGE_POSIX_FILE_SYSTEM_H_
#define CAIRN_ENGINE_STORAGE_POSIX_FILE_SYSTEM_H_

#include <memory>

#include "cairn/file_system.h"
#include "engine/storage/posix/attributes.h"

namespace cairn::storage {

std::shared_ptr<FileSystem> MakePosixFileSystem(bool has_renameat2);

// Returns the operating system's files. Every file that is made through it is, from its first
// moment on, open only to users to whom the limits open it.
std::shared_ptr<FileSystem> MakeLimitedFiles(Limits limits);

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_POSIX_FILE_SYSTEM_H_
