// Commits to a frame that is a directory.
//
// Each staged chunk is a new file, whose number no other file has. Nothing refers to it, so a
// crash leaves the old state. A commit then writes
//   1. a commit record after the trailer of the index file, as in a contiguous frame. If the commit
//      has to be durable, the chunk files and the directory are synced before it, and the index
//      file after.
// It is part of the journal until a checkpoint
//   2. syncs chunk files and directory, and writes a new index file, which is synced. The journal
//      of the old one ends with a record which says that another file takes its name.
//   3. The two index files swap names; the directory is synced. That step alone moves the frame
//      from the old index and its journal to the new index, whose journal is empty.
// Chunk files stay while the index, its journal or an index that is read names them. All others are
// removed. The old index keeps a temporary name as long as it is read, so that each writer finds
// its readers; see ReplacedIndexes.
#ifndef CAIRN_ENGINE_FRAME_LAYOUT_SPARSE_BACKEND_H_
#define CAIRN_ENGINE_FRAME_LAYOUT_SPARSE_BACKEND_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/frame/files/atomic_file.h"
#include "engine/frame/journal/journal_writer.h"
#include "engine/frame/layout/commit_backend.h"
#include "engine/frame/layout/replaced_indexes.h"
#include "engine/frame/space/disk_reserve.h"
#include "engine/frame/stage/sparse_sink.h"
#include "engine/frame/sync/chunk_file_sync.h"

namespace cairn::frame {

class SparseBackend final : public CommitBackend {
 public:
  // `journal` tells what the commits after the checkpoint did.
  SparseBackend(CommittedFrame frame, StagerOptions options, const JournalFootprint& journal)
      : SparseBackend(std::move(frame), std::move(options), nullptr, journal.placed) {}
  // Begins with a frame that was just published. `sink` has the files that were staged for it.
  SparseBackend(CommittedFrame frame, StagerOptions options, std::unique_ptr<SparseSink> sink)
      : SparseBackend(std::move(frame), std::move(options), std::move(sink), {}) {}

  absl::Status PersistBase() override;
  absl::StatusOr<std::unique_ptr<Stager>> Stage() override;
  absl::Status Restart(bool failed) override;
  void PinStaged(const StatePtr& snapshot) override { sink_->Pin(snapshot); }
  bool IsPinned() const override { return sink_->IsPinned(); }
  absl::Status Suspend() override;
  absl::StatusOr<bool> Resume(const WriterOptions& options) override;
  absl::Status PrepareCommit(Stager& stager, Durability durability) override;
  absl::Status PublishCommit(Stager& stager, Durability durability) override;
  absl::Status PublishPrepared(Stager& stager, Durability durability) override;
  bool IsWorthClosing(const Stager& stager) const override;
  absl::Status WriteCheckpoint(Stager& stager, Follows follows) override;
  absl::Status SyncCommitted() override { return journal_.SyncCommitted(); }
  absl::StatusOr<ReclaimReport> ReclaimSpace(const ReclaimOptions& options) override;
  absl::StatusOr<int64_t> Rewrite(std::unique_ptr<LiveCopy> begun, ChunkProgress progress) override;
  absl::Status DropUncommitted() override;

 private:
  SparseBackend(CommittedFrame frame, StagerOptions options, std::unique_ptr<SparseSink> sink,
                std::vector<JournalFootprint::Placed> journaled);
  absl::Status MakeRoom(const Stager& stager);
  absl::StatusOr<std::vector<int64_t>> Sweep();
  void StageBeside(std::vector<int64_t> named);
  int64_t DeadFileBytes() const;
  int64_t FileBytes() const;
  void SetLimit();
  absl::Status KeepOfReserve(int64_t size);
  absl::Status TakeReserve(File& index, const StagedState& staged);
  absl::StatusOr<AtomicFile> NewIndex(const StagedState& staged);
  absl::Status ReplaceIndex(const StagedState& staged);
  absl::Status FinishReplacement();

  JournalWriter journal_;
  std::vector<JournalFootprint::Placed> journaled_;  // chunk files of the journal's commits
  std::unique_ptr<SparseSink> sink_;
  ReplacedIndexes old_;
  std::shared_ptr<ChunkFileSync> files_;  // chunk files of commits
  bool published_ = false;                // true until FinishReplacement, after a checkpoint
  std::string old_index_;                 // the temporary name of the replaced index
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_LAYOUT_SPARSE_BACKEND_H_
