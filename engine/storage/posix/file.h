// Open files of the operating system.
#ifndef CAIRN_ENGINE_STORAGE_POSIX_FILE_H_
#define CAIRN_ENGINE_STORAGE_POSIX_FILE_H_

#include <memory>
#include <string>

#include "cairn/file_system.h"
#include "engine/storage/posix/kept_descriptors.h"

namespace cairn::storage {

// Makes the File of `fd`, a regular file that was opened at `path`. If `of_frames` is true, the
// file lies in a directory of frames, which other programs do not use.
std::unique_ptr<File> MakePosixFile(GuardedFd fd, std::string path, bool of_frames);

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_POSIX_FILE_H_
