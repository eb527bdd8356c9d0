// Writes the journal after a checkpoint, in a contiguous frame and in the index of a sparse one.
// docs/guarantees.md gives the reason for each step.
#ifndef CAIRN_ENGINE_FRAME_COMMIT_JOURNAL_WRITER_H_
#define CAIRN_ENGINE_FRAME_COMMIT_JOURNAL_WRITER_H_

#include <cstdint>
#include <optional>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/frame/commit/commit_backend.h"
#include "engine/frame/commit/disk_reserve.h"
#include "engine/frame/journal/replay.h"
#include "engine/frame/stage/contiguous_sink.h"

namespace cairn::frame {

// The next writer reads and writes again what is perhaps not durable: more than that is synced.
inline constexpr int64_t kMostUnsynced = int64_t{64} << 20;

// Not thread-safe. After a step that fails and is not refused nothing more may be called.
class JournalWriter {
 public:
  // Of the file of `frame`, which must outlive this. All that is committed is durable, or Persist
  // follows.
  explicit JournalWriter(CommittedFrame& frame) : frame_(frame) { BeginAfterCheckpoint(); }

  // What comes next is written at `position`, after every committed byte.
  void StageAt(int64_t position);
  ContiguousSink& sink() { return *sink_; }
  // A checkpoint was written, and is durable.
  void BeginAfterCheckpoint();
  // The file was cut, or is another one.
  void ForgetHeadroom();

  // Cuts what follows the journal, and writes once more what may be in the page cache alone; a sync
  // follows.
  absl::Status Persist();
  // Leaves a new receipt of this boot after the journal: all its commits are durable. The last one
  // may be the only trace of an acknowledged commit.
  absl::Status Witness();

  // With what is staged: a checkpoint is due.
  bool IsLong(const StagedState& staged) const;
  // Reserves space for a commit, the checkpoint that follows it, and what that one leaves. Refused
  // when the disk is full.
  absl::Status Reserve(const Stager& stager);
  // Makes everything in the file durable: what is committed, and what was staged there.
  absl::Status Sync();
  // Bytes of the file that are perhaps not durable.
  int64_t unsynced() const { return sink_->end() - synced_end_; }
  // The staged edits become a commit, which brings these chunk files. False, and nothing was
  // written, when that takes a record that is too large.
  absl::StatusOr<bool> Publish(Stager& stager, Durability durability,
                               std::span<const ChunkFile> files = {});
  // Makes durable what is committed.
  absl::Status SyncCommitted();

 private:
  const State& base() const { return *frame_.state; }
  void WriteZerosAhead();
  absl::Status Adopt(Stager& stager, const CommitStep& step, std::span<const ChunkFile> files);
  absl::Status MarkDurable();

  CommittedFrame& frame_;
  std::optional<ContiguousSink> sink_;
  int64_t synced_end_ = 0;  // bytes of the file before this are durable
  uint64_t synced_generation_ = 0;
  Headroom headroom_;
  int64_t zeros_end_ = 0;
  int64_t zeros_ = 0;
  int64_t small_commits_ = 0;  // durable ones
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_COMMIT_JOURNAL_WRITER_H_
