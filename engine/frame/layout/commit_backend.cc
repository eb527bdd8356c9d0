#include "engine/frame/layout/commit_backend.h"

#include "engine/frame/files/frame_locks.h"

namespace cairn::frame {

absl::Status CommitBackend::Suspend() {
  frame_.peer_lock.reset();
  return frame_.file->UnlockByte(kWriterLockByte);
}

}  // namespace cairn::frame
