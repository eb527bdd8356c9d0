// Marks a failed status with what the step has left behind.
#ifndef CAIRN_ENGINE_FRAME_CHECKPOINT_COMMIT_FAILURES_H_
#define CAIRN_ENGINE_FRAME_CHECKPOINT_COMMIT_FAILURES_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/cord.h"

#include "engine/frame/stage/stager.h"

namespace cairn::frame {

// Marks the failure of a step that changed nothing that is committed: the backend stays usable.
inline constexpr char kRefusal[] = "cairn/refused";
inline absl::Status Refuse(absl::Status status) {
  status.SetPayload(kRefusal, absl::Cord());
  return status;
}
// Marks the failure of a step after a commit that stands. The caller is told of the commit, and the
// writer stops.
inline constexpr char kCommitted[] = "cairn/committed";
inline absl::Status AfterCommit(absl::Status status) {
  status.SetPayload(kCommitted, absl::Cord());  // does nothing to a success
  return status;
}
// Marks a full disk as a refusal. For steps that only stage something.
inline absl::Status RefuseIfFull(absl::Status status) {
  return absl::IsResourceExhausted(status) ? Refuse(std::move(status)) : status;
}
inline absl::Status Finish(Stager& stager) { return RefuseIfFull(stager.Finish()); }

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_CHECKPOINT_COMMIT_FAILURES_H_
