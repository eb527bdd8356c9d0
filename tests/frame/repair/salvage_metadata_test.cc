// Salvage of frames without a usable index or seal: what header and trailer still say is kept.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/recover.h"
#include "engine/base/bytes.h"
#include "tests/frame/repair/salvaging.h"
#include "tests/support/bytes.h"
#include "tests/support/files.h"
#include "tests/support/frame_parts.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

class SalvageMetadataTest : public Salvaging {
 protected:
  // A frame of five chunks, as other libraries write it.
  Buffer MakeFrameWithoutSeal() {
    CreateOptions options = Cut(4, kSmallChunk);
    options.metalayers = {{"unit", MakeItems(9)}};
    options.fingerprint = FingerprintType::kNone;
    return MakeFrame(options, {MakeItems(5 * kSmallChunk)});
  }

  CreateOptions ArrayOptions(std::vector<int64_t> shape, std::vector<int32_t> chunkshape) const {
    CreateOptions options = Cut(4, kSmallChunk);
    options.metalayers = {{"unit", MakeItems(9)}};
    options.array = ArrayInfo{
        .shape = shape, .chunkshape = chunkshape, .blockshape = chunkshape, .dtype = "<i4"};
    return options;
  }
  Buffer MakeArray(const CreateOptions& options, int64_t nchunks) {
    const std::string path = dir_.Path("array");
    auto writer = Frame::BeginCreate(path, options);
    EXPECT_TRUE(IsOk(writer));
    for (int64_t i = 0; i < nchunks; ++i) {
      EXPECT_TRUE(IsOk(writer->UpdateChunk(i, MakeNoise(kSmallChunk, static_cast<uint32_t>(i)))));
    }
    EXPECT_TRUE(IsOk(writer->Close()));
    return FileBytes(path);
  }
};

TEST_F(SalvageMetadataTest, FrameWithoutASealEndsWithItsFile) {
  const Buffer frame = MakeFrameWithoutSeal();
  for (size_t at = 16; at < 24; ++at) {
    Buffer damaged = frame;
    damaged[at] ^= std::byte{0x10};
    const auto report = SalvageBytes(damaged);
    ASSERT_NO_FATAL_FAILURE(ExpectSaved(report, MakeItems(5 * kSmallChunk))) << at;
    EXPECT_EQ(*Saved().GetMetalayer("unit"), MakeItems(9)) << at;
    EXPECT_EQ(report->unproven.size(), 5u) << at;
    EXPECT_FALSE(report->scanned) << at;
  }
}

// The bytes between the numbers of a header are the same in all frames.
TEST_F(SalvageMetadataTest, DamageBetweenTheNumbersOfAHeaderIsMended) {
  const Buffer frame = MakeFrameWithoutSeal();
  for (const size_t at : {0, 1, 2, 9, 10, 15, 24, 29, 38, 47, 52, 57, 62, 65, 69, 87, 88, 91}) {
    Buffer damaged = frame;
    damaged[at] ^= std::byte{0x01};
    const auto report = SalvageBytes(damaged);
    ASSERT_NO_FATAL_FAILURE(ExpectSaved(report, MakeItems(5 * kSmallChunk))) << at;
    EXPECT_EQ(*Saved().GetMetalayer("unit"), MakeItems(9)) << at;
    EXPECT_EQ(*Saved().GetVlmetalayer("text"), MakeItems(800, 78)) << at;
    EXPECT_FALSE(report->scanned) << at;
    const std::vector<std::string> names = {"unit", "noise", "text"};
    EXPECT_EQ(report->unproven_metalayers, names) << at;
  }
}

TEST_F(SalvageMetadataTest, DamagedIndexWithoutASealLeavesTheMetadata) {
  const Buffer frame = MakeFrameWithoutSeal();
  const FrameParts parts = PartsOf(frame);
  Buffer damaged = frame;
  Ruin(damaged, {parts.index_begin, parts.trailer_begin});
  const auto report = SalvageBytes(damaged);
  ASSERT_NO_FATAL_FAILURE(ExpectSaved(report, MakeItems(5 * kSmallChunk)));
  EXPECT_TRUE(report->scanned);
  EXPECT_EQ(*Saved().GetMetalayer("unit"), MakeItems(9));
  EXPECT_EQ(*Saved().GetVlmetalayer("text"), MakeItems(800, 78));
}

TEST_F(SalvageMetadataTest, NameThatNoFrameCanHaveIsLostAlone) {
  CreateOptions options = ArrayOptions({20, 30}, {10, 10});
  options.metalayers.push_back({"unis", MakeItems(5)});
  Buffer frame = MakeArray(options, 6);
  // The array is too long for its chunks, so they are saved without it.
  frame.resize(static_cast<size_t>(PlacesOf(frame)[4].begin));
  const auto name = [&](std::string_view text) {
    const Bytes bytes = AsBytes(text);
    return std::search(frame.begin(), frame.end(), bytes.begin(), bytes.end());
  };
  Buffer twice = frame;
  twice[static_cast<size_t>(name("unis") - frame.begin()) + 3] = std::byte{'t'};
  Buffer with_nul = frame;
  with_nul[static_cast<size_t>(name("unis") - frame.begin())] = std::byte{0};
  for (const Buffer& damaged : {twice, with_nul}) {
    const auto report = SalvageBytes(damaged);
    ASSERT_TRUE(IsOk(report));
    EXPECT_EQ(report->chunks, 4);
    EXPECT_EQ(*Saved().GetMetalayer("unit"), MakeItems(9));
    EXPECT_EQ(report->unproven_metalayers, std::vector<std::string>{"unit"});
  }
}

TEST_F(SalvageMetadataTest, CutLineIsAsLongAsItsChunks) {
  const Buffer frame = MakeArray(ArrayOptions({550}, {100}), 6);
  const std::vector<ByteRange> places = PlacesOf(frame);
  Buffer cut(frame.begin(), frame.begin() + places[4].begin + 10);
  const auto report = SalvageBytes(cut);
  ASSERT_TRUE(IsOk(report));
  const Snapshot saved = Saved();
  ASSERT_TRUE(saved.array().has_value());
  EXPECT_EQ(saved.array()->shape, std::vector<int64_t>{400});
  EXPECT_EQ(saved.array()->dtype, "<i4");
  EXPECT_TRUE(saved.Verify()->ok());
  EXPECT_EQ(*saved.GetMetalayer("unit"), MakeItems(9));
  EXPECT_EQ(report->unproven_metalayers, (std::vector<std::string>{"b2nd", "unit"}));
}

TEST_F(SalvageMetadataTest, CutArrayOfTwoDimensionsSaysWhatItWas) {
  const Buffer frame = MakeArray(ArrayOptions({20, 30}, {10, 10}), 6);
  const std::vector<ByteRange> places = PlacesOf(frame);
  Buffer cut(frame.begin(), frame.begin() + places[4].begin + 10);
  const auto report = SalvageBytes(cut);
  ASSERT_TRUE(IsOk(report));
  const Snapshot saved = Saved();
  // Nothing says which of the six chunks are there.
  EXPECT_FALSE(saved.array().has_value());
  EXPECT_EQ(report->chunks, 4);
  EXPECT_EQ(*saved.GetMetalayer("unit"), MakeItems(9));
  const auto told = std::ranges::find_if(report->lost, [](const LostBytes& lost) {
    return lost.reason.find("shape (20, 30), dtype <i4") != std::string::npos;
  });
  EXPECT_NE(told, report->lost.end());
  EXPECT_TRUE(saved.Verify()->ok());
}

TEST_F(SalvageMetadataTest, ArrayThatLostOnlyItsIndexIsAnArray) {
  CreateOptions options = ArrayOptions({20, 30}, {10, 10});
  options.fingerprint = FingerprintType::kNone;
  Buffer frame = MakeArray(options, 6);
  const FrameParts parts = PartsOf(frame);
  Ruin(frame, {parts.index_begin, parts.trailer_begin});
  const auto report = SalvageBytes(frame);
  ASSERT_TRUE(IsOk(report));
  const Snapshot saved = Saved();
  ASSERT_TRUE(saved.array().has_value());
  EXPECT_EQ(saved.array()->shape, (std::vector<int64_t>{20, 30}));
  EXPECT_EQ(report->unproven_metalayers, (std::vector<std::string>{"b2nd", "unit"}));
  EXPECT_TRUE(saved.Verify()->ok());
}

// Their sizes are in the chunks alone.
TEST_F(SalvageMetadataTest, ChunksOfUnknownSizeLeaveHolesThatTakeWhatIsLeft) {
  const std::vector<Buffer> pieces = {MakeItems(100), MakeItems(204), MakeItems(300),
                                      MakeItems(80)};
  CreateOptions options = Cut(4, ChunkSize::Variable());
  options.metalayers = {{"unit", MakeItems(9)}};
  Buffer frame = MakeFrame(options, pieces);
  const std::vector<ByteRange> places = PlacesOf(frame);
  Ruin(frame, {places[1].begin, places[1].begin + 16});
  const auto report = SalvageBytes(frame);
  ASSERT_TRUE(IsOk(report));
  EXPECT_EQ(report->holes, std::vector<int64_t>{1});
  EXPECT_TRUE(report->unproven.empty());
  const Snapshot saved = Saved();
  EXPECT_EQ(*saved.ChunkNbytes(1), 204);
  EXPECT_EQ(*saved.GetMetalayer("unit"), MakeItems(9));
  Buffer last(80);
  ASSERT_TRUE(IsOk(saved.ReadChunk(3, last)));
  EXPECT_EQ(last, pieces[3]);
}

TEST_F(SalvageMetadataTest, HoleAmongVariableBlocksIsOneBlock) {
  const std::string path = dir_.Path("blocks");
  auto writer = Frame::BeginCreate(path, Cut(1, ChunkSize::Variable()));
  ASSERT_TRUE(IsOk(writer));
  const std::vector<size_t> sizes = {40, 90};
  for (uint32_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(IsOk(writer->AppendCompressed(CompressedVl(MakeNoise(130, i), sizes, 1))));
  }
  ASSERT_TRUE(IsOk(writer->Close()));
  Buffer frame = FileBytes(path);
  frame[static_cast<size_t>(PlacesOf(frame)[1].end) - 20] ^= std::byte{1};
  const auto report = SalvageBytes(frame);
  ASSERT_TRUE(IsOk(report));
  EXPECT_EQ(report->holes, std::vector<int64_t>{1});
  const Snapshot saved = Saved();
  ASSERT_EQ(saved.info().nchunks, 3);
  Buffer items(130);
  EXPECT_TRUE(IsOk(saved.ReadChunk(2, items)));
  const absl::Status hole = saved.ReadChunk(1, items);
  EXPECT_TRUE(absl::IsDataLoss(hole) && hole.message().find("a hole") != absl::string_view::npos)
      << hole;
}

}  // namespace
}  // namespace cairn::test
