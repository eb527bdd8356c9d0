// Writes the journal after a checkpoint, in a contiguous frame and in the index of a sparse one.
// docs/guarantees.md gives the reason for each step.
#ifndef CAIRN_ENGINE_FRAME_JOURNAL_JOURNAL_WRITER_H_
#define CAIRN_ENGINE_FRAME_JOURNAL_JOURNAL_WRITER_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/frame/checkpoint/checkpoint_policy.h"
#include "engine/frame/checkpoint/commit_failures.h"
#include "engine/frame/checkpoint/committed_frame.h"
#include "engine/frame/journal/background_checkpoint.h"
#include "engine/frame/replay/replay.h"
#include "engine/frame/replay/summary.h"
#include "engine/frame/space/disk_reserve.h"
#include "engine/frame/space/frame_space.h"
#include "engine/frame/stage/contiguous_sink.h"
#include "engine/frame/sync/background_task.h"

namespace cairn::frame {

// The next writer reads and writes again what is perhaps not durable: more than that is synced.
inline constexpr int64_t kMostUnsynced = int64_t{64} << 20;

// Not thread-safe. After a step that fails and is not refused nothing more may be called.
class JournalWriter {
 public:
  // Of the file of `frame`, which must outlive this. All that is committed is durable, or Persist
  // follows. `journal` is what the commits after the checkpoint did.
  JournalWriter(CommittedFrame& frame, FrameSpace space, const JournalFootprint& journal);

  // What comes next is written at `position`, after every committed byte, or into free space.
  void StageAt(int64_t position);
  // The journal goes on after these bytes, which are for a checkpoint.
  void SetAside(const Extent& region);
  // What was staged in free space is free again, or dead if a snapshot reads it.
  void ReturnStaged(bool is_pinned);
  const ContiguousSink& sink() const { return *sink_; }
  ContiguousSink& sink() { return *sink_; }
  const FrameSpace& space() const { return space_; }
  FrameSpace& space() { return space_; }
  // The space when what is staged is committed.
  FrameSpace SpaceWith(const StagedState& staged) const;
  // A checkpoint was written, and is durable. Old states may lie after it, as far as
  // `remains_end`.
  void BeginAfterCheckpoint(FrameSpace space, int64_t remains_end);
  // The file is another one.
  void ForgetHeadroom();
  int64_t remains_end() const { return remains_end_; }

  // Cuts what follows the journal, and writes once more what may be in the page cache alone; a sync
  // follows.
  absl::Status Persist();
  // Returns true if Owe can take the place of Persist and the sync that follows it.
  absl::StatusOr<bool> MayOwe() const;
  // Leaves them to the first sync. Until then the writer only appends to the file, so that whatever
  // header is on the disk finds all that it needs. Without `header_too` the header is as durable as
  // it was, and only the commits are owed.
  void Owe(bool header_too = true);
  // Syncs what is owed before bytes of the file are overwritten. Returns false if AvoidSyncs
  // forbids that: then nothing may be overwritten.
  absl::StatusOr<bool> MayReuse();
  // Says that the next commit does without free space rather than wait for a sync.
  void AvoidSyncs(bool avoid) { avoids_syncs_ = avoid; }
  // Leaves a new receipt of this boot after the journal: all its commits are durable. The last one
  // may be the only trace of an acknowledged commit.
  absl::Status WriteReceipt();
  // There was no room for that receipt: a checkpoint has to do.
  bool needs_checkpoint() const { return needs_checkpoint_; }
  // Where the journal ends with the record that says so, if there is room for it.
  int64_t EndWithMark() const;
  // Another checkpoint is durable, and `before`, whose journal ends at `end`, leads to it no more.
  // Says so there. If a disk loses the header that was written, this shows what is missing.
  absl::Status MarkEnded(const State& before, int64_t end);
  // A checkpoint that inherits the journal of the one before is durable.
  void ContinueAfterCheckpoint(SummaryProgress summaries);
  // A shrinking checkpoint is durable, with all commits in a journal of its own. The old journal
  // ended where this one does.
  absl::Status ContinueBelow(const State& before);
  // What readers left since the last time becomes free, and the file as short as the frame.
  absl::Status TidyUp();
  // The same of all that there is, however long that takes.
  absl::Status TidyUpAll();
  // The same, in small steps; most commits do without.
  absl::Status TidyUpNowAndThen();
  // A scan of all chunks has found what is free.
  void SetFree(std::span<const Extent> extents) { space_.SetFree(extents); }
  // Shortens the file, unless a reader maps what lies after `end`. What an earlier checkpoint left
  // there waits for its readers; the rest was never committed.
  absl::Status CutAt(int64_t end);
  // The same; and what was staged after `end` is gone in any case: readers that skipped these
  // chunks must not take them for those of the next commit.
  absl::Status DropAfter(int64_t end);
  // Readers that look for the next commit stop there, whatever was there before.
  absl::Status MarkEnd(int64_t position);

  // With what is staged: a checkpoint is due.
  bool IsLong(const StagedState& staged) const { return IsLong(staged, 1, 0); }
  // It has been for `patience` times as long, though `set_aside` bytes of the journal are for it.
  bool IsLong(const StagedState& staged, int64_t patience, int64_t set_aside) const;
  // Close is to write one. What is staged has chunk files of so many bytes.
  bool IsWorthClosing(const Stager& stager, int64_t file_bytes = 0) const;
  // After another writer may have had the frame: takes over what it committed, and moves on to it.
  // False where that takes opening anew: nothing can be said without reading more.
  absl::StatusOr<bool> CatchUp();
  // Whether all that is committed is durable, as far as is known: by a sync of this writer, or by a
  // receipt of this boot.
  bool IsDurable() const;
  // The next commit goes after what was followed. What of that is perhaps not durable is owed.
  absl::Status Resume();
  // Leaves the receipt that threads which wait for a sync do not write.
  absl::Status WriteReceiptOfSyncs();

  // Refuses edits that leave the frame no smaller, and too little room for the next checkpoint
  // within the limit of the writer. Other files of the frame have so many bytes.
  absl::Status CheckLimit(const Stager& stager, int64_t other_bytes = 0) const;
  // Reserves space for a commit, the checkpoint that follows it, and what that one leaves. Refused
  // when the disk is full, or when they would pass the limit of the writer. Other files of the
  // frame have so many bytes.
  absl::Status Reserve(const Stager& stager, int64_t other_bytes = 0);
  // Makes everything in the file durable: what was staged there, and the commits up to that one.
  absl::Status Sync(uint64_t generation);
  // Bytes of commits, and of what is staged in the file, that are perhaps not durable.
  int64_t UnsyncedBytes();
  // Whether the staged edits can become a commit record where the journal ends.
  bool HasRoomForCommit(const Stager& stager);
  // The staged edits become a commit, whose chunk files have so many bytes. False, and nothing was
  // written, when that takes a record that is too large.
  absl::StatusOr<bool> Publish(Stager& stager, Durability durability, int64_t file_bytes = 0);
  // Makes durable what is committed.
  absl::Status SyncCommitted();
  // After a commit: sums up the journal where that is due, so that readers that open the frame skip
  // it. `stager` has nothing staged; the committed state is another one then.
  absl::Status SumUp(const Stager& stager);
  // The same for the readers that a checkpoint made beside commits is going to have, before it goes
  // on. Whether it took a part of that.
  absl::StatusOr<bool> SumUpFor(BackgroundCheckpoint& next, const Stager& stager);

 private:
  const State& base() const { return *frame_.state; }
  // Without bytes of the journal that are for the next checkpoint.
  JournalLoad LoadBut(int64_t set_aside) const;
  absl::Status CutSome();
  absl::Status CutUnread(int64_t end);
  bool HasRoomFor(int64_t size);
  bool HasRoomForRecord(int64_t size);
  void SetRoom();
  void Release(int64_t most = INT64_MAX);
  void NoteStaged(const StagedState& staged, FrameSpace& space) const;
  absl::StatusOr<bool> EndsAt(int64_t end, JournalReader& reader) const;
  absl::Status BoundUnsynced();
  // Whether the header on the disk may be another one.
  bool OwesHeader();
  void WriteZerosAhead();
  void NoteReused(int64_t durable_end, int64_t record_end);
  absl::Status InstallCommit(Stager& stager, const CommitStep& step);
  absl::Status RenewReceipt();
  // In journal_summarizer.cc.
  bool NeedsAnchor(int64_t position) const;
  void BeginWithAnchor();
  bool IsSummaryDue(int64_t edits, SummaryProgress& progress) const;
  absl::StatusOr<bool> WriteSummary(std::vector<std::byte> summary, const Stager& stager,
                                    const std::shared_ptr<const SummarizedIndex>& index);
  absl::Status WriteSlot(const AnchorPlace& anchor, int64_t number,
                         const format::SummarySlot& slot) const;
  absl::Status WriteSlot(const AnchorPlace& anchor, const Extent& summary,
                         SummaryProgress& progress) const;
  absl::Status MarkSummary(const AnchorPlace& anchor, SummaryProgress& progress);
  absl::Status VoidSummaries();

  CommittedFrame& frame_;
  FrameSpace space_;
  // Chunks of commits that are perhaps not durable, as far as they lie before the index.
  std::deque<JournalFootprint::Placed> reused_;
  std::optional<ContiguousSink> sink_;
  int64_t remains_end_ = 0;  // what lies after the frame up to there is of earlier checkpoints
  Extent set_aside_;         // of the journal, for a checkpoint
  int64_t unsynced_reused_ = 0;
  BackgroundTask sync_ahead_;
  int64_t syncing_reused_ = 0;   // of unsynced_reused_, what that sync covers
  uint64_t newest_receipt_ = 0;  // the newest generation whose receipt says that it is durable
  Headroom headroom_;
  int64_t zeros_end_ = 0;
  int64_t zeros_ = 0;
  int64_t small_commits_ = 0;  // durable ones
  int commits_until_tidy_ = 0;
  bool needs_checkpoint_ = false;
  bool owes_header_ = false;  // perhaps: see OwesHeader
  bool avoids_syncs_ = false;
  int owing_commits_ = 0;
  bool summary_is_void_ = false;  // see JournalFootprint
  SummaryProgress summaries_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_JOURNAL_JOURNAL_WRITER_H_
