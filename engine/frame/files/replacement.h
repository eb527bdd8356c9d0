// A frame whose name another one is about to take.
#ifndef CAIRN_ENGINE_FRAME_FILES_REPLACEMENT_H_
#define CAIRN_ENGINE_FRAME_FILES_REPLACEMENT_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "engine/frame/files/frame_location.h"

namespace cairn::frame {

// Files whose locks last as long as they are open.
using HeldFiles = std::vector<std::unique_ptr<File>>;

// While they are held no other writer writes the frame that was located there. kUnavailable. Empty
// when nothing is there that has a lock.
absl::StatusOr<HeldFiles> LockFromWriters(const FrameLocation& old);
// While they are held no reader reads it if it is sparse: its chunk files will be gone, those that
// only an older index names too. Who opens it waits for a moment only. For the holder of the
// writer's lock: then no index comes or goes. kUnavailable; kFailedPrecondition for a directory
// that holds other things than a frame.
absl::StatusOr<HeldFiles> LockFromReaders(const FrameLocation& old);
// Both, of the frame at the path.
absl::StatusOr<HeldFiles> LockForReplacement(const std::shared_ptr<FileSystem>& files,
                                             const std::string& path);

// The file at the path, or the index of the sparse frame there: what says whose the frame is, and
// who may use it.
std::string FileOfFrame(FileSystem& files, const std::string& path);

// Whether a name in the directory of a sparse frame is a part of it.
bool BelongsToFrame(std::string_view name);

// Removes a file, or of a sparse frame's directory what belongs to a frame, the index last. What
// cannot be removed stays.
void RemoveFrame(FileSystem& files, const std::string& path);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_FILES_REPLACEMENT_H_
