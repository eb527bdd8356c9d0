// Keeps programs of C-Blosc2's locking protocol from a frame that is written.
#ifndef CAIRN_ENGINE_FRAME_FILES_PEER_LOCK_H_
#define CAIRN_ENGINE_FRAME_FILES_PEER_LOCK_H_

#include <optional>

#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "engine/frame/files/frame_location.h"
#include "engine/storage/lock_file.h"

namespace cairn::frame {

// The lock on C-Blosc2's lock file, if it is in use. kUnavailable.
absl::StatusOr<std::optional<storage::LockFile>> TakePeerLock(const FrameLocation& location,
                                                              const WriterOptions& options);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_FILES_PEER_LOCK_H_
