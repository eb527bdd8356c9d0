// Writes the journal after a checkpoint, in a contiguous frame and in the index of a sparse one.
// docs/guarantees.md gives the reason for each step.
#ifndef CAIRN_ENGINE_FRAME_JOURNAL_JOURNAL_WRITER_H_
#define CAIRN_ENGINE_FRAME_JOURNAL_JOURNAL_WRITER_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "engine/frame/checkpoint/checkpoint_policy.h"
#include "engine/frame/checkpoint/commit_failures.h"
#include "engine/frame/checkpoint/committed_frame.h"
#include "engine/frame/journal/journal_headroom.h"
#include "engine/frame/journal/journal_receipts.h"
#include "engine/frame/journal/journal_remains.h"
#include "engine/frame/journal/journal_summarizer.h"
#include "engine/frame/journal/journal_tail.h"
#include "engine/frame/journal/unsynced_commits.h"
#include "engine/frame/replay/commit_step.h"
#include "engine/frame/replay/replay.h"
#include "engine/frame/space/frame_space.h"
#include "engine/frame/stage/stager.h"

namespace cairn::frame {

// The most bytes of commits that may stay without a sync. The next writer reads them, and writes
// them again if they are perhaps not durable.
inline constexpr int64_t kMostUnsynced = int64_t{64} << 20;

// Appends commits to the journal and syncs them. Owns everything else that a journal needs: its
// tail, the disk space ahead of it, its remains in the file, its receipts and its summaries. Not
// thread-safe. After a step that fails and is not refused, nothing more may be called.
class JournalWriter {
 public:
  // `frame` must outlive this, and its file has the journal. Unless all commits are durable,
  // Persist must follow. `journal` tells what the commits after the checkpoint did.
  JournalWriter(CommittedFrame& frame, FrameSpace space, const JournalFootprint& journal);

  UnsyncedCommits& unsynced() { return unsynced_; }
  JournalTail& tail() { return tail_; }
  const JournalTail& tail() const { return tail_; }
  JournalHeadroom& headroom() { return headroom_; }
  JournalRemains& remains() { return remains_; }
  const JournalRemains& remains() const { return remains_; }
  JournalReceipts& receipts() { return receipts_; }
  const JournalReceipts& receipts() const { return receipts_; }
  JournalSummarizer& summarizer() { return summarizer_; }

  // Begins a journal after a new checkpoint, which is durable. Old states may lie after it, up to
  // `remains_end`.
  void BeginAfterCheckpoint(FrameSpace space, int64_t remains_end);
  // Continues the journal, which a new checkpoint has inherited. The checkpoint is durable.
  void ContinueAfterCheckpoint(SummaryProgress summaries);
  // Continues in the journal of a shrinking checkpoint, which is durable and has all commits.
  // `before` is the same committed state with the old journal.
  absl::Status ContinueBelow(const State& before);

  // Cuts the file after the journal, and writes again what may be in the page cache alone. A sync
  // must follow.
  absl::Status Persist();
  // Returns true if Owe of the unsynced commits can take the place of Persist and the sync that
  // follows it.
  absl::StatusOr<bool> MayOwe() const;
  // Takes over what another writer has committed. Returns false if it would have to read more to
  // know: then the frame must be opened again.
  absl::StatusOr<bool> CatchUp();
  // Puts the next commit after those that CatchUp found. The ones that are perhaps not durable are
  // owed.
  absl::Status Resume();

  // Returns true if a checkpoint is due, with what is staged. With `patience`, the limits of the
  // journal are this many times as high. `set_aside` bytes of the journal are for a checkpoint and
  // do not count.
  bool IsLong(const StagedState& staged, int64_t patience = 1, int64_t set_aside = 0) const;
  // Returns true if Close should write a checkpoint. The staged chunk files have `file_bytes`
  // bytes.
  bool IsWorthClosing(const Stager& stager, int64_t file_bytes = 0) const;

  // Returns true if the staged edits can become a commit record where the journal ends.
  bool HasRoomForCommit(const Stager& stager);
  // Makes sure that the disk has blocks for the record of the staged edits, also if the file system
  // cannot reserve space. Refused if it has not. Does nothing if there is no room for a record.
  absl::Status HoldRecord(const Stager& stager);
  // Makes a commit of the staged edits, whose chunk files have `file_bytes` bytes. Returns false if
  // that takes a record that is too large; nothing was written then.
  absl::StatusOr<bool> Publish(Stager& stager, Durability durability, int64_t file_bytes = 0);
  // Makes everything in the file durable: the staged chunks, and the commits up to `generation`.
  absl::Status Sync(uint64_t generation);
  // Makes all commits durable.
  absl::Status SyncCommitted();
  // Returns the bytes of commits, and of what is staged in the file, that are perhaps not durable.
  int64_t UnsyncedBytes();

 private:
  const State& base() const { return *frame_.state; }
  JournalLoad LoadWithout(int64_t set_aside) const;
  bool HasRoomForRecord(int64_t size);
  absl::Status BoundUnsynced();
  absl::Status InstallCommit(Stager& stager, const CommitStep& step);

  CommittedFrame& frame_;
  UnsyncedCommits unsynced_;
  JournalTail tail_;
  JournalHeadroom headroom_;
  JournalRemains remains_;
  JournalReceipts receipts_;
  JournalSummarizer summarizer_;
  std::optional<bool> can_reserve_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_JOURNAL_JOURNAL_WRITER_H_
