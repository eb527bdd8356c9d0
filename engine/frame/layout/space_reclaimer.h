// Frees the space of old states of a contiguous frame.
#ifndef CAIRN_ENGINE_FRAME_LAYOUT_SPACE_RECLAIMER_H_
#define CAIRN_ENGINE_FRAME_LAYOUT_SPACE_RECLAIMER_H_

#include <cstdint>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "cairn/reports.h"
#include "engine/frame/checkpoint/committed_frame.h"
#include "engine/frame/journal/journal_writer.h"
#include "engine/frame/layout/checkpoint_placer.h"
#include "engine/frame/layout/commit_backend.h"
#include "engine/frame/layout/relocation.h"
#include "engine/frame/space/free_space.h"

namespace cairn::frame {

// Carries out a call of Reclaim: makes checkpoints that forget old states, moves chunks so that the
// file can get shorter, and punches holes over the other free bytes. Not thread-safe.
class SpaceReclaimer {
 public:
  // Publishes the staged edits in a checkpoint in the same file, which forgets the states before
  // `oldest_generation`.
  using CommitInPlace =
      absl::FunctionRef<absl::Status(const StagedState& staged, uint64_t oldest_generation)>;
  // Keeps disk space after what is in the file.
  using HoldReserve = absl::FunctionRef<void()>;

  // `backend` is the backend of the frame, and the others are its parts. All must outlive this.
  // Nothing may be staged or owed to the disk, and no checkpoint may be in the making.
  SpaceReclaimer(CommitBackend& backend, JournalWriter& journal, Relocation& relocation,
                 const CheckpointPlacer& placer, CommitInPlace commit_in_place,
                 HoldReserve hold_reserve)
      : backend_(backend),
        frame_(backend.frame()),
        journal_(journal),
        relocation_(relocation),
        placer_(placer),
        commit_in_place_(commit_in_place),
        hold_reserve_(hold_reserve) {}

  absl::StatusOr<ReclaimReport> Reclaim(const ReclaimOptions& options);

 private:
  const State& base() const { return *frame_.state; }
  absl::Status ForgetBefore(uint64_t oldest_generation);
  absl::StatusOr<std::optional<uint64_t>> OldestKept(const ReclaimOptions& options) const;
  absl::StatusOr<bool> IsReadBefore(uint64_t oldest) const;
  absl::StatusOr<bool> IsReadAfter(uint64_t newest) const;
  absl::Status FindFree();
  absl::StatusOr<bool> MoveChunksDown(const FreeSpace::Slack& slack);
  absl::Status Shrink();
  absl::StatusOr<ReclaimReport> ReclaimByRewriting();

  CommitBackend& backend_;
  const CommittedFrame& frame_;
  JournalWriter& journal_;
  Relocation& relocation_;
  const CheckpointPlacer& placer_;
  const CommitInPlace commit_in_place_;
  const HoldReserve hold_reserve_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_LAYOUT_SPACE_RECLAIMER_H_
