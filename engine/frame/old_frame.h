// A frame whose name another one is about to take.
#ifndef CAIRN_ENGINE_FRAME_OLD_FRAME_H_
#define CAIRN_ENGINE_FRAME_OLD_FRAME_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"

namespace cairn::frame {

// Files whose locks last as long as they are open.
using HeldFiles = std::vector<std::unique_ptr<File>>;

// While they are held nobody else writes the frame, nor reads it if it is sparse: its chunk files
// will be gone, those that only an older index names too. kUnavailable; kFailedPrecondition for a
// directory that holds other things than a frame. Empty when nothing is there that has a lock.
absl::StatusOr<HeldFiles> LockOldFrame(FileSystem* files, const std::string& path);

// Gives `from` the name `to`, and empties `from` as soon as that is done. With `replace`, what had
// that name is removed: a file, or a directory that LockOldFrame found to be a frame. After a
// failure behind that step the old one stays, under a temporary name.
absl::Status TakeName(FileSystem* files, std::string& from, const std::string& to, bool replace);

// Removes a sparse frame's directory, and whatever can be removed of it.
void RemoveSparse(FileSystem* files, const std::string& path);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_OLD_FRAME_H_
