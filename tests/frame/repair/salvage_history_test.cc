// Salvage of a frame in which dead chunks lie beside live ones: none passes for a live one.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/recover.h"
#include "engine/format/frame_header.h"
#include "tests/frame/repair/salvaging.h"
#include "tests/support/bytes.h"
#include "tests/support/files.h"
#include "tests/support/frame_parts.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

constexpr int64_t kFew = 6;
class SalvageHistoryTest : public Salvaging {
 protected:
  static Buffer OldItems(int64_t nchunk) {
    return MakeNoise(kSmallChunk, static_cast<uint32_t>(nchunk));
  }
  static Buffer NewItems(int64_t nchunk) {
    return MakeNoise(kSmallChunk, static_cast<uint32_t>(100 + nchunk));
  }
  static bool IsReplaced(int64_t nchunk) { return nchunk % 2 == 1; }

  // Every other chunk was replaced, so its old bytes are still there.
  Buffer MakeFrameWithDeadChunks(FingerprintType fingerprint = FingerprintType::k64Bit) {
    const std::string path = dir_.Path("history");
    CreateOptions options = Cut(4, kSmallChunk);
    options.fingerprint = fingerprint;
    options.metalayers = {{"unit", MakeItems(9)}};
    auto frame = Frame::Create(path, options);
    EXPECT_TRUE(IsOk(frame));
    auto writer = frame->OpenWriter();
    EXPECT_TRUE(IsOk(writer));
    for (int64_t i = 0; i < kFew; ++i) EXPECT_TRUE(IsOk(writer->Append(OldItems(i))));
    EXPECT_TRUE(IsOk(writer->SetVlmetalayer("one", MakeItems(40))));
    EXPECT_TRUE(IsOk(writer->SetVlmetalayer("two", MakeItems(40))));
    EXPECT_TRUE(IsOk(writer->Commit()));
    EXPECT_TRUE(IsOk(writer->Checkpoint()));
    for (int64_t i = 1; i < kFew; i += 2) {
      EXPECT_TRUE(IsOk(writer->UpdateChunk(i, NewItems(i))));
      EXPECT_TRUE(IsOk(writer->Commit()));
    }
    EXPECT_TRUE(IsOk(writer->Checkpoint()));
    EXPECT_TRUE(IsOk(writer->Close()));
    return FileBytes(path);
  }

  // All chunks are saved, each in its place.
  void ExpectLiveChunks(const absl::StatusOr<SalvageReport>& report, int64_t at) const {
    ASSERT_TRUE(IsOk(report)) << at;
    const Snapshot saved = Saved();
    ASSERT_EQ(saved.info().nchunks, kFew) << at;
    Buffer items(kSmallChunk);
    for (int64_t i = 0; i < kFew; ++i) {
      ASSERT_TRUE(IsOk(saved.ReadChunk(i, items))) << at;
      EXPECT_EQ(items, IsReplaced(i) ? NewItems(i) : OldItems(i)) << at;
    }
    EXPECT_TRUE(report->holes.empty()) << at;
  }

  // Returns where the content of the only one lies.
  static ByteRange MetalayerOf(Bytes frame) {
    const auto header =
        format::ParseFrameHeader(frame.first(static_cast<size_t>(PartsOf(frame).header_len)));
    EXPECT_TRUE(IsOk(header));
    const format::LayerPlace& place = header->places.front();
    return {.begin = place.begin, .end = place.begin + place.size};
  }

  static Buffer Flipped(Buffer frame, int64_t at) {
    frame[static_cast<size_t>(at)] ^= std::byte{0x10};
    return frame;
  }
};

TEST_F(SalvageHistoryTest, DamagedHeaderIsThatOfItsTrailer) {
  const Buffer frame = MakeFrameWithDeadChunks();
  const ByteRange metalayer = MetalayerOf(frame);
  for (int64_t at = 0; at < PartsOf(frame).header_len; ++at) {
    if (at >= metalayer.begin && at < metalayer.end) continue;
    const auto report = SalvageBytes(Flipped(frame, at));
    ASSERT_NO_FATAL_FAILURE(ExpectLiveChunks(report, at));
    EXPECT_EQ(*Saved().GetMetalayer("unit"), MakeItems(9)) << at;
    EXPECT_TRUE(report->lost.empty() && report->unproven.empty()) << at;
    EXPECT_TRUE(report->unproven_metalayers.empty()) << at;
  }
}

// Another Blosc2 changes metalayers in the same way.
TEST_F(SalvageHistoryTest, DamagedMetalayerIsNamed) {
  const Buffer frame = MakeFrameWithDeadChunks();
  const ByteRange metalayer = MetalayerOf(frame);
  for (int64_t at = metalayer.begin; at < metalayer.end; ++at) {
    const Buffer damaged = Flipped(frame, at);
    EXPECT_EQ(Frame::OpenBuffer(damaged)->snapshot().info().changed_metalayers,
              std::vector<std::string>{"unit"});
    const auto report = SalvageBytes(damaged);
    ASSERT_NO_FATAL_FAILURE(ExpectLiveChunks(report, at));
    EXPECT_EQ(report->unproven_metalayers, std::vector<std::string>{"unit"}) << at;
    EXPECT_TRUE(IsOk(Saved().GetVlmetalayer("unproven_metalayers"))) << at;
  }
}

// Salvage makes an array with the right items, or names the metalayer that makes it one.
TEST_F(SalvageHistoryTest, DamagedShapeIsTheSealedOneOrNamed) {
  const std::string path = dir_.Path("array");
  CreateOptions options = Cut(4, kSmallChunk);
  options.array =
      ArrayInfo{.shape = {550}, .chunkshape = {100}, .blockshape = {50}, .dtype = "<i4"};
  auto writer = Frame::BeginCreate(path, options);
  ASSERT_TRUE(IsOk(writer));
  for (int64_t i = 0; i < kFew; ++i) ASSERT_TRUE(IsOk(writer->UpdateChunk(i, OldItems(i))));
  ASSERT_TRUE(IsOk(writer->Close()));
  const Buffer frame = FileBytes(path);
  const ByteRange metalayer = MetalayerOf(frame);
  int64_t restored = 0;
  for (int64_t at = metalayer.begin; at < metalayer.end; ++at) {
    const auto report = SalvageBytes(Flipped(frame, at));
    ASSERT_TRUE(IsOk(report)) << at;
    ASSERT_EQ(report->chunks, kFew) << at;
    const Snapshot saved = Saved();
    if (!report->unproven_metalayers.empty()) {
      EXPECT_EQ(report->unproven_metalayers, std::vector<std::string>{"b2nd"}) << at;
      continue;
    }
    ++restored;
    ASSERT_EQ(report->lost.size(), 1u) << at;
    ExpectLost(report->lost[0], metalayer, "metalayer b2nd");
    EXPECT_EQ(saved.array()->shape, options.array->shape) << at;
    EXPECT_TRUE(saved.Verify()->ok()) << at;
  }
  EXPECT_GT(restored, (metalayer.end - metalayer.begin) / 2);
}

TEST_F(SalvageHistoryTest, DeadChunksAreNotTakenWhereAllOthersAreDamaged) {
  const std::string path = dir_.Path("one");
  ASSERT_TRUE(IsOk(WriteFrame(path, Cut(4, kSmallChunk), OldItems(0))));
  auto writer = Frame::Open(path)->OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->UpdateChunk(0, NewItems(0))));
  ASSERT_TRUE(IsOk(writer->Close()));
  const Buffer frame = FileBytes(path);
  const ChunkEntry entry = *Frame::OpenBuffer(frame)->snapshot().GetEntry(0);
  EXPECT_TRUE(absl::IsNotFound(SalvageBytes(Flipped(frame, *entry.offset + 100)).status()));
}

TEST_F(SalvageHistoryTest, ChunksOfADamagedIndexAreFoundByTheirFingerprints) {
  const Buffer frame = MakeFrameWithDeadChunks();
  const FrameParts parts = PartsOf(frame);
  for (int64_t at = parts.index_begin; at < parts.trailer_begin; ++at) {
    const Buffer damaged = Flipped(frame, at);
    // The frame opens, for its metadata, and to say what is damaged.
    const auto opened = Frame::OpenBuffer(damaged);
    ASSERT_TRUE(IsOk(opened)) << at;
    EXPECT_FALSE(opened->snapshot().Verify()->ok()) << at;
    const auto report = SalvageBytes(damaged);
    ASSERT_NO_FATAL_FAILURE(ExpectLiveChunks(report, at));
    EXPECT_TRUE(report->lost.empty() && report->unproven.empty()) << at;
  }
}

// Each bit is flipped: of what holds the trailer together, and of what is in its layers.
TEST_F(SalvageHistoryTest, BitOfATrailerCostsNoChunkAndSeldomAVlmetalayer) {
  const Buffer frame = MakeFrameWithDeadChunks();
  const FrameParts parts = PartsOf(frame);
  const int64_t size = parts.frame_size - parts.trailer_begin;
  int64_t proven = 0;
  int64_t kept = 0;
  for (int64_t at = parts.trailer_begin; at < parts.frame_size; ++at) {
    const Buffer damaged = Flipped(frame, at);
    const auto opened = Frame::OpenBuffer(damaged);
    ASSERT_TRUE(IsOk(opened)) << at;
    EXPECT_FALSE(opened->snapshot().Verify()->ok()) << at;
    const auto report = SalvageBytes(damaged);
    ASSERT_NO_FATAL_FAILURE(ExpectLiveChunks(report, at));
    EXPECT_FALSE(report->scanned) << at;
    for (const std::string name : {"one", "two"}) {
      const auto layer = Saved().GetVlmetalayer(name);
      const bool is_right = layer.ok() && *layer == MakeItems(40);
      kept += is_right ? 1 : 0;
      const bool is_told = std::ranges::count(report->unproven_metalayers, name) > 0;
      EXPECT_TRUE(is_right || is_told || absl::IsNotFound(layer.status())) << at;
      EXPECT_TRUE(layer.ok() || !report->lost.empty()) << at;
    }
    proven += report->unproven.size() <= 1 ? 1 : 0;
  }
  EXPECT_GE(proven, size * 9 / 10);  // where the table of fingerprints is found
  EXPECT_GE(kept, 2 * size * 9 / 10);
}

// The header's copy in the trailer is older than what another Blosc2 changed.
TEST_F(SalvageHistoryTest, ChangedMetalayerOfADamagedHeaderIsKeptAndNamed) {
  Buffer frame = MakeFrameWithDeadChunks();
  const ByteRange metalayer = MetalayerOf(frame);
  frame[static_cast<size_t>(metalayer.begin)] ^= std::byte{1};
  frame[0x1D] ^= std::byte{0x10};  // between two numbers
  Buffer changed = MakeItems(9);
  changed[0] ^= std::byte{1};
  const auto report = SalvageBytes(frame);
  ASSERT_NO_FATAL_FAILURE(ExpectLiveChunks(report, 0x1D));
  EXPECT_EQ(*Saved().GetMetalayer("unit"), changed);
  EXPECT_EQ(report->unproven_metalayers, std::vector<std::string>{"unit"});
}

TEST_F(SalvageHistoryTest, ChunkWhoseFingerprintIsDamagedIsNamed) {
  const Buffer frame = MakeFrameWithDeadChunks();
  const Frame opened = *Frame::OpenBuffer(frame);
  for (int64_t i = 0; i < kFew; ++i) {
    const uint64_t fingerprint = *opened.snapshot().GetEntry(i)->fingerprint;
    Buffer raw(sizeof(fingerprint));
    StoreLe(raw.data(), fingerprint);
    const auto found = std::find_end(frame.begin(), frame.end(), raw.begin(), raw.end());
    ASSERT_NE(found, frame.end());
    const int64_t at = found - frame.begin();
    const auto report = SalvageBytes(Flipped(frame, at));
    ASSERT_NO_FATAL_FAILURE(ExpectLiveChunks(report, at));
    EXPECT_EQ(report->unproven, std::vector<int64_t>{i}) << at;
  }
}

}  // namespace
}  // namespace cairn::test
