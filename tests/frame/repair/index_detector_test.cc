// Indexes are told from data at a cost that the size of the file justifies.
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/options.h"
#include "engine/chunk/header.h"
#include "engine/chunk/special.h"
#include "engine/format/index_entry.h"
#include "engine/frame/files/frame_file.h"
#include "engine/frame/open/frame_core.h"
#include "engine/frame/repair/chunk_scanner.h"
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
  void Clear() {
    file_bytes_.resize(kOrigin);
    chunks_.clear();
  }
  // The chunks that are not taken for indexes.
  std::vector<FoundChunk> Data() {
    const auto file = std::make_shared<storage::MemoryFile>();
    EXPECT_TRUE(IsOk(file->WriteAt(0, file_bytes_)));
    ScanResult found;
    found.chunks = chunks_;
    const FrameView view(file, 0, std::ssize(file_bytes_));
    EXPECT_TRUE(IsOk(DropIndexes(view, probe_, kOrigin, found)));
    return found.chunks;
  }

 private:
  static constexpr size_t kTypesizeAt = 0x03;

  const FrameContext env_{OpenOptions()};
  const ChunkDetector probe_{env_, {}};
  Buffer file_bytes_;
  std::vector<FoundChunk> chunks_;
};

TEST_F(IndexDetectorTest, IndexIsDetectedByTheOffsetsThatItHolds) {
  for (const int32_t nbytes : {800, 8000}) AddLookalike(nbytes);
  AddIndex();
  const std::vector<FoundChunk> data = Data();
  ASSERT_EQ(data.size(), 2u);
  EXPECT_EQ(data[0].header.nbytes, 800);
  EXPECT_EQ(data[1].header.nbytes, 8000);
}

TEST_F(IndexDetectorTest, WhatPassesForIndexesIsDecodedToSoManyTimesTheFileAndNoFurther) {
  // A file of less than a megabyte has 256 of them: each takes as much as a small chunk may.
  constexpr int32_t kClaimed = 16 << 20;
  for (int i = 0; i < 15; ++i) AddLookalike(kClaimed);
  AddIndex();
  EXPECT_EQ(Data().size(), 15u);
  Clear();
  for (int i = 0; i < 16; ++i) AddLookalike(kClaimed);
  AddIndex();
  EXPECT_EQ(Data().size(), 17u) << "the index was decoded all the same";
}

}  // namespace
}  // namespace cairn::frame
