// A model of a frame: plain bytes and names that change as edits say, and the edits that the format
// refuses.
#ifndef CAIRN_TESTS_SUPPORT_FRAME_MODEL_H_
#define CAIRN_TESTS_SUPPORT_FRAME_MODEL_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include <gtest/gtest.h>

#include "cairn/options.h"
#include "cairn/snapshot.h"
#include "cairn/types.h"
#include "tests/support/bytes.h"
#include "tests/support/frames.h"

namespace cairn::test {

// The answer that an edit must give. Without a code it must succeed. Otherwise it must give one of
// the codes, as several things may be wrong at once, and then nothing changes.
class Verdict {
 public:
  void RefuseIf(bool wrong, absl::StatusCode code) {
    if (wrong) codes_.push_back(code);
  }
  bool ok() const { return codes_.empty(); }
  testing::AssertionResult IsMetBy(const absl::Status& status) const;

 private:
  std::vector<absl::StatusCode> codes_;
};

// The data that goes into a frame as one chunk.
struct NewChunk {
  Buffer items;
  bool compressed = false;  // comes as a chunk, not as items
  bool vlblocks = false;
  absl::StatusCode fault = absl::StatusCode::kOk;  // why no frame takes it
};

class FrameModel {
 public:
  // If chunksize is 0, the chunks have any size.
  FrameModel(int32_t typesize, int32_t chunksize, std::vector<Metalayer> metalayers);
  // Leaves the chunksize to the first chunk. A writer cuts items to `chunksize`.
  void LeaveSizeToFirstChunk(int32_t chunksize) {
    chunksize_ = 0;
    first_chunksize_ = chunksize;
  }

  // These make the edits of Writer; see there.
  Verdict Append(Bytes items);
  Verdict AppendSpecial(SpecialValue special, int64_t nitems, Bytes value);
  Verdict Insert(int64_t nchunk, const NewChunk& chunk);
  Verdict Update(int64_t nchunk, const NewChunk& chunk);
  Verdict Delete(int64_t first, int64_t count);
  Verdict ReorderChunks(std::span<const int64_t> order);
  Verdict SetChunksize(ChunkSize size);
  // Lets chunks have any size, as an edit of a writer with free shapes does that needs it.
  void FreeChunkSizes() { chunksize_ = 0; }
  Verdict WriteItems(int64_t start, Bytes items);
  Verdict SetMetalayer(std::string_view name, Bytes content);
  Verdict SetVlmetalayer(std::string_view name, Bytes content);
  Verdict DeleteVlmetalayer(std::string_view name);

  int32_t typesize() const { return typesize_; }
  int32_t chunksize() const { return chunksize_; }
  bool fixed_chunks() const { return chunksize_ > 0; }
  // Returns what a writer cuts items to that decide the chunksize, or nothing if it is decided.
  std::optional<int32_t> first_chunksize() const {
    return first_chunksize_ > 0 ? std::optional(first_chunksize_) : std::nullopt;
  }
  bool vlblocks() const { return vlblocks_ && !chunks_.empty(); }
  const std::vector<Buffer>& chunks() const { return chunks_; }
  int64_t nchunks() const { return std::ssize(chunks_); }
  int64_t nbytes() const;
  const std::vector<Metalayer>& metalayers() const { return metalayers_; }
  const std::vector<Metalayer>& vlmetalayers() const { return vlmetalayers_; }

 private:
  bool EndsShort() const;
  Verdict Judge(const NewChunk& chunk, bool last) const;
  void AddItems(Bytes items);
  void DecideChunksize(int32_t chunksize);

  int32_t typesize_;
  int32_t chunksize_;
  int32_t first_chunksize_ = 0;  // above 0 until there is a first chunk
  bool vlblocks_ = false;
  std::vector<Buffer> chunks_;
  std::vector<Metalayer> metalayers_;
  std::vector<Metalayer> vlmetalayers_;
};

// Expects that every way to read the snapshot gives what the model holds and that Verify finds
// nothing.
void ExpectHolds(const Snapshot& snapshot, const FrameModel& model);

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_FRAME_MODEL_H_
