// Commits to a frame that is a directory.
//
//   1. Each staged chunk is a new file; no number is used that a file has. Nothing refers to it, so
//      a crash leaves the old state.
//   2. The files and the directory are synced; the new index is written to a file of its own and
//      synced.
//   3. The two index files swap names; the directory is synced. That step alone moves the frame
//      from the old state to the new one.
// The old index keeps a temporary name as long as it is read, and with it the chunk files that it
// names; the next writer that finds no such reader removes what no index names.
#ifndef CAIRN_ENGINE_FRAME_COMMIT_SPARSE_BACKEND_H_
#define CAIRN_ENGINE_FRAME_COMMIT_SPARSE_BACKEND_H_

#include <cstdint>
#include <memory>
#include <string>

#include "engine/frame/commit/commit_backend.h"
#include "engine/frame/commit/disk_reserve.h"
#include "engine/frame/files/atomic_file.h"
#include "engine/frame/stage/sparse_sink.h"

namespace cairn::frame {

// Files in the directory that no index names any more.
struct OrphanReport {
  int64_t freed = 0;      // bytes of the files that were removed
  bool old_read = false;  // an index that lost its name is read: its chunk files stay
};

class SparseBackend final : public CommitBackend {
 public:
  // Of a frame that was just published: with the files that were staged for it.
  SparseBackend(CommittedFrame frame, StagerOptions options,
                std::unique_ptr<SparseSink> sink = nullptr)
      : CommitBackend(std::move(frame), std::move(options)),
        sink_(std::move(sink)),
        published_(sink_ != nullptr) {}

  absl::Status PersistBase() override { return frame_.PersistHeader(); }
  absl::StatusOr<std::unique_ptr<Stager>> Stage() override;
  absl::Status Restart(bool failed) override;
  void PinStaged(const StatePtr& snapshot) override { sink_->Pin(snapshot); }
  absl::Status WriteCheckpoint(Stager& stager) override;
  absl::StatusOr<ReclaimReport> ReclaimSpace(const ReclaimOptions& options) override;
  absl::StatusOr<int64_t> Rewrite(ChunkProgress progress) override;
  absl::Status DropUncommitted() override;

 private:
  FileSystem& directory() const { return *frame_.location().files; }
  absl::Status TakeReserve(File& index, const StagedState& staged);
  void HoldReserve() { HoldAtRest(base(), *frame_.file, base().header().frame_size, true); }
  absl::StatusOr<AtomicFile> NewIndex(const StagedState& staged);
  absl::Status ReplaceIndex(const StagedState& staged);
  absl::Status FinishReplacement();

  std::unique_ptr<SparseSink> sink_;
  bool published_;         // a checkpoint, and the old index was not dropped yet
  std::string old_index_;  // its temporary name
  bool committed_ = false;
  OrphanReport orphans_;  // what was there at the start, or has been left since
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_COMMIT_SPARSE_BACKEND_H_
