// Commits to a frame that is a directory.
//
//   1. Each staged chunk is a new file; no number is used that a file has. Nothing refers to it, so
//      a crash leaves the old state.
//   2. The files and the directory are synced; the new index is written to a file of its own and
//      synced.
//   3. The two index files swap names; the directory is synced. That step alone moves the frame
//      from the old state to the new one.
// The old index keeps a temporary name as long as somebody reads it, and with it the chunk files
// that it names; the next writer that finds no such reader removes what no index names.
#ifndef CAIRN_ENGINE_FRAME_COMMIT_SPARSE_WRITER_H_
#define CAIRN_ENGINE_FRAME_COMMIT_SPARSE_WRITER_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "engine/frame/commit/frame_writer.h"
#include "engine/frame/commit/orphans.h"
#include "engine/frame/files/atomic_directory.h"
#include "engine/frame/files/atomic_file.h"
#include "engine/frame/stage/sparse_sink.h"

namespace cairn::frame {

class SparseWriter final : public FrameWriter {
 public:
  static std::unique_ptr<FrameWriter> Make(Start start);
  static absl::StatusOr<std::unique_ptr<FrameWriter>> Build(FrameLocation place, Start start,
                                                            First first);
  ~SparseWriter() override;

 protected:
  const FrameLocation& wanted() const override;
  absl::Status Publish() override;
  absl::StatusOr<int64_t> Rewrite(ChunkProgress progress) override;
  absl::Status Restart() override;
  absl::StatusOr<ReclaimReport> Free(const ReclaimOptions& options) override;
  absl::Status CleanUp() override;
  void HoldReserve() override;

 private:
  using FrameWriter::FrameWriter;

  FileSystem& directory() const { return *core_->place().files; }
  absl::Status TakeReserve(File& index, const StagedState& draft);
  absl::Status WriteIndex(File& file, const StagedState& draft) const;
  absl::StatusOr<AtomicFile> NewIndex(const StagedState& draft);
  absl::Status CommitFirst();
  absl::Status RecycleNumbers();
  absl::Status ReplaceIndex(const StagedState& draft);
  absl::StatusOr<StagedState> SealAll(ChunkProgress progress) const;

  struct FirstPlace;
  std::unique_ptr<FirstPlace> first_place_;  // while the frame is nowhere yet
  std::unique_ptr<SparseSink> files_;
  bool committed_ = false;
  OrphanReport orphans_;  // what was there at the start, or has been left since
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_COMMIT_SPARSE_WRITER_H_
