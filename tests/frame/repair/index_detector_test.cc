// Indexes are told from data at a cost that the size of the file justifies.
#include "engine/frame/repair/index_detector.h"

#include <memory>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/options.h"
#include "engine/chunk/header.h"
#include "engine/chunk/special.h"
#include "engine/format/index_entry.h"
#include "engine/frame/open/frame_core.h"
#include "engine/frame/repair/buffered_file.h"
#include "engine/frame/repair/chunk_detector.h"
#include "engine/storage/memory_file_system.h"
#include "tests/support/bytes.h"
#include "tests/support/status.h"

namespace cairn::frame {
namespace {

using test::Buffer;

constexpr int64_t kOrigin = 100;

// Chunks in a file of their own, each with a byte after it as if something else were there.
class IndexDetectorTest : public testing::Test {
 protected:
  IndexDetectorTest() : file_bytes_(kOrigin) {}

  void Add(Bytes chunk) {
    const int64_t begin = std::ssize(file_bytes_);
    chunks_.push_back({.begin = begin, .header = *chunk::ParseHeader(chunk, std::ssize(chunk))});
    test::AddTo(file_bytes_, chunk);
    file_bytes_.push_back(std::byte{0});
  }
  // Decodes to places of no chunks, `nbytes` of them.
  void AddLookalike(int32_t nbytes) {
    Buffer chunk = chunk::ZerosChunk(nbytes);
    chunk[kTypesizeAt] = std::byte{format::kIndexTypesize};
    Add(chunk);
  }
  // Decodes to the places of all chunks before it.
  void AddIndex() {
    std::vector<int64_t> places;
    for (const FoundChunk& chunk : chunks_) places.push_back(chunk.begin - kOrigin);
    chunk::WorkspacePool pool;
    Add(*format::EncodeIndex(places, &pool));
  }
  IndexDetector Spotter() {
    EXPECT_TRUE(IsOk(file_.WriteAt(0, file_bytes_)));
    window_ = *BufferedFile::Map(file_);
    return IndexDetector(*window_, probe_, chunks_, kOrigin);
  }
  size_t last() const { return chunks_.size() - 1; }

 private:
  static constexpr size_t kTypesizeAt = 0x03;

  const FrameContext env_{OpenOptions()};
  const ChunkDetector probe_{env_, {}};
  Buffer file_bytes_;
  std::vector<FoundChunk> chunks_;
  storage::MemoryFile file_;
  std::optional<BufferedFile> window_;
};

TEST_F(IndexDetectorTest, IndexIsDetectedByTheOffsetsThatItHolds) {
  for (const int32_t nbytes : {800, 8000}) AddLookalike(nbytes);
  AddIndex();
  IndexDetector spotter = Spotter();
  for (size_t i = 0; i < last(); ++i) EXPECT_FALSE(spotter.IsIndex(i).value()) << i;
  EXPECT_TRUE(spotter.IsIndex(last()).value());
}

TEST_F(IndexDetectorTest, WhatPassesForIndexesIsDecodedToSoManyTimesTheFileAndNoFurther) {
  // Of a file of less than a megabyte, 256 of them: each takes as much as a small chunk may.
  constexpr int32_t kClaimed = 16 << 20;
  for (int i = 0; i < 16; ++i) AddLookalike(kClaimed);
  AddIndex();
  IndexDetector fresh = Spotter();
  EXPECT_TRUE(fresh.IsIndex(last()).value());
  IndexDetector spent = Spotter();
  for (size_t i = 0; i < last(); ++i) EXPECT_FALSE(spent.IsIndex(i).value()) << i;
  EXPECT_FALSE(spent.IsIndex(last()).value()) << "was decoded all the same";
}

}  // namespace
}  // namespace cairn::frame
