// Scans a file linearly for chunks when its index cannot be used.
#ifndef CAIRN_ENGINE_FRAME_REPAIR_CHUNK_SCANNER_H_
#define CAIRN_ENGINE_FRAME_REPAIR_CHUNK_SCANNER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/recover.h"
#include "engine/chunk/header.h"
#include "engine/format/journal.h"
#include "engine/frame/files/frame_file.h"
#include "engine/frame/open/trailer_scanner.h"
#include "engine/frame/repair/chunk_detector.h"

namespace cairn::frame {

// A chunk that decodes.
struct FoundChunk {
  int64_t begin = 0;
  chunk::Header header;
  int64_t end() const { return begin + header.cbytes; }
};

// Reads at most this many bytes from `offset` on.
absl::StatusOr<Bytes> ReadUpTo(const FrameView& file, int64_t offset, int64_t size,
                               ScratchBuffer& scratch);

struct ScanResult {
  std::vector<FoundChunk> chunks;
  std::vector<LostBytes> lost;  // bytes that are neither chunk nor known structure
  // Begin of the first record, trailer or index that lies behind a chunk.
  int64_t first_end = INT64_MAX;
  // Pending items of the journal, and the record of the last of them.
  std::vector<std::byte> pending;
  Extent pending_record;
  bool replaces_pending = false;  // they do not follow the items from before the scan
  std::optional<format::IndexedChunk> pending_head;  // but continue this chunk, if there is one
  // Facts about chunks in the commit records: the number that the last record with this fact has
  // left, the least number that an inserted one got, and true if any chunk was replaced or moved.
  std::optional<int64_t> nchunks;
  int64_t first_insert = INT64_MAX;
  bool changes_chunks = false;
};

// Takes the offsets indexes out of the chunks, which are in order. An index is followed by a
// trailer, or holds the offsets of other chunks. These count from `origin`, if it is known. Defined
// in index_detector.cc.
absl::Status DropIndexes(const FrameView& file, const ChunkDetector& detector,
                         std::optional<int64_t> origin, ScanResult& found);

// Scans for chunks. They lie back to back, so after each the next one is tried first, and none is
// looked for inside another, because the bytes there are user data. A chunk that does not decode is
// skipped if it begins where one was expected and something begins right after it.
class ChunkScanner {
 public:
  // `known` are the extents of headers and trailers, by their begin.
  ChunkScanner(const FrameView& file, ChunkDetector& detector, std::vector<Extent> known);

  // Scans the file, once. Errors: kResourceExhausted for a file that was made to waste time;
  // kCancelled if `progress`, which gets the position, returns false.
  absl::StatusOr<ScanResult> Run(int64_t begin, absl::FunctionRef<bool(int64_t)> progress);

 private:
  // A thing that begins at an offset, recognised by its first bytes.
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
  absl::StatusOr<Candidate> FindNext(absl::FunctionRef<bool(int64_t)> progress);

  // Each of these continues after the candidate, or one byte after its begin.
  absl::Status TakeRecord(const Candidate& record);
  void TakeCommit(const format::CommitRecord& commit);
  absl::Status TakeChunk(const Candidate& chunk);
  // Returns true if it begins right after a chunk or known structure.
  bool IsExpected(const Candidate& chunk) const { return chunk.begin == gap_begin_; }
  absl::StatusOr<bool> IsLikely(const Candidate& chunk);
  absl::Status SkipBrokenChunk(const Candidate& chunk, const absl::Status& damage);
  absl::StatusOr<bool> IsLayerValue(const Candidate& chunk);
  absl::Status Spend(int64_t bytes);

  absl::Status CloseGap(int64_t end);
  absl::StatusOr<std::string> ReasonOfGap(int64_t end);
  void ContinueAt(int64_t offset) { position_ = gap_begin_ = offset; }

  const FrameView& file_;
  ChunkDetector& detector_;
  std::vector<Extent> known_;
  ScanBudget budget_;
  ScratchBuffer window_memory_;
  Bytes window_;  // the next candidate is looked for here
  int64_t window_begin_ = 0;
  ScratchBuffer scratch_;
  ScanResult result_;
  int64_t position_ = 0;
  int64_t gap_begin_ = 0;   // begin of the lost bytes before the position
  std::string gap_reason_;  // if the gap begins with a chunk
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_REPAIR_CHUNK_SCANNER_H_
