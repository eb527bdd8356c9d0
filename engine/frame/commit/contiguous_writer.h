// Commits to a frame that is one file. docs/guarantees.md gives the reason for each step.
//
// Chunks go behind the committed end of the frame as they are staged, back to back. Nothing refers
// to them, so a crash leaves the old state. A commit then writes
//   1. a batch record behind the chunks, which says what the edits were; sync, if asked.
// It is part of the journal until a checkpoint writes
//   2. index and trailer behind the journal; sync. Still nothing refers to them.
//   3. the header's first sector, in one piece; sync. It alone moves the frame from the old
//      checkpoint to the new one, and 512 aligned bytes reach the disk whole or not at all.
// Old index, trailer and records become dead bytes. What cannot be done that way (an empty frame,
// whose trailer must follow its header; metalayers behind the first sector) is written to a new
// file that takes the old one's name.
#ifndef CAIRN_ENGINE_FRAME_COMMIT_CONTIGUOUS_WRITER_H_
#define CAIRN_ENGINE_FRAME_COMMIT_CONTIGUOUS_WRITER_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "engine/frame/commit/disk_reserve.h"
#include "engine/frame/commit/frame_writer.h"
#include "engine/frame/files/atomic_file.h"
#include "engine/frame/stage/contiguous_sink.h"

namespace cairn::frame {

class ContiguousWriter final : public FrameWriter {
 public:
  static std::unique_ptr<FrameWriter> Make(Start start);
  static absl::StatusOr<std::unique_ptr<FrameWriter>> Build(FrameLocation place, Start start,
                                                            First first);
  ~ContiguousWriter() override;

 protected:
  absl::Status Publish() override;
  absl::StatusOr<int64_t> Rewrite(ChunkProgress progress) override;
  absl::Status Restart() override;
  absl::Status PublishCommit(Durability durability) override;
  absl::Status SyncCommitted() override;
  absl::StatusOr<ReclaimReport> Free(const ReclaimOptions& options) override;
  void KeepStaged() override { shared_end_ = log_->end(); }
  absl::Status CleanUp() override;
  void HoldReserve() override;

 private:
  using FrameWriter::FrameWriter;

  bool FitsInPlace() const;
  void StageAt(int64_t position);
  absl::Status ReserveRoom();
  absl::Status ReserveCheckpoint(int64_t size);
  void WriteZerosAhead();
  void ForgetRoom();
  bool JournalIsLong() const;
  absl::Status GoOnBehind(const format::CommitRecordParts& batch, uint64_t hash,
                          const format::Receipt& receipt);
  absl::Status MarkDurable();
  absl::Status CommitInPlace(std::optional<uint64_t> oldest_generation);
  absl::Status ReserveCopy(File& file);
  absl::StatusOr<AtomicFile> CopyDraft(ChunkProgress progress);
  absl::StatusOr<AtomicFile> CopyIntoRoom(ChunkProgress progress);
  absl::Status CommitFirst();
  absl::Status CommitToNewFile(ChunkProgress progress);
  void BeginAfterCheckpoint();
  absl::StatusOr<std::shared_ptr<const State>> OldestKept(const ReclaimOptions& options) const;
  absl::StatusOr<bool> IsReadOutside(uint64_t oldest, uint64_t newest) const;
  absl::StatusOr<ReclaimReport> FreeByRewriting();
  absl::Status WriteWhole(File& file, const StagedState& draft, int64_t chunks_end) const;

  std::optional<AtomicFile> new_file_;  // file_, while it has no name
  std::optional<ContiguousSink> log_;
  int64_t synced_end_ = 0;  // bytes of the file before this are durable
  uint64_t synced_generation_ = 0;
  RoomAhead room_;
  int64_t zeros_end_ = 0;
  int64_t zeros_ = 0;
  int64_t small_commits_ = 0;  // durable ones
  int64_t shared_end_ = 0;     // staged bytes before this are read by a snapshot, so they must stay
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_COMMIT_CONTIGUOUS_WRITER_H_
