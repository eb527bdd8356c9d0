// Keeps programs of C-Blosc2's locking protocol from a frame that is written.
#ifndef CAIRN_ENGINE_FRAME_FILES_PEER_LOCK_H_
#define CAIRN_ENGINE_FRAME_FILES_PEER_LOCK_H_

#include <memory>

#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "cairn/options.h"
#include "engine/frame/files/frame_location.h"

namespace cairn::frame {

// C-Blosc2's lock file, which holds the lock while it is open; null if it is not in use.
// kUnavailable.
absl::StatusOr<std::unique_ptr<File>> TakePeerLock(const FrameLocation& location,
                                                   const WriterOptions& options);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_FILES_PEER_LOCK_H_
