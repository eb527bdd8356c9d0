// Commits to a frame that is one file. docs/guarantees.md gives the reason for each step.
//
// Chunks go into free space as they are staged (see FrameSpace), or after the committed end of the
// frame, back to back. Nothing refers to them, so a crash leaves the old state. A commit then
// writes
//   1. a commit record after the chunks, which says what the edits were; sync, if asked.
// It is part of the journal until a checkpoint writes
//   2. index and trailer after the journal, or in free space that no chunk follows; sync. Still
//      nothing refers to them.
//   3. the header's first sector, in one piece; sync. It alone moves the frame from the old
//      checkpoint to the new one, and 512 aligned bytes reach the disk all or not at all.
// A large checkpoint is written during the commits that follow; see CheckpointScheduler.
// The old index, trailer and records become dead bytes, and then free ones. Some states cannot be
// written that way: those of an empty frame, whose trailer must follow its header, and those that
// change the header after its first sector. They go into a new file, which takes the old one's
// name.
#ifndef CAIRN_ENGINE_FRAME_LAYOUT_CONTIGUOUS_BACKEND_H_
#define CAIRN_ENGINE_FRAME_LAYOUT_CONTIGUOUS_BACKEND_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "engine/frame/files/atomic_file.h"
#include "engine/frame/journal/journal_writer.h"
#include "engine/frame/layout/checkpoint_placer.h"
#include "engine/frame/layout/checkpoint_scheduler.h"
#include "engine/frame/layout/commit_backend.h"
#include "engine/frame/layout/relocation.h"
#include "engine/frame/space/frame_space.h"
#include "engine/frame/stage/snapshot_pins.h"

namespace cairn::frame {

class ContiguousBackend final : public CommitBackend {
 public:
  // The committed state must be durable because it was just published, or PersistBase must follow.
  // `journal` tells what the commits after the checkpoint did.
  ContiguousBackend(CommittedFrame frame, StagerOptions options,
                    const JournalFootprint& journal = {});

  absl::Status PersistBase() override;
  void Expect(Durability durability) override;
  absl::StatusOr<std::unique_ptr<Stager>> Stage() override;
  absl::Status Restart(bool failed) override;
  void PinStaged(const StatePtr& snapshot) override;
  bool IsPinned() const override { return pins_.any(); }
  absl::Status DropUnpinned() override;
  absl::Status Suspend() override;
  absl::StatusOr<bool> Resume(const WriterOptions& options) override;
  absl::Status PrepareCommit(Stager& stager, Durability durability) override;
  absl::Status PublishCommit(Stager& stager, Durability durability) override;
  absl::Status PublishPrepared(Stager& stager, Durability durability) override;
  bool IsWorthClosing(const Stager& stager) const override {
    return journal_.IsWorthClosing(stager);
  }
  absl::Status WriteCheckpoint(Stager& stager, Follows follows) override;
  absl::Status SyncCommitted() override { return journal_.SyncCommitted(); }
  absl::StatusOr<ReclaimReport> ReclaimSpace(const ReclaimOptions& options) override;
  absl::StatusOr<int64_t> Rewrite(std::unique_ptr<LiveCopy> begun, ChunkProgress progress) override;
  absl::Status DropUncommitted() override;
  bool needs_checkpoint() const override { return journal_.receipts().needs_checkpoint(); }

 private:
  absl::StatusOr<bool> MakeRoom(Stager& stager);
  // Returns the position of the next staged bytes.
  int64_t StageEnd() const;
  void UnpinCommitted();
  void BeginAfterCheckpoint(FrameSpace space, int64_t remains_end);
  absl::Status PlaceCheckpoint(const StagedState& staged, const CheckpointPlacer::Options& options);
  // Publishes the staged edits in a checkpoint in this file.
  absl::Status CommitInPlace(const StagedState& staged, const CheckpointPlacer::Options& options);
  absl::Status FlipToPlaced(const StagedState& staged);
  absl::StatusOr<AtomicFile> CopyWithReserve(Stager& stager, std::unique_ptr<LiveCopy> begun,
                                             ChunkProgress progress);
  absl::Status CommitToNewFile(Stager& stager, std::unique_ptr<LiveCopy> begun,
                               ChunkProgress progress);
  void HoldReserve();

  JournalWriter journal_;
  Relocation relocation_;
  CheckpointPlacer placer_;
  CheckpointScheduler scheduler_;
  bool is_prepared_ = false;                // PrepareCommit has written the staged edits
  std::optional<PlacedCheckpoint> placed_;  // a checkpoint that no header leads to yet
  SnapshotPins pins_;
  int64_t pinned_end_ = 0;  // staged bytes before this may be read by a snapshot that lives
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_LAYOUT_CONTIGUOUS_BACKEND_H_
