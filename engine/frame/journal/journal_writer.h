// Writes the journal after a checkpoint, in a contiguous frame and in the index of a sparse one.
// docs/guarantees.md gives the reason for each step.
#ifndef CAIRN_ENGINE_FRAME_JOURNAL_JOURNAL_WRITER_H_
#define CAIRN_ENGINE_FRAME_JOURNAL_JOURNAL_WRITER_H_

#include <cstdint>

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

// The next writer reads and writes again what is perhaps not durable. More bytes than these are
// synced.
inline constexpr int64_t kMostUnsynced = int64_t{64} << 20;

// Appends commits to the journal and syncs them. Owns what else a journal needs: its tail, the disk
// space ahead of it, what follows it in the file, its receipts and its summaries. Not thread-safe.
// After a step that fails and is not refused nothing more may be called.
class JournalWriter {
 public:
  // `frame` must outlive this; its file has the journal. All that is committed is durable, or
  // Persist follows. `journal` tells what the commits after the checkpoint did.
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

  // A checkpoint was written, and is durable. Old states may lie after it, up to `remains_end`.
  void BeginAfterCheckpoint(FrameSpace space, int64_t remains_end);
  // A checkpoint that inherits the journal of the one before is durable.
  void ContinueAfterCheckpoint(SummaryProgress summaries);
  // A shrinking checkpoint is durable, with all commits in a journal of its own. The journal of
  // `before` ended where this one does.
  absl::Status ContinueBelow(const State& before);

  // Cuts what follows the journal, and writes again what may be in the page cache alone; a sync
  // follows.
  absl::Status Persist();
  // Returns true if Owe of the unsynced commits can take the place of Persist and the sync that
  // follows it.
  absl::StatusOr<bool> MayOwe() const;
  // Takes over what another writer committed meanwhile. Returns false where nothing can be said
  // without reading more: then the frame has to be opened anew.
  absl::StatusOr<bool> CatchUp();
  // Makes the next commit go after what CatchUp found. What of that is perhaps not durable is owed.
  absl::Status Resume();

  // Returns true if a checkpoint is due, with what is staged. With `patience` it has been due for
  // that many times as long, though `set_aside` bytes of the journal are for it.
  bool IsLong(const StagedState& staged, int64_t patience = 1, int64_t set_aside = 0) const;
  // Returns true if Close should write one. What is staged has `file_bytes` bytes of chunk files.
  bool IsWorthClosing(const Stager& stager, int64_t file_bytes = 0) const;

  // Returns true if the staged edits can become a commit record where the journal ends.
  bool HasRoomForCommit(const Stager& stager);
  // Makes a commit of the staged edits, whose chunk files have `file_bytes` bytes. Returns false if
  // that takes a record that is too large; nothing was written then.
  absl::StatusOr<bool> Publish(Stager& stager, Durability durability, int64_t file_bytes = 0);
  // Makes everything in the file durable: what was staged there, and the commits up to that one.
  absl::Status Sync(uint64_t generation);
  // Makes durable what is committed.
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
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_JOURNAL_JOURNAL_WRITER_H_
