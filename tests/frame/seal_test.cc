// Tests what a seal is, and that no damage to a sealed frame goes unseen.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "tests/support/bytes.h"
#include "tests/support/files.h"
#include "tests/support/frame_parts.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

std::string FindingsOf(const VerifyReport& report) {
  std::string text;
  for (const Finding& finding : report.findings) {
    absl::StrAppend(&text, "[", finding.section, "] ", finding.reason, "\n");
  }
  return text;
}

class FrameSealTest : public testing::Test {
 protected:
  static CreateOptions OptionsOf(FingerprintType type) {
    CreateOptions options = PlainCopies(kSmallChunk);
    options.fingerprint = type;
    options.metalayers = {{.name = "m", .content = ToVector(AsBytes("content"))}};
    return options;
  }
  Frame Open(const OpenOptions& options = {}) const {
    auto frame = Frame::Open(path_, options);
    EXPECT_TRUE(IsOk(frame));
    return *std::move(frame);
  }
  FrameInfo Info() const { return Open().snapshot().info(); }
  void Damage(int64_t position) const {
    Buffer file = FileBytes(path_);
    file[static_cast<size_t>(position)] ^= std::byte{1};
    PutFileBytes(path_, file);
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
};

// Returns true if the trailer of a file names Cairn's layers.
bool HasCairnLayer(Bytes file) {
  const Bytes trailer = file.subspan(static_cast<size_t>(PartsOf(file).trailer_begin));
  return AsText(trailer).find("cairn") != std::string_view::npos;
}

class SealTypeTest : public FrameSealTest, public testing::WithParamInterface<FingerprintType> {};

TEST_P(SealTypeTest, EveryTypeButNoneSealsTheFrame) {
  const bool sealed = GetParam() != FingerprintType::kNone;
  ASSERT_TRUE(IsOk(WriteFrame(path_, OptionsOf(GetParam()), MakeNoise(200, 1))));
  EXPECT_EQ(Info().fingerprint, GetParam());
  EXPECT_EQ(Info().sealed, sealed);
  EXPECT_EQ(FileBytes(path_).at(static_cast<size_t>(Info().frame_size) - 17),
            static_cast<std::byte>(GetParam()));
  const auto report = Open().snapshot().Verify();
  ASSERT_TRUE(IsOk(report));
  EXPECT_TRUE(report->ok()) << FindingsOf(*report);
  EXPECT_EQ(report->sealed, sealed);
  EXPECT_EQ(report->notes.empty(), sealed);
}

TEST_P(SealTypeTest, CreatedFrameKeepsItsTypeThroughCommits) {
  ASSERT_TRUE(IsOk(Frame::Create(path_, OptionsOf(GetParam()))));
  for (uint64_t i = 1; i <= 3; ++i) {
    ASSERT_TRUE(IsOk(AppendTo(path_, MakeNoise(100, i))));
    EXPECT_EQ(Info().fingerprint, GetParam());
    EXPECT_EQ(Info().sealed, GetParam() != FingerprintType::kNone);
    EXPECT_EQ(Info().generation, i + 1);
    EXPECT_TRUE(HasCairnLayer(FileBytes(path_)));
  }
}

TEST_F(FrameSealTest, ItemsThatWaitInTheJournalAreNotDead) {
  constexpr int64_t kChunks = 5;
  ASSERT_TRUE(IsOk(Frame::Create(path_, OptionsOf(FingerprintType::k64Bit))));
  auto frame = Frame::Open(path_);
  auto writer = frame->OpenWriter();
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(kChunks * kSmallChunk + kSmallChunk / 2, 1))));
  ASSERT_TRUE(IsOk(writer->Commit(Durability::kProcess)));
  constexpr int64_t kRecord = 400;  // bytes of a commit record without its items
  for (uint64_t i = 1; i <= 3; ++i) {
    const FrameInfo info = Info();
    EXPECT_GT(info.journal_size, kChunks * kSmallChunk);
    const int64_t commits = static_cast<int64_t>(i) * kRecord;
    EXPECT_LT(info.dead_bytes.value_or(INT64_MAX),
              commits + static_cast<int64_t>(i - 1) * kSmallChunk);
    EXPECT_EQ(frame->Refresh()->info().dead_bytes, info.dead_bytes);
    ASSERT_TRUE(IsOk(writer->Append(MakeNoise(kSmallChunk / 8, i))));
    ASSERT_TRUE(IsOk(writer->Commit(Durability::kProcess)));
  }
}

TEST_P(SealTypeTest, DeadAndStoredBytesAddUp) {
  ASSERT_TRUE(IsOk(Frame::Create(path_, OptionsOf(GetParam()))));
  auto frame = Frame::Open(path_);
  auto writer = frame->OpenWriter();
  for (uint64_t i = 1; i <= 5; ++i) {
    ASSERT_TRUE(IsOk(writer->Append(MakeNoise(90, i))));
    ASSERT_TRUE(IsOk(writer->AppendSpecial(SpecialValue::kZeros, 70)));
    ASSERT_TRUE(IsOk(writer->Checkpoint()));
    const Snapshot snapshot = Open().snapshot();
    const FrameParts parts = PartsOf(FileBytes(path_));
    EXPECT_EQ(snapshot.info().cbytes, StoredBytes(snapshot));
    EXPECT_EQ(snapshot.info().dead_bytes,
              parts.index_begin - parts.header_len - StoredBytes(snapshot));
    EXPECT_GT(snapshot.info().dead_bytes, 0);  // trailers of the states before
  }
}

INSTANTIATE_TEST_SUITE_P(Types, SealTypeTest,
                         testing::Values(FingerprintType::kNone, FingerprintType::k32Bit,
                                         FingerprintType::k64Bit, FingerprintType::k128Bit));

TEST_F(FrameSealTest, BuiltFrameWithoutFingerprintsHasNothingOfCairn) {
  ASSERT_TRUE(IsOk(WriteFrame(path_, OptionsOf(FingerprintType::kNone), MakeNoise(200, 1))));
  EXPECT_FALSE(HasCairnLayer(FileBytes(path_)));
  EXPECT_EQ(Info().generation, 0u);
  EXPECT_FALSE(Open().snapshot().Verify()->notes.empty());
}

TEST_F(FrameSealTest, EachCommitAddsOneToTheGeneration) {
  ASSERT_TRUE(IsOk(WriteFrame(path_, OptionsOf(FingerprintType::k64Bit), MakeNoise(200, 1))));
  Frame frame = Open();
  auto writer = frame.OpenWriter();
  for (uint64_t generation = 2; generation <= 5; ++generation) {
    ASSERT_TRUE(IsOk(writer->SetVlmetalayer("note", AsBytes("text"))));
    EXPECT_EQ(writer->Commit()->info().generation, generation);
    EXPECT_EQ(Info().generation, generation);
  }
  EXPECT_EQ(writer->Commit()->info().generation, 5u);  // nothing was staged
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_EQ(Info().generation, 6u);  // the checkpoint that the journal went into
}

// Flips a byte of chunk 0's payload after it was read once; what the second read gives.
class VerifyPolicyTest : public FrameSealTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(IsOk(WriteFrame(path_, OptionsOf(FingerprintType::k64Bit), MakeNoise(200, 1))));
    payload_ = Open().snapshot().GetEntry(0)->offset.value() + 32;
  }
  static absl::Status ReadFirst(const Frame& frame) {
    Buffer chunk(kSmallChunk);
    return frame.snapshot().ReadChunk(0, chunk);
  }
  // Without a map, so that the damage is seen at the next read of the file.
  Frame OpenWith(VerifyPolicy policy) const { return Open({.use_mmap = false, .verify = policy}); }

  int64_t payload_ = 0;
};

TEST_F(VerifyPolicyTest, FirstTouchChecksOnceThroughOneHandle) {
  const Frame frame = OpenWith(VerifyPolicy::kFirstTouch);
  EXPECT_TRUE(IsOk(ReadFirst(frame)));
  Damage(payload_);
  EXPECT_TRUE(IsOk(ReadFirst(frame)));
  EXPECT_TRUE(absl::IsDataLoss(ReadFirst(OpenWith(VerifyPolicy::kFirstTouch))));
}

TEST_F(VerifyPolicyTest, AlwaysChecksEveryRead) {
  const Frame frame = OpenWith(VerifyPolicy::kAlways);
  EXPECT_TRUE(IsOk(ReadFirst(frame)));
  Damage(payload_);
  EXPECT_TRUE(absl::IsDataLoss(ReadFirst(frame)));
  Damage(payload_);
  EXPECT_TRUE(IsOk(ReadFirst(frame)));
}

TEST_F(VerifyPolicyTest, NeverChecksNothingButVerifyDoes) {
  Damage(payload_);
  const Frame frame = OpenWith(VerifyPolicy::kNever);
  EXPECT_TRUE(IsOk(ReadFirst(frame)));
  const auto report = frame.snapshot().Verify();
  ASSERT_EQ(report->findings.size(), 1u) << FindingsOf(*report);
  EXPECT_EQ(report->findings[0].section, "chunk 0");
}

TEST_F(FrameSealTest, DamagedTrailerLeavesTheChunksReadable) {
  ASSERT_TRUE(IsOk(WriteFrame(path_, OptionsOf(FingerprintType::k64Bit), MakeNoise(300, 1))));
  auto writer = Open().OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->SetVlmetalayer("v", MakeNoise(100, 2))));
  ASSERT_TRUE(IsOk(writer->Close()));
  // Inside the value, which is stored as it is.
  const Buffer file = FileBytes(path_);
  const size_t value = AsText(file).rfind(AsText(MakeNoise(100, 2)));
  Damage(static_cast<int64_t>(value) + 50);

  const Frame frame = Open();
  EXPECT_EQ(DataOf(frame.snapshot()).value(), MakeNoise(300, 1));
  EXPECT_FALSE(frame.snapshot().info().sealed);
  EXPECT_TRUE(absl::IsDataLoss(frame.snapshot().GetVlmetalayer("v").status()));
  const auto report = frame.snapshot().Verify();
  ASSERT_TRUE(IsOk(report));
  ASSERT_EQ(report->findings.size(), 1u);
  EXPECT_EQ(report->findings[0].section, "trailer");
  EXPECT_TRUE(absl::IsDataLoss(Open().OpenWriter().status()));
}

}  // namespace
}  // namespace cairn::test
