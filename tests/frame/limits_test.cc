// Tests how much a file from a stranger may cost.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/recover.h"
#include "tests/support/bytes.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

constexpr int32_t kBoundedChunk = 100;
constexpr int kFewChunks = 3;

class LimitsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(
        IsOk(WriteFrame(path_, PlainCopies(kBoundedChunk), MakeNoise(kFewChunks * kBoundedChunk, 1),
                        {{"note", std::string(50, 'x')}})));
  }
  absl::StatusOr<Frame> Open(const Limits& limits) const {
    return Frame::Open(path_, {.limits = limits});
  }
  static void ExpectNamesLimit(const absl::Status& status, int64_t limit) {
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "limit of " + std::to_string(limit))) << status;
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
};

TEST_F(LimitsTest, FrameOfTooManyChunksIsNotOpened) {
  EXPECT_TRUE(IsOk(Open({.max_nchunks = kFewChunks})));
  ExpectNamesLimit(Open({.max_nchunks = kFewChunks - 1}).status(), kFewChunks - 1);
}

TEST_F(LimitsTest, LargeVlmetalayerIsNotDecodedAndTheRestIsRead) {
  EXPECT_TRUE(IsOk(Open({.max_metadata_nbytes = 50})->snapshot().GetVlmetalayer("note")));
  const auto frame = Open({.max_metadata_nbytes = 49});
  ASSERT_TRUE(IsOk(frame));
  ExpectNamesLimit(frame->snapshot().GetVlmetalayer("note").status(), 49);
  EXPECT_EQ(DataOf(frame->snapshot()).value(), MakeNoise(kFewChunks * kBoundedChunk, 1));
}

TEST_F(LimitsTest, NamesOfVlmetalayersAreShownWithoutControlCharacters) {
  const std::string name = "a\nb\x1b[2J";
  ASSERT_TRUE(
      IsOk(WriteFrame(dir_.Path("g"), PlainCopies(kBoundedChunk), {}, {{name, "content"}})));
  const auto frame = Frame::Open(dir_.Path("g"), {.limits = {.max_metadata_nbytes = 1}});
  const auto is_control = [](char c) { return absl::ascii_iscntrl(static_cast<uint8_t>(c)); };
  const std::string message(frame->snapshot().GetVlmetalayer(name).status().message());
  EXPECT_TRUE(std::ranges::none_of(message, is_control)) << message;
  const auto report = frame->snapshot().Verify();
  ASSERT_EQ(report->notes.size(), 1u);  // a limit is not damage
  EXPECT_NE(report->notes[0].find("vlmetalayer a\\nb\\033[2J"), std::string::npos);
  EXPECT_TRUE(std::ranges::none_of(report->notes[0], is_control));
}

TEST_F(LimitsTest, VerifyAsksBetweenVlmetalayersWhetherToStop) {
  auto writer = Frame::Open(path_)->OpenWriter();
  for (const std::string name : {"a", "b", "c"}) {
    ASSERT_TRUE(IsOk(writer->SetVlmetalayer(name, MakeNoise(8, 1))));
  }
  ASSERT_TRUE(IsOk(writer->Close()));
  int done = 0;
  const auto stop = [&](int64_t chunks) { return chunks < kFewChunks || ++done < 3; };
  const Snapshot snapshot = Open({})->snapshot();
  EXPECT_TRUE(absl::IsCancelled(snapshot.Verify({.progress = stop}).status()));
  EXPECT_EQ(done, 3);
}

TEST_F(LimitsTest, LargeChunkIsNotDecoded) {
  EXPECT_TRUE(IsOk(DataOf(Open({.max_chunk_nbytes = kBoundedChunk})->snapshot())));
  const auto frame = Open({.max_chunk_nbytes = kBoundedChunk - 1});
  ASSERT_TRUE(IsOk(frame));
  const Snapshot snapshot = frame->snapshot();
  Buffer chunk(kBoundedChunk);
  ExpectNamesLimit(snapshot.ReadChunk(1, chunk), kBoundedChunk - 1);
  Buffer few(8);
  ExpectNamesLimit(snapshot.ReadBytes(150, few), kBoundedChunk - 1);
  ExpectNamesLimit(snapshot.ReadItems(150, few), kBoundedChunk - 1);
  const std::vector<int64_t> items = {299, 0, 150};
  Buffer gathered(items.size());
  ExpectNamesLimit(snapshot.ReadItemsAt(items, gathered), kBoundedChunk - 1);
  const auto report = snapshot.Verify();
  ASSERT_TRUE(IsOk(report));
  EXPECT_EQ(report->findings.size(), static_cast<size_t>(kFewChunks));
}

TEST_F(LimitsTest, NoChunkSizeIsLargerThanAllowed) {
  EXPECT_EQ(Open({.max_chunk_nbytes = kBoundedChunk})->snapshot().ChunkNbytes(1).value(),
            kBoundedChunk);
  ExpectNamesLimit(
      Open({.max_chunk_nbytes = kBoundedChunk - 1})->snapshot().ChunkNbytes(1).status(),
      kBoundedChunk - 1);
}

TEST_F(LimitsTest, ShortLastChunkWithinTheLimitIsRead) {
  ASSERT_TRUE(IsOk(AppendTo(path_, MakeNoise(10, 2))));
  const auto frame = Open({.max_chunk_nbytes = 10});
  Buffer tail(10);
  EXPECT_TRUE(IsOk(frame->snapshot().ReadChunk(kFewChunks, tail)));
  EXPECT_EQ(tail, MakeNoise(10, 2));
}

// Chunks of two blocks that are shuffled, so that a part of a block takes three of them.
class DecodeMemoryLimitsTest : public testing::Test {
 protected:
  static constexpr int32_t kBlock = 32 << 10;
  static constexpr int64_t kTakes = int64_t{3} * kBlock;
  static constexpr int64_t kFrameBytes = int64_t{8} * kBlock;

  void SetUp() override {
    CreateOptions options;
    options.compression.typesize = 4;
    options.compression.blocksize = kBlock;
    options.array = ArrayInfo{
        .shape = {kFrameBytes / 4}, .chunkshape = {2 * kBlock / 4}, .blockshape = {kBlock / 4}};
    auto frame = Frame::Create(path_, options);
    ASSERT_TRUE(IsOk(frame));
    items_.resize(kFrameBytes);
    for (size_t i = 0; i < items_.size(); ++i) items_[i] = static_cast<std::byte>(i / 900);
    auto writer = frame->OpenWriter();
    ASSERT_TRUE(IsOk(writer));
    ASSERT_TRUE(IsOk(writer->WriteBox({{0}}, {{kFrameBytes / 4}}, items_)));
    ASSERT_TRUE(IsOk(writer->Close()));
  }
  Snapshot Open(int64_t memory) const {
    return Frame::Open(path_, {.limits = {.max_decode_memory = memory}})->snapshot();
  }
  // Every way to read parts of blocks.
  static std::vector<absl::Status> ReadParts(const Snapshot& snapshot) {
    std::vector<absl::Status> all;
    Buffer few(8);
    for (int again = 0; again < 3; ++again) all.push_back(snapshot.ReadBytes(100, few));
    all.push_back(snapshot.ReadItems(kBlock / 4 - 1, few));
    all.push_back(snapshot.ReadBox({{70}}, {{2}}, few));
    return all;
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
  Buffer items_;
};

TEST_F(DecodeMemoryLimitsTest, PartsOfBlocksAreReadWithinTheLimitOnly) {
  for (const absl::Status& status : ReadParts(Open(kTakes))) EXPECT_TRUE(IsOk(status));
  for (const absl::Status& status : ReadParts(Open(kTakes - 1))) {
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), absl::StrCat("limit of ", kTakes - 1)))
        << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "chunk 0")) << status;
  }
}

TEST_F(DecodeMemoryLimitsTest, ItemsOfOneBlockAreGatheredAtOnceOrOneByOne) {
  const std::vector<int64_t> items = {9, 3, 500, 3};
  Buffer gathered(16);
  // There is memory for the block twice, or once.
  for (const int64_t memory : {kTakes + kBlock, kTakes}) {
    EXPECT_TRUE(IsOk(Open(memory).ReadItemsAt(items, gathered)));
    EXPECT_EQ(gathered[8], items_[2000]);
  }
  EXPECT_TRUE(absl::IsResourceExhausted(Open(kTakes - 1).ReadItemsAt(items, gathered)));
}

TEST_F(DecodeMemoryLimitsTest, WhatFillsTheCallersBufferIsRead) {
  const Snapshot snapshot = Open(0);
  Buffer read(2 * kBlock);
  EXPECT_TRUE(IsOk(snapshot.ReadChunk(1, read)));
  EXPECT_TRUE(IsOk(snapshot.ReadBytes(2 * kBlock, read)));
  EXPECT_EQ(read, std::vector(items_.begin() + 2 * kBlock, items_.begin() + 4 * kBlock));
}

TEST_F(DecodeMemoryLimitsTest, VerifyFindsWhatItCouldNotDecode) {
  const auto fine = Open(kTakes).Verify();
  ASSERT_TRUE(IsOk(fine));
  EXPECT_TRUE(fine->ok());
  const auto report = Open(kTakes - 1).Verify();
  ASSERT_TRUE(IsOk(report));
  ASSERT_EQ(report->findings.size(), 4u);
  EXPECT_TRUE(absl::StrContains(report->findings[0].reason, absl::StrCat("limit of ", kTakes - 1)));
  EXPECT_TRUE(Open(0).Verify({.depth = VerifyDepth::kFingerprints})->ok());
}

TEST_F(DecodeMemoryLimitsTest, SalvageLeavesOutWhatItCouldNotDecode) {
  const auto saved =
      Salvage(path_, dir_.Path("all"), {.open = {.limits = {.max_decode_memory = kTakes}}});
  ASSERT_TRUE(IsOk(saved));
  EXPECT_EQ(saved->chunks, 4);
  EXPECT_TRUE(absl::IsNotFound(
      Salvage(path_, dir_.Path("none"), {.open = {.limits = {.max_decode_memory = kTakes - 1}}})
          .status()));
}

TEST_F(DecodeMemoryLimitsTest, LargeChunkIsNeitherRewrittenNorAppended) {
  auto frame = Frame::Open(path_, {.limits = {.max_chunk_nbytes = 2 * kBlock - 1}});
  ASSERT_TRUE(IsOk(frame));
  auto writer = frame->OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  const Buffer item(4);
  EXPECT_TRUE(absl::IsResourceExhausted(writer->WriteBox({{0}}, {{1}}, item)));
  EXPECT_TRUE(absl::IsResourceExhausted(writer->WriteItems(0, item)));
  const auto chunk = Frame::Open(path_)->snapshot().GetChunk(0);
  ASSERT_TRUE(IsOk(chunk));
  EXPECT_TRUE(absl::IsResourceExhausted(writer->UpdateCompressed(0, chunk->bytes())));
}

}  // namespace
}  // namespace cairn::test
