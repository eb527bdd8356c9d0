// A frame whose name another one is about to take.
#ifndef CAIRN_ENGINE_FRAME_OLD_FRAME_H_
#define CAIRN_ENGINE_FRAME_OLD_FRAME_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"

namespace cairn::frame {

// Nobody else writes it, nor reads it if it is sparse: its chunk files will be gone. kUnavailable;
// kFailedPrecondition for a directory that holds other things than a frame. Null when nothing is
// there that has a lock.
absl::StatusOr<std::shared_ptr<File>> LockOldFrame(FileSystem* files, const std::string& path);

// Gives `from` the name `to`. With `replace`, what had that name is removed: a file, or a directory
// that LockOldFrame found to be a frame.
absl::Status TakeName(FileSystem* files, const std::string& from, const std::string& to,
                      bool replace);

// Removes a sparse frame's directory, and whatever can be removed of it.
void RemoveSparse(FileSystem* files, const std::string& path);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_OLD_FRAME_H_
