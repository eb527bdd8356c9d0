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
// A large checkpoint is written beside the commits that follow; see BackgroundCheckpoint.
// Old index, trailer and records become dead bytes, and then free ones. What cannot be done that
// way (an empty frame, whose trailer must follow its header; bytes that change after the first
// sector) is written to a new file that takes the old one's name.
#ifndef CAIRN_ENGINE_FRAME_LAYOUT_CONTIGUOUS_BACKEND_H_
#define CAIRN_ENGINE_FRAME_LAYOUT_CONTIGUOUS_BACKEND_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "engine/frame/files/atomic_file.h"
#include "engine/frame/journal/background_checkpoint.h"
#include "engine/frame/journal/journal_writer.h"
#include "engine/frame/layout/commit_backend.h"
#include "engine/frame/layout/relocation.h"
#include "engine/frame/space/frame_space.h"
#include "engine/frame/space/next_checkpoint_space.h"
#include "engine/frame/stage/snapshot_pins.h"
#include "engine/frame/sync/background_task.h"

namespace cairn::frame {

// A shrinking checkpoint leaves this many bytes of its room for the commits after it.
inline constexpr int64_t kLeastJournal = int64_t{4} << 10;

// A checkpoint, where its index begins, and what the file has free then.
struct PlacedCheckpoint {
  int64_t begin = 0;
  CheckpointBytes bytes;
  NextCheckpointSpace space;

  int64_t end() const { return begin + std::ssize(bytes.tail); }
};

class ContiguousBackend final : public CommitBackend {
 public:
  // All that is committed is durable: just published, or PersistBase follows. `journal` is what the
  // commits after the checkpoint did.
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
  absl::Status WriteCheckpoint(Stager& stager) override;
  absl::Status SyncCommitted() override { return journal_.SyncCommitted(); }
  absl::StatusOr<ReclaimReport> ReclaimSpace(const ReclaimOptions& options) override;
  absl::StatusOr<int64_t> Rewrite(std::unique_ptr<LiveCopy> begun, ChunkProgress progress) override;
  absl::Status DropUncommitted() override;
  bool needs_checkpoint() const override { return journal_.receipts().needs_checkpoint(); }

 private:
  absl::Status PersistOwed();

  // In contiguous_prepare.cc: the steps before a commit that are refused on a full disk.
  absl::Status MakeRoom(Stager& stager);

  // How much of a gradual checkpoint a commit does.
  static int64_t StepsFor(const StagedState& staged);
  absl::Status FollowGradually(const Stager& stager);
  bool FitsInPlace(const StagedState& staged) const;
  bool MayBeGradual(const StagedState& staged) const;
  bool MayBeAbove() const;
  std::optional<Extent> RoomBelow() const;
  absl::Status BeginGradual();
  absl::Status AdvanceGradual(int64_t steps);
  absl::Status AdvanceAndSumUp(const Stager& stager, int64_t steps);
  void DropGradual();
  void DropRetired();
  // Where the next commit goes, at least.
  int64_t JournalEnd() const;
  void BeginAfterCheckpoint(FrameSpace space, int64_t remains_end);
  int64_t MostBytes(const StagedState& staged, const NextCheckpointSpace& space,
                    const CheckpointPlan& plan) const;
  absl::StatusOr<PlacedCheckpoint> PlaceAt(int64_t begin, const StagedState& staged,
                                           NextCheckpointSpace space, CheckpointPlan plan) const;
  absl::StatusOr<std::optional<PlacedCheckpoint>> PlaceBelow(const StagedState& staged,
                                                             const NextCheckpointSpace& space,
                                                             CheckpointPlan plan) const;
  absl::StatusOr<PlacedCheckpoint> PlaceAbove(const StagedState& staged, NextCheckpointSpace space,
                                              const CheckpointPlan& plan) const;
  absl::Status WriteTail(const PlacedCheckpoint& placed);
  absl::StatusOr<PlacedCheckpoint> StoreTail(const StagedState& staged, const CheckpointPlan& plan);
  absl::Status PlaceCheckpoint(const StagedState& staged,
                               std::optional<uint64_t> oldest_generation);
  absl::Status FlipToPlaced(const StagedState& staged);
  absl::Status CommitInPlace(const StagedState& staged, std::optional<uint64_t> oldest_generation);
  absl::StatusOr<AtomicFile> CopyWithReserve(Stager& stager, std::unique_ptr<LiveCopy> begun,
                                             ChunkProgress progress);
  absl::Status CommitToNewFile(Stager& stager, std::unique_ptr<LiveCopy> begun,
                               ChunkProgress progress);

  // In space_reclaimer.cc.
  absl::Status ForgetBefore(uint64_t oldest_generation);
  absl::StatusOr<std::optional<uint64_t>> OldestKept(const ReclaimOptions& options) const;
  absl::StatusOr<bool> IsReadOutside(uint64_t oldest, uint64_t newest) const;
  absl::Status FindFree();
  absl::StatusOr<bool> MoveChunksDown(const FreeSpace::Slack& slack);
  bool CanShrink() const;
  absl::Status Shrink();
  absl::StatusOr<ReclaimReport> ReclaimByRewriting();

  absl::Status ReserveCheckpoint(const StagedState& staged, int64_t end);
  void HoldReserve();

  JournalWriter journal_;
  Relocation relocation_;
  std::unique_ptr<BackgroundCheckpoint> gradual_;  // while one is made
  std::shared_ptr<BackgroundCheckpoint> retired_;  // of the last one, with the states before it
  BackgroundTask dropping_;                        // that
  bool is_prepared_ = false;                // the staged edits: Restart drops what was written
  std::optional<PlacedCheckpoint> placed_;  // in the file, and no header leads to it yet
  bool must_be_whole_ = false;              // the next one: a gradual one was not finished
  SnapshotPins pins_;
  int64_t pinned_end_ = 0;  // staged bytes before this may be read by a snapshot that lives
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_LAYOUT_CONTIGUOUS_BACKEND_H_
