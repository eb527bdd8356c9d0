// Frames that do not exist until their first commit.
#ifndef CAIRN_ENGINE_FRAME_COMMIT_CREATION_H_
#define CAIRN_ENGINE_FRAME_COMMIT_CREATION_H_

#include <memory>

#include "absl/status/statusor.h"

#include "engine/frame/commit/commit_backend.h"

namespace cairn::frame {

// The state that the frame begins with, and how its chunks are made.
struct CreationStart {
  std::shared_ptr<const State> state;
  StagerOptions options;
  FingerprintType fingerprint = FingerprintType::k64Bit;
};

absl::StatusOr<std::unique_ptr<CommitBackend>> CreateContiguous(CreationPlan plan,
                                                                CreationStart start);
// kInvalidArgument in memory.
absl::StatusOr<std::unique_ptr<CommitBackend>> CreateSparse(CreationPlan plan, CreationStart start);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_COMMIT_CREATION_H_
