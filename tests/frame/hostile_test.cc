// Frames whose bytes lie, in ways that fuzzing found to be answered wrongly.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/endian.h"
#include "engine/chunk/special.h"
#include "engine/format/index_entry.h"
#include "tests/support/bytes.h"
#include "tests/support/files.h"
#include "tests/support/frame_parts.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::frame {
namespace {

using absl::StatusCode;
using test::Buffer;

// Positions in the header of a frame.
constexpr size_t kFrameSizeAt = 0x10;
constexpr size_t kNbytesAt = 0x1E;
constexpr size_t kCbytesAt = 0x27;
constexpr size_t kTypesizeAt = 0x30;
constexpr size_t kChunksizeAt = 0x3A;

TEST(HostileFrameTest, NansOfATypesizeThatHasNoneAreDamage) {
  const test::TempDir dir;
  CreateOptions options = test::Cut(4, 40);
  options.fingerprint = FingerprintType::kNone;
  absl::StatusOr<Writer> writer = Frame::BeginCreate(dir.Path("f"), options);
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->AppendSpecial(SpecialValue::kNans, 10)));
  ASSERT_TRUE(IsOk(writer->Close()));
  Buffer bytes = test::FileBytes(dir.Path("f"));
  StoreBe<uint32_t>(bytes.data() + kTypesizeAt, 5);

  const absl::StatusOr<Frame> frame = Frame::OpenBuffer(bytes);
  ASSERT_TRUE(IsOk(frame));
  Buffer chunk(40);
  EXPECT_EQ(frame->snapshot().ReadChunk(0, chunk).code(), StatusCode::kDataLoss);
  EXPECT_EQ(frame->snapshot().GetChunk(0).status().code(), StatusCode::kDataLoss);
}

TEST(HostileFrameTest, VerifyFindsANumberOfBytesThatVariableChunksDoNotHold) {
  const test::TempDir dir;
  CreateOptions options = test::Cut(4, ChunkSize::Variable());
  options.fingerprint = FingerprintType::kNone;
  ASSERT_TRUE(IsOk(test::WriteFrame(dir.Path("f"), options, test::MakeItems(100))));
  Buffer bytes = test::FileBytes(dir.Path("f"));
  const auto verify = [&] { return *Frame::OpenBuffer(bytes)->snapshot().Verify(); };
  EXPECT_TRUE(verify().ok());
  StoreBe<uint64_t>(bytes.data() + kNbytesAt, 96);
  const VerifyReport report = verify();
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].section, "header");
}

// Two variable chunks of 400 bytes, and a header that says they hold `nbytes`.
void PutLyingFrame(const std::string& path, int64_t nbytes) {
  CreateOptions options = test::Cut(4, ChunkSize::Variable());
  options.fingerprint = FingerprintType::kNone;
  options.overwrite = true;
  absl::StatusOr<Writer> writer = Frame::BeginCreate(path, options);
  ASSERT_TRUE(IsOk(writer));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(IsOk(writer->Append(test::MakeItems(400))));
  ASSERT_TRUE(IsOk(writer->Close()));
  Buffer bytes = test::FileBytes(path);
  StoreBe(bytes.data() + kNbytesAt, static_cast<uint64_t>(nbytes));
  test::PutFileBytes(path, bytes);
}

TEST(HostileFrameTest, NoEditLeavesASumThatCannotBe) {
  const test::TempDir dir;
  const std::string path = dir.Path("f");
  const auto status_of = [&](int64_t nbytes, const auto& edit) {
    PutLyingFrame(path, nbytes);
    absl::StatusOr<Frame> frame = Frame::Open(path);
    EXPECT_TRUE(IsOk(frame));
    absl::StatusOr<Writer> writer = frame->OpenWriter();
    EXPECT_TRUE(IsOk(writer));
    return edit(*writer);
  };
  const auto erase = [](Writer& writer) { return writer.DeleteChunks(0, 1); };
  const auto erase_all = [](Writer& writer) { return writer.DeleteChunks(0, 2); };
  const auto grow = [](Writer& writer) { return writer.UpdateChunk(0, test::MakeItems(404)); };
  EXPECT_TRUE(IsOk(status_of(800, erase)));
  EXPECT_TRUE(IsOk(status_of(800, erase_all)));
  EXPECT_TRUE(IsOk(status_of(800, grow)));
  EXPECT_EQ(status_of(1, erase).code(), StatusCode::kDataLoss);
  EXPECT_EQ(status_of(400, erase).code(), StatusCode::kDataLoss);  // nothing left, but a chunk
  EXPECT_EQ(status_of(804, erase_all).code(), StatusCode::kDataLoss);
  EXPECT_EQ(status_of(396, grow).code(), StatusCode::kDataLoss);
  EXPECT_EQ(status_of(INT64_MAX, grow).code(), StatusCode::kDataLoss);
}

// C-Blosc2 makes the chunks of a frame variable when it appends to one whose last chunk is short.
TEST(ForeignFrameTest, SpecialChunksThatLoseTheirSizeHideNoOthers) {
  const test::TempDir dir;
  CreateOptions options = test::Cut(4, 400);
  options.fingerprint = FingerprintType::kNone;
  absl::StatusOr<Writer> writer = Frame::BeginCreate(dir.Path("f"), options);
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->AppendSpecial(SpecialValue::kZeros, 1000 * 100)));
  const Buffer items = test::MakeItems(400);
  ASSERT_TRUE(IsOk(writer->Append(items)));
  ASSERT_TRUE(IsOk(writer->Close()));
  Buffer bytes = test::FileBytes(dir.Path("f"));
  StoreBe<uint32_t>(bytes.data() + kChunksizeAt, 0);

  const absl::StatusOr<Frame> frame = Frame::OpenBuffer(bytes);
  ASSERT_TRUE(IsOk(frame));
  Buffer chunk(400);
  EXPECT_EQ(frame->snapshot().ReadChunk(0, chunk).code(), StatusCode::kDataLoss);
  ASSERT_TRUE(IsOk(frame->snapshot().ReadChunk(1000, chunk)));
  EXPECT_EQ(chunk, items);

  // Nor does an edit make a sum of them that cannot be.
  test::PutFileBytes(dir.Path("f"), bytes);
  absl::StatusOr<Writer> again = Frame::Open(dir.Path("f"))->OpenWriter();
  ASSERT_TRUE(IsOk(again));
  EXPECT_EQ(again->DeleteChunks(1, 1).code(), StatusCode::kDataLoss);
  EXPECT_EQ(again->UpdateChunk(1, items).code(), StatusCode::kDataLoss);
  EXPECT_TRUE(IsOk(again->UpdateChunk(1000, items)));
}

TEST(HostileFrameTest, ChunksizesThatNoChunkCanHaveAreDamage) {
  const test::TempDir dir;
  CreateOptions options = test::Cut(4, 400);
  options.fingerprint = FingerprintType::kNone;
  ASSERT_TRUE(IsOk(test::WriteFrame(dir.Path("f"), options, test::MakeItems(100))));
  Buffer bytes = test::FileBytes(dir.Path("f"));
  StoreBe<uint32_t>(bytes.data() + kChunksizeAt, kMaxChunkBytes);
  EXPECT_TRUE(IsOk(Frame::OpenBuffer(bytes)));
  StoreBe<uint32_t>(bytes.data() + kChunksizeAt, kMaxChunkBytes + 1);
  EXPECT_EQ(Frame::OpenBuffer(bytes).status().code(), StatusCode::kDataLoss);
}

// A frame of variable chunks with another index, and nothing before it.
Buffer WithIndexAlone(Bytes index, int64_t nbytes) {
  const test::TempDir dir;
  CreateOptions options = test::Cut(4, ChunkSize::Variable());
  options.fingerprint = FingerprintType::kNone;
  EXPECT_TRUE(IsOk(test::WriteFrame(dir.Path("f"), options, test::MakeItems(100))));
  const Buffer model = test::FileBytes(dir.Path("f"));
  const test::FrameParts parts = test::PartsOf(model);
  Buffer frame(model.begin(), model.begin() + parts.header_len);
  test::AddTo(frame, index);
  test::AddTo(frame, Bytes(model).subspan(static_cast<size_t>(parts.trailer_begin)));
  StoreBe<uint64_t>(frame.data() + kFrameSizeAt, frame.size());
  StoreBe<uint64_t>(frame.data() + kNbytesAt, static_cast<uint64_t>(nbytes));
  StoreBe<uint64_t>(frame.data() + kCbytesAt, 0);
  return frame;
}

TEST(HostileFrameTest, BytesWithoutChunksAreDamage) {
  const Buffer frame = WithIndexAlone(chunk::MemcpyedChunk({}, 8), 100);
  EXPECT_EQ(Frame::OpenBuffer(frame).status().code(), StatusCode::kDataLoss);
}

TEST(HostileFrameTest, NoCheckpointHasMoreChunksThanOpen) {
  chunk::WorkspacePool pool;
  const std::vector<int64_t> zeros(1 << 20, format::EntryOfSpecial(SpecialValue::kZeros));
  const test::TempDir dir;
  test::PutFileBytes(dir.Path("f"), WithIndexAlone(*format::EncodeIndex(zeros, &pool), 100));
  {
    absl::StatusOr<Writer> writer = Frame::Open(dir.Path("f"))->OpenWriter();
    ASSERT_TRUE(IsOk(writer));
    ASSERT_TRUE(IsOk(writer->Append(test::MakeItems(100))));
    EXPECT_EQ(writer->Checkpoint().code(), StatusCode::kResourceExhausted);
  }
  EXPECT_EQ(Frame::Open(dir.Path("f"))->snapshot().info().nchunks, 1 << 20);
}

TEST(NewFrameTest, HeadersGiveTheBlocksThatChunksHave) {
  const test::TempDir dir;
  CreateOptions options = test::Cut(12, 12 * 20'000);
  options.compression.blocksize = 64 << 10;
  ASSERT_TRUE(IsOk(test::WriteFrame(dir.Path("f"), options, test::MakeItems(12 * 20'000))));
  const Snapshot snapshot = Frame::Open(dir.Path("f"))->snapshot();
  EXPECT_EQ(snapshot.info().blocksize, 65'532);
  EXPECT_EQ(InspectChunk(snapshot.GetChunk(0)->bytes())->blocksize, 65'532);
}

TEST(DamagedFrameTest, ItemsThatFillAChunkReplaceItWhateverItIs) {
  const test::TempDir dir;
  const std::string path = dir.Path("f");
  const Buffer items = test::MakeItems(1200);
  ASSERT_TRUE(IsOk(test::WriteFrame(path, test::Cut(4, 400), items)));
  Buffer bytes = test::FileBytes(path);
  const int64_t second = Frame::Open(path)->snapshot().GetEntry(1)->offset.value();
  bytes[static_cast<size_t>(second) + 40] ^= std::byte{1};
  test::PutFileBytes(path, bytes);
  {
    absl::StatusOr<Writer> writer = Frame::Open(path)->OpenWriter();
    ASSERT_TRUE(IsOk(writer));
    const Bytes chunk = Bytes(items).subspan(400, 400);
    EXPECT_EQ(writer->WriteItems(100, chunk.first(396)).code(), StatusCode::kDataLoss);
    ASSERT_TRUE(IsOk(writer->WriteItems(100, chunk)));
    ASSERT_TRUE(IsOk(writer->Close()));
  }
  test::ExpectHolds(Frame::Open(path)->snapshot(), items);
}

}  // namespace
}  // namespace cairn::frame
