// A frame whose name another one is about to take.
#ifndef CAIRN_ENGINE_FRAME_FILES_REPLACEMENT_H_
#define CAIRN_ENGINE_FRAME_FILES_REPLACEMENT_H_

#include <memory>
#include <string>
#include <string_view>
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
absl::StatusOr<HeldFiles> LockForReplacement(FileSystem* files, const std::string& path);

// The file at the path, or the index of the sparse frame there: what says whose the frame is, and
// who may use it.
std::string FileOfFrame(FileSystem& files, const std::string& path);

// Gives `from` the name `to` and makes that durable; `from` is emptied as soon as it has the name.
// With `replace`, what had that name is removed: a file, or a directory that LockForReplacement
// found to be a frame. If it cannot be made durable where `to` was free, the name is taken back,
// and `from` is the old one again once that is durable. Where it was not free the new one keeps the
// name, and a directory that it was swapped with the temporary one.
absl::Status PublishName(FileSystem* files, std::string& from, const std::string& to, bool replace);

// Whether a name in the directory of a sparse frame is a part of it.
bool BelongsToFrame(std::string_view name);

// Removes a sparse frame's directory, and whatever can be removed of it; the index last.
void RemoveSparseFrame(FileSystem* files, const std::string& path);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_FILES_REPLACEMENT_H_
