// Frames of older formats open read-only through the same interface.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "tests/format/legacy_frames.h"
#include "tests/support/bytes.h"
#include "tests/support/files.h"
#include "tests/support/frames.h"
#include "tests/support/hex.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

struct Sample {
  std::string name;
  Buffer bytes;
  Era era;
  std::vector<std::string> vlmetalayers;
};

std::vector<Sample> Samples() {
  return {
      {"Packed", PackedFrame(), Era::kPacked2015, {"metadata", "userdata"}},
      {"PackedDelta", PackedDeltaFrame(), Era::kPacked2015, {}},
      {"Of2019", Frame2019(), Era::kFrame2019, {}},
      {"Of2019WithLayer", Frame2019WithLayer(), Era::kFrame2019, {}},
      {"Beta2", BetaFrame(BetaTrailerForm::kBeta2), Era::kBeta, {"usermeta"}},
      {"Beta4", BetaFrame(BetaTrailerForm::kBeta4), Era::kBeta, {"usermeta"}},
  };
}

void PrintTo(const Sample& sample, std::ostream* stream) { *stream << sample.name; }

class LegacyLoaderTest : public testing::TestWithParam<Sample> {
 protected:
  Frame Opened() {
    absl::StatusOr<Frame> frame = Frame::OpenBuffer(GetParam().bytes);
    EXPECT_TRUE(IsOk(frame));
    return *std::move(frame);
  }

  const TempDir dir_;
};

INSTANTIATE_TEST_SUITE_P(Eras, LegacyLoaderTest, testing::ValuesIn(Samples()),
                         [](const auto& info) { return info.param.name; });

TEST_P(LegacyLoaderTest, ReadsInPlaceAndByCopyAndFromABuffer) {
  const std::string path = dir_.Path("frame");
  PutFileBytes(path, GetParam().bytes);
  for (const bool use_mmap : {true, false}) {
    const absl::StatusOr<Frame> frame = Frame::Open(path, {.use_mmap = use_mmap});
    ASSERT_TRUE(IsOk(frame));
    ExpectHolds(frame->snapshot(), Hex(kLegacyContent));
  }
  ExpectHolds(Opened().snapshot(), Hex(kLegacyContent));
}

TEST_P(LegacyLoaderTest, DescribesItself) {
  const Frame frame = Opened();
  const Snapshot snapshot = frame.snapshot();
  const FrameInfo& info = snapshot.info();
  EXPECT_EQ(info.era, GetParam().era);
  EXPECT_EQ(info.format_version, info.era == Era::kBeta ? 1 : 0);
  EXPECT_EQ(info.nchunks, 2);
  EXPECT_EQ(info.chunksize, 8);
  EXPECT_EQ(info.typesize, 4);
  EXPECT_EQ(info.codec, Codec::kLz4);
  EXPECT_EQ(info.filters.back(), (FilterStage{Filter::kShuffle, 0}));
  EXPECT_EQ(info.frame_size, std::ssize(GetParam().bytes));
  EXPECT_EQ(info.generation, 0u);
  EXPECT_FALSE(info.sealed);
}

TEST_P(LegacyLoaderTest, HandsOutItsMetadata) {
  const Frame frame = Opened();
  const Snapshot snapshot = frame.snapshot();
  EXPECT_EQ(snapshot.vlmetalayers(), GetParam().vlmetalayers);
  for (const std::string& name : snapshot.vlmetalayers()) {
    const absl::StatusOr<Buffer> content = snapshot.GetVlmetalayer(name);
    ASSERT_TRUE(IsOk(content));
    EXPECT_EQ(AsText(*content), name == "metadata" ? "meta" : "user");
  }
  if (GetParam().name == "Of2019WithLayer") {
    EXPECT_EQ(snapshot.metalayers(),
              (std::vector<Metalayer>{{.name = "m", .content = ToVector(AsBytes("ab"))}}));
  }
}

TEST_P(LegacyLoaderTest, IsReadOnly) {
  const std::string path = dir_.Path("frame");
  PutFileBytes(path, GetParam().bytes);
  absl::StatusOr<Frame> frame = Frame::Open(path);
  ASSERT_TRUE(IsOk(frame));
  EXPECT_TRUE(Fails(frame->OpenWriter(), absl::StatusCode::kFailedPrecondition, "cairn copy"));
  EXPECT_TRUE(Fails(Opened().OpenWriter(), absl::StatusCode::kFailedPrecondition, "older"));
  EXPECT_TRUE(Frame::Open(path)->snapshot().ToBuffer().value() == GetParam().bytes)
      << "and unchanged";
}

TEST_P(LegacyLoaderTest, StaysAsItIsWhenRefreshed) {
  const std::string path = dir_.Path("frame");
  PutFileBytes(path, GetParam().bytes);
  absl::StatusOr<Frame> frame = Frame::Open(path);
  ASSERT_TRUE(IsOk(frame));
  const absl::StatusOr<Snapshot> again = frame->Refresh();
  ASSERT_TRUE(IsOk(again));
  EXPECT_EQ(*again, frame->snapshot());
}

TEST_P(LegacyLoaderTest, IsNotSealed) {
  const absl::StatusOr<VerifyReport> report = Opened().snapshot().Verify();
  ASSERT_TRUE(IsOk(report));
  EXPECT_TRUE(report->ok());
  EXPECT_FALSE(report->sealed);
  ASSERT_EQ(report->notes.size(), 1u);
  EXPECT_TRUE(report->notes[0].starts_with("not sealed")) << report->notes[0];
}

TEST_P(LegacyLoaderTest, HandsOutChunksThatDecodeAlone) {
  const Frame frame = Opened();
  Buffer all;
  for (const Buffer& chunk : ChunksOf(frame.snapshot())) {
    Buffer content(static_cast<size_t>(InspectChunk(chunk)->nbytes));
    ASSERT_TRUE(IsOk(DecompressChunk(chunk, content)));
    AddTo(all, content);
  }
  EXPECT_EQ(ToHex(all), kLegacyContent);
}

// Reads all there is, in pieces that a small file can have.
void ReadAll(Bytes bytes) {
  constexpr int32_t kLargest = 1 << 16;
  const auto check = [](const absl::Status& status) {
    EXPECT_TRUE(absl::IsResourceExhausted(status) || IsOkOrRefusal(status)) << status;
  };
  const absl::StatusOr<Frame> frame = Frame::OpenBuffer(bytes);
  check(frame.status());
  if (!frame.ok()) return;
  const Snapshot snapshot = frame->snapshot();
  for (int64_t i = 0; i < snapshot.info().nchunks; ++i) {
    const absl::StatusOr<int32_t> size = snapshot.ChunkNbytes(i);
    check(size.status());
    check(snapshot.GetChunk(i).status());
    if (!size.ok() || *size > kLargest) continue;
    Buffer content(static_cast<size_t>(*size));
    check(snapshot.ReadChunk(i, content));
  }
  if (snapshot.info().nbytes <= kLargest) {
    Buffer content(static_cast<size_t>(snapshot.info().nbytes));
    check(snapshot.ReadBytes(0, content));
  }
  for (const std::string& name : snapshot.vlmetalayers())
    check(snapshot.GetVlmetalayer(name).status());
  EXPECT_TRUE(IsOk(snapshot.Verify()));
}

TEST_P(LegacyLoaderTest, GivesDataOrAStatusForEveryFlippedBit) {
  Buffer bytes = GetParam().bytes;
  for (std::byte& byte : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      SCOPED_TRACE(absl::StrFormat("byte %d, bit %d", &byte - bytes.data(), bit));
      byte ^= std::byte{1} << bit;
      ReadAll(bytes);
      byte ^= std::byte{1} << bit;
    }
  }
}

TEST_P(LegacyLoaderTest, GivesDataOrAStatusForEveryFlippedByte) {
  Buffer bytes = GetParam().bytes;
  for (std::byte& byte : bytes) {
    SCOPED_TRACE(absl::StrFormat("byte %d", &byte - bytes.data()));
    byte = ~byte;
    ReadAll(bytes);
    byte = ~byte;
  }
}

TEST_P(LegacyLoaderTest, RefusesEveryTruncation) {
  const Buffer& bytes = GetParam().bytes;
  for (size_t size = 0; size < bytes.size(); ++size) {
    const Buffer cut(bytes.begin(), bytes.begin() + static_cast<int64_t>(size));
    // Without magic nothing shows that it was a frame.
    const bool no_magic = size < 2 || GetParam().era == Era::kPacked2015;
    const absl::Status status = Frame::OpenBuffer(cut).status();
    EXPECT_TRUE(no_magic ? absl::IsInvalidArgument(status) : absl::IsDataLoss(status)) << size;
  }
}

TEST_P(LegacyLoaderTest, OpensInTheMiddleOfAFile) {
  Buffer bytes(1000);
  AddTo(bytes, GetParam().bytes);
  const absl::StatusOr<Frame> frame = Frame::OpenBuffer(bytes, {.offset = 1000});
  ASSERT_TRUE(IsOk(frame));
  ExpectHolds(frame->snapshot(), Hex(kLegacyContent));
}

Buffer ContentOfBuffer(Bytes bytes) {
  const absl::StatusOr<Frame> frame = Frame::OpenBuffer(bytes);
  EXPECT_TRUE(IsOk(frame));
  return ContentOf(frame->snapshot());
}

TEST(LegacyBitshuffleTest, FollowsTheRuleOfItsTime) {
  EXPECT_EQ(ToHex(ContentOfBuffer(BitshuffledFrame2019())), kWholeBlockContent);
  EXPECT_EQ(ToHex(ContentOfBuffer(BitshuffledBetaFrame(BetaTrailerForm::kBeta2))),
            kWholeBlockContent);
  // beta.4 and beta.5 look the same; only the latter's rule is today's.
  EXPECT_NE(ToHex(ContentOfBuffer(BitshuffledBetaFrame(BetaTrailerForm::kBeta4))),
            kWholeBlockContent);
}

TEST(LegacyBitshuffleTest, ChunksTakeTheRuleAlong) {
  const Buffer bytes = BitshuffledFrame2019();
  const absl::StatusOr<Frame> frame = Frame::OpenBuffer(bytes);
  ASSERT_TRUE(IsOk(frame));
  const absl::StatusOr<Chunk> chunk = frame->snapshot().GetChunk(0);
  ASSERT_TRUE(IsOk(chunk));
  Buffer content(9);
  ASSERT_TRUE(IsOk(DecompressChunk(chunk->bytes(), content)));
  EXPECT_EQ(ToHex(content), kWholeBlockContent);
}

TEST(Legacy2019Test, TakesItsFiltersFromTheFirstChunk) {
  const Buffer bytes = BitshuffledFrame2019();
  const absl::StatusOr<Frame> frame = Frame::OpenBuffer(bytes);
  ASSERT_TRUE(IsOk(frame));
  EXPECT_EQ(frame->snapshot().info().filters, (std::vector<FilterStage>{{Filter::kBitShuffle, 0}}));
}

}  // namespace
}  // namespace cairn::test
