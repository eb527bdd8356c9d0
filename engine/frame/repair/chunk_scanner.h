// Scans a file linearly for chunks when its index cannot be used.
#ifndef CAIRN_ENGINE_FRAME_REPAIR_CHUNK_SCANNER_H_
#define CAIRN_ENGINE_FRAME_REPAIR_CHUNK_SCANNER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/recover.h"
#include "engine/chunk/header.h"
#include "engine/frame/repair/buffered_file.h"
#include "engine/frame/repair/chunk_detector.h"
#include "engine/frame/repair/trailer_scanner.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// A chunk that decodes.
struct FoundChunk {
  int64_t begin = 0;
  chunk::Header header;
  int64_t end() const { return begin + header.cbytes; }
};

struct ScanResult {
  std::vector<FoundChunk> chunks;
  std::vector<LostBytes> lost;  // neither chunk nor known structure
  // Pending items of the journal, and the record of the last of them.
  std::vector<std::byte> pending;
  Extent pending_record;
};

// Chunks lie back to back, so after each the next one is tried first, and none is looked for inside
// another: what lies there is user data. A chunk that does not decode is skipped if it begins where
// one was expected and something begins right after it.
class ChunkScanner {
 public:
  // `known` are the extents of headers and trailers, by their begin.
  ChunkScanner(BufferedFile& file, ChunkDetector& detector, std::vector<Extent> known);

  // Called once. kResourceExhausted for a file that was made to waste time; kCancelled when
  // `progress`, which gets the position, returns false.
  absl::StatusOr<ScanResult> Run(int64_t begin, absl::FunctionRef<bool(int64_t)> progress);

 private:
  // What begins at an offset, by its first bytes.
  struct Candidate {
    enum class Kind { kNothing, kKnown, kRecord, kChunk, kEndOfFile };
    Kind kind = Kind::kNothing;
    int64_t begin = 0;
    int64_t end = 0;
    chunk::Header header = {};
  };

  size_t NextKnown(int64_t from) const;
  Candidate Classify(Bytes head, int64_t at) const;
  absl::StatusOr<Candidate> ClassifyAt(int64_t at);
  absl::StatusOr<Candidate> FindNext(int64_t from, absl::FunctionRef<bool(int64_t)> progress);

  // Each continues after the candidate, or one byte after its begin.
  absl::Status Take(const Candidate& candidate);
  absl::Status TakeRecord(const Candidate& record);
  void TakePending(const Candidate& record, Bytes bytes);
  absl::Status TakeChunk(const Candidate& chunk);
  // Whether it begins right after a chunk or known structure.
  bool IsExpected(const Candidate& chunk) const { return chunk.begin == gap_begin_; }
  absl::StatusOr<bool> IsLikely(const Candidate& chunk);
  absl::Status SkipBrokenChunk(const Candidate& chunk, const absl::Status& damage);
  absl::StatusOr<bool> IsLayerValue(const Candidate& chunk);
  absl::Status Spend(int64_t bytes);

  absl::Status CloseGap(int64_t end);
  absl::StatusOr<std::string> ReasonOfGap(int64_t end);
  void AddLost(int64_t begin, int64_t end, std::string reason);
  void ContinueAt(int64_t offset) { position_ = gap_begin_ = offset; }

  BufferedFile& file_;
  ChunkDetector& detector_;
  std::vector<Extent> known_;
  ScanBudget budget_;
  ScanResult result_;
  int64_t position_ = 0;
  int64_t gap_begin_ = 0;   // of what is lost before the position
  std::string gap_reason_;  // if the gap begins with a chunk
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_REPAIR_CHUNK_SCANNER_H_
