// Frames that do not exist until their first commit.
#ifndef CAIRN_ENGINE_FRAME_COMMIT_CREATION_H_
#define CAIRN_ENGINE_FRAME_COMMIT_CREATION_H_

#include <memory>

#include "absl/status/statusor.h"

#include "engine/frame/commit/commit_backend.h"

namespace cairn::frame {

struct CreationPlan {
  FrameLocation final_location;        // where the frame is found from the first commit on
  std::shared_ptr<const State> state;  // that it begins with
  StagerOptions options;
  FingerprintType fingerprint = FingerprintType::k64Bit;
  bool replace = false;  // it may take the name of another
  bool plain = false;    // it has none of Cairn's layers
  bool array = false;    // it begins as an n-dimensional array of zeros
};

// Succeeded by the backend of its layout at the first checkpoint. kInvalidArgument for a sparse
// frame in memory.
absl::StatusOr<std::unique_ptr<CommitBackend>> BeginCreation(CreationPlan plan);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_COMMIT_CREATION_H_
