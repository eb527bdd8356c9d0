// Writes staged chunks of a sparse frame, each to a new file.
#ifndef CAIRN_ENGINE_FRAME_STAGE_SPARSE_SINK_H_
#define CAIRN_ENGINE_FRAME_STAGE_SPARSE_SINK_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "engine/frame/index/chunk_index.h"
#include "engine/frame/stage/chunk_sink.h"
#include "engine/frame/stage/snapshot_pins.h"

namespace cairn::frame {

// The numbers that an index names, in ascending order. kDataLoss when they are more than `most`.
absl::StatusOr<std::vector<int64_t>> FileNumbersIn(const ChunkIndex& index, size_t most);

// Takes the lowest numbers that no file of the directory has, each once in its life.
class SparseSink final : public ChunkSink {
 public:
  // `named` are the chunks of the committed index: their numbers need not be tried.
  static absl::StatusOr<std::unique_ptr<SparseSink>> Make(std::shared_ptr<FileSystem> directory,
                                                          const ChunkIndex& named);

  absl::StatusOr<int64_t> Append(Bytes chunk) override;
  absl::Status Flush() override { return absl::OkStatus(); }
  absl::StatusOr<std::shared_ptr<const ChunkSource>> Source(const State& base) override {
    return base.chunk_source;
  }

  // Makes all files durable; the directory that names them is the caller's.
  absl::Status Sync();
  // Keeps the files written so far as long as `snapshot`, which may read them, lives.
  void Pin(std::weak_ptr<const void> snapshot) { pins_.Add(std::move(snapshot)); }
  // Whether a snapshot may still read files that no commit names.
  bool IsPinned() const { return pins_.any(); }
  // The files written so far belong to a commit, or to a snapshot.
  void Keep() { staged_.clear(); }
  // Removes the files that no commit names, or leaves them to the next writer where they are
  // pinned.
  void Discard();
  // Removes those that the committed index named, or that were written since, and that the new one
  // does not name; no snapshot may read them. No further chunk can be appended.
  absl::Status RemoveUnnamed(const ChunkIndex& named);

 private:
  SparseSink(std::shared_ptr<FileSystem> directory, std::vector<int64_t> taken);
  int64_t NextNumber();
  absl::StatusOr<std::unique_ptr<File>> CreateFile();

  std::shared_ptr<FileSystem> directory_;
  std::vector<int64_t> taken_;  // in ascending order
  size_t passed_ = 0;           // of taken_, below next_
  int64_t next_ = 0;
  std::vector<int64_t> staged_;
  std::vector<std::unique_ptr<File>> unsynced_;
  SnapshotPins pins_;  // of staged edits
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STAGE_SPARSE_SINK_H_
