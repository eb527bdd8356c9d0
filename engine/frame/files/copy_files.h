// Chooses the file system in which copies of frames are made.
#ifndef CAIRN_ENGINE_FRAME_FILES_COPY_FILES_H_
#define CAIRN_ENGINE_FRAME_FILES_COPY_FILES_H_

#include <memory>
#include <string>
#include <vector>

#include "cairn/copy_files.h"
#include "cairn/file_system.h"
#include "engine/frame/files/frame_location.h"

namespace cairn::frame {

// Returns the file system of the copy. If both are files of the operating system, the copy stays
// within the permissions of its source. Any other file system knows itself how open its files are.
std::shared_ptr<FileSystem> FilesForCopyOf(const FrameLocation& source,
                                           std::shared_ptr<FileSystem> target);

// Does so for a copy of several files and directories, which stays within the permissions of all of
// them, as far as they are there.
std::shared_ptr<FileSystem> FilesForCopyOf(const std::vector<std::string>& sources,
                                           std::shared_ptr<FileSystem> target);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_FILES_COPY_FILES_H_
