// Writes staged chunks of a sparse frame, each to a new file.
#ifndef CAIRN_ENGINE_FRAME_STAGE_SPARSE_SINK_H_
#define CAIRN_ENGINE_FRAME_STAGE_SPARSE_SINK_H_

#include <cstdint>
#include <functional>
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

// Returns the file numbers that an index names, in ascending order. Errors: kDataLoss if there are
// more than `most`.
absl::StatusOr<std::vector<int64_t>> FileNumbersIn(const ChunkIndex& index, size_t most);

struct ChunkFile {
  int64_t number = 0;
  int64_t size = 0;
};

// Makes the content of these files durable. The caller must sync the directory that names them.
absl::Status SyncChunkFiles(FileSystem& directory, std::span<const ChunkFile> files);

// Writes each chunk to a file with the lowest free number. Takes each number only once.
class SparseSink final : public ChunkSink {
 public:
  // `named` has the files of committed states, and `others` has other files that are there. Both
  // are in ascending order. Their numbers are not tried.
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

  // Lets the staged files and other files, which have `other_bytes`, take no more than the limit.
  void SetLimit(SizeLimit limit, int64_t other_bytes) {
    limit_ = std::move(limit);
    other_bytes_ = other_bytes;
  }
  // `give_reserve` is called when the disk is full, and gives it space.
  void TakeReserve(std::function<absl::Status()> give_reserve) {
    give_reserve_ = std::move(give_reserve);
  }
  // Returns the files that no commit names yet. All of them have `staged_bytes`.
  const std::vector<ChunkFile>& staged() const { return staged_; }
  int64_t staged_bytes() const;
  // Keeps the files that are written as long as `snapshot`, which may read them, lives.
  void Pin(std::weak_ptr<const void> snapshot) { pins_.Add(std::move(snapshot)); }
  // Returns true if a snapshot may still read files that no commit names.
  bool IsPinned() const { return pins_.any(); }
  // Keeps the staged files, which belong to a commit or to a snapshot.
  void Keep();
  // Removes the staged files, or keeps them if a snapshot is pinned.
  void Discard();
  // Returns the files of committed states with which this began, in ascending order.
  const std::vector<int64_t>& named() const { return named_.numbers; }
  // Returns these files and all files that were written since and not removed, in ascending order.
  std::vector<int64_t> Files() const;

 private:
  struct Taken {
    std::vector<int64_t> numbers;
    size_t passed = 0;  // how many of them are below the number that was asked for last

    // Returns true if the number is in the list. Must be called with ascending numbers.
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
  std::function<absl::Status()> give_reserve_;  // empty if there is none
  SnapshotPins pins_;                           // of staged edits
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STAGE_SPARSE_SINK_H_
