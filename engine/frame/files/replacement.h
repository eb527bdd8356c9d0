// Locks and removes a frame whose name another one will take.
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

// While the result is held, no other writer writes the frame that was located there. Returns no
// file if there is nothing that has a lock. Errors: kUnavailable if a writer has the frame.
absl::StatusOr<HeldFiles> LockFromWriters(const FrameLocation& old);
// While the result is held, no reader reads the frame if it is sparse. Its chunk files will be
// removed, also those that only an older index names. A process that opens the frame waits only for
// a moment. The caller must hold the writer's lock, so that no index comes or goes. Errors:
// kUnavailable if a reader has the frame; kFailedPrecondition for a directory that holds other
// things than a frame.
absl::StatusOr<HeldFiles> LockFromReaders(const FrameLocation& old);
// Takes both kinds of locks of the frame at the path.
absl::StatusOr<HeldFiles> LockForReplacement(const std::shared_ptr<FileSystem>& files,
                                             const std::string& path);

// Returns the file at the path, or the index of the sparse frame there. Its attributes tell whose
// the frame is, and who may use it.
std::string FileOfFrame(FileSystem& files, const std::string& path);

// Returns true if a name in the directory of a sparse frame belongs to the frame.
bool BelongsToFrame(std::string_view name);

// Removes a file, or those files of a sparse frame's directory that belong to a frame, the index
// last. A file that cannot be removed stays.
void RemoveFrame(FileSystem& files, const std::string& path);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_FILES_REPLACEMENT_H_
