// Walks through bytes in which nothing leads anywhere, from chunk to chunk.
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
  // Items of the journal that no chunk holds yet, and the record that brought the last of them.
  std::vector<std::byte> tail;
  Extent tail_record;
};

// Chunks lie back to back, so behind each the next one is tried first, and no chunk is looked for
// inside another: what lies there is user data. One that does not decode is passed over whole if it
// begins where one was expected, and something begins right behind it.
class ChunkScanner {
 public:
  // `known` are the extents of headers and trailers, by their begin.
  ChunkScanner(BufferedFile& window, ChunkDetector& probe, std::vector<Extent> known);

  // Once. kResourceExhausted for a file that is made to waste time; kCancelled when `progress`,
  // which gets the position, says stop.
  absl::StatusOr<ScanResult> Run(int64_t begin, absl::FunctionRef<bool(int64_t)> progress);

 private:
  // What begins at a place, by its first bytes.
  struct Candidate {
    enum class Kind { kNothing, kKnown, kRecord, kChunk, kEndOfFile };
    Kind kind = Kind::kNothing;
    int64_t begin = 0;
    int64_t end = 0;
    chunk::Header header = {};
  };

  size_t NextKnown(int64_t from) const;
  Candidate Look(Bytes head, int64_t at) const;
  absl::StatusOr<Candidate> LookAt(int64_t at);
  absl::StatusOr<Candidate> FindNext(int64_t from, absl::FunctionRef<bool(int64_t)> progress);

  // Each goes on behind what was sighted, or one byte further.
  absl::Status Take(const Candidate& sighting);
  absl::Status TakeRecord(const Candidate& record);
  void TakeTail(const Candidate& record, Bytes bytes);
  absl::Status TakeChunk(const Candidate& chunk);
  // Whether it begins right behind a chunk or known structure.
  bool IsExpected(const Candidate& chunk) const { return chunk.begin == gap_begin_; }
  absl::StatusOr<bool> IsLikely(const Candidate& chunk);
  absl::Status PassBrokenChunk(const Candidate& chunk, const absl::Status& damage);
  absl::StatusOr<bool> IsLayerValue(const Candidate& chunk);
  absl::Status Spend(int64_t bytes);

  absl::Status CloseGap(int64_t end);
  absl::StatusOr<std::string> ReasonOfGap(int64_t end);
  void AddLost(int64_t begin, int64_t end, std::string reason);
  void GoOnAt(int64_t place) { position_ = gap_begin_ = place; }

  BufferedFile& window_;
  ChunkDetector& probe_;
  std::vector<Extent> known_;
  ScanBudget budget_;
  ScanResult result_;
  int64_t position_ = 0;
  int64_t gap_begin_ = 0;   // of what is lost before the position
  std::string gap_reason_;  // if the gap begins with a chunk
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_REPAIR_CHUNK_SCANNER_H_
