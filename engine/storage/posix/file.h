// Open files of the operating system.
#ifndef CAIRN_ENGINE_STORAGE_POSIX_FILE_H_
#define CAIRN_ENGINE_STORAGE_POSIX_FILE_H_

#include <memory>
#include <string>

#include "cairn/file_system.h"
#include "engine/storage/posix/kept_descriptors.h"

namespace cairn::storage {

// The file that `fd`, a regular one, was opened for at `path`. A file that is `of_frames` lies in a
// directory of frames, where other programs have nothing to do.
std::unique_ptr<File> MakePosixFile(GuardedFd fd, std::string path, bool of_frames);

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_POSIX_FILE_H_
