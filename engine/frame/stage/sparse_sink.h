// Writes staged chunks of a sparse frame, each to a new file.
#ifndef CAIRN_ENGINE_FRAME_STAGE_SPARSE_SINK_H_
#define CAIRN_ENGINE_FRAME_STAGE_SPARSE_SINK_H_

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
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

struct ChunkFile {
  int64_t number = 0;
  int64_t size = 0;
};

// Makes the content of these files durable; the directory that names them is the caller's.
absl::Status SyncChunkFiles(FileSystem& directory, std::span<const ChunkFile> files);

// Takes the lowest numbers that no file of the directory has, each once in its life.
class SparseSink final : public ChunkSink {
 public:
  // Two lists of files that are there, in ascending order, whose numbers need not be tried: those
  // of committed states, and others.
  explicit SparseSink(std::shared_ptr<FileSystem> directory, std::vector<int64_t> named = {},
                      std::vector<int64_t> others = {})
      : directory_(std::move(directory)),
        named_{.numbers = std::move(named)},
        others_{.numbers = std::move(others)} {}

  absl::StatusOr<int64_t> Append(Bytes chunk) override;
  absl::Status Flush() override { return absl::OkStatus(); }
  absl::StatusOr<std::shared_ptr<const ChunkSource>> Source(const State& base) override {
    return base.chunk_source;
  }

  // The staged files, and the others, which have so many bytes, take no more than that.
  void SetLimit(SizeLimit limit, int64_t other_bytes) {
    limit_ = std::move(limit);
    other_bytes_ = other_bytes;
  }
  // The files that no commit names yet, and their bytes.
  const std::vector<ChunkFile>& staged() const { return staged_; }
  int64_t staged_bytes() const;
  // Keeps the files written so far as long as `snapshot`, which may read them, lives.
  void Pin(std::weak_ptr<const void> snapshot) { pins_.Add(std::move(snapshot)); }
  // Whether a snapshot may still read files that no commit names.
  bool IsPinned() const { return pins_.any(); }
  // The staged files belong to a commit, or to a snapshot.
  void Keep();
  // Removes the staged files, or leaves them where they are pinned.
  void Discard();
  // The files of committed states, in ascending order.
  const std::vector<int64_t>& named() const { return named_.numbers; }
  // These and those written since, likewise.
  std::vector<int64_t> Files() const;

 private:
  struct Taken {
    std::vector<int64_t> numbers;
    size_t passed = 0;  // how many are not above those that were tried

    // Whether the number is one of them. Numbers are asked for in ascending order.
    bool Has(int64_t number) {
      while (passed < numbers.size() && numbers[passed] < number) ++passed;
      return passed < numbers.size() && numbers[passed] == number;
    }
  };
  int64_t NextNumber();
  absl::StatusOr<std::unique_ptr<File>> CreateFile(int64_t size);

  std::shared_ptr<FileSystem> directory_;
  Taken named_;
  Taken others_;
  int64_t next_ = 0;
  std::vector<int64_t> kept_;
  std::vector<ChunkFile> staged_;
  SizeLimit limit_;
  int64_t other_bytes_ = 0;
  SnapshotPins pins_;  // of staged edits
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STAGE_SPARSE_SINK_H_
