// Every bit of a sealed frame is flipped: the damage is found and named, and no chunk reads wrong.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "engine/format/frame_header.h"
#include "tests/support/bytes.h"
#include "tests/support/files.h"
#include "tests/support/frame_parts.h"
#include "tests/support/search.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

constexpr int32_t kSealedChunk = 256;

struct Range {
  int64_t begin = 0;
  int64_t end = 0;
  bool Holds(int64_t position) const { return position >= begin && position < end; }
};

// nthreads_comp and nthreads_decomp in the header, without their markers.
constexpr Range kThreads[] = {{0x3F, 0x41}, {0x42, 0x44}};
// Numbers by which index and trailer are found: when they are wrong it shows there.
constexpr Range kPlaces[] = {{0x0B, 0x0F}, {0x10, 0x18}, {0x1E, 0x3E}};

bool HoldsAny(std::span<const Range> ranges, int64_t position) {
  return std::ranges::any_of(ranges, [&](const Range& r) { return r.Holds(position); });
}

class SealDamageTest : public testing::TestWithParam<FingerprintType> {
 protected:
  void SetUp() override;
  // Flips one bit, checks what is said and read, and flips it back.
  void CheckFlip(int64_t position, int bit);
  void CheckOpenFailure(const absl::Status& status, int64_t position) const;
  void CheckSnapshot(const Snapshot& snapshot, int64_t position) const;
  void CheckReport(const VerifyReport& report, int64_t position) const;
  std::optional<int64_t> ChunkAt(int64_t position) const;

  Buffer frame_;
  FrameParts parts_;
  std::vector<Range> chunks_;  // empty ones are special
  std::vector<Buffer> data_;
  Range metalayer_;
  Range table_;  // fingerprints and sizes of the chunks
};

// Chunks in every form, and values of both kinds.
void SealDamageTest::SetUp() {
  const TempDir dir;
  CreateOptions options;
  options.chunksize = kSealedChunk;
  options.fingerprint = GetParam();
  options.metalayers = {{.name = "m", .content = ToVector(AsBytes("METALAYER"))}};
  auto writer = Frame::BeginCreate(dir.Path("f"), options);
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->Append(Buffer(2 * kSealedChunk, std::byte{7}))));
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(kSealedChunk, 1))));
  ASSERT_TRUE(IsOk(writer->AppendSpecial(SpecialValue::kZeros, kSealedChunk)));
  ASSERT_TRUE(IsOk(writer->AppendSpecial(SpecialValue::kRepeat, kSealedChunk, AsBytes("r"))));
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(kSealedChunk / 2, 2))));
  ASSERT_TRUE(IsOk(writer->SetVlmetalayer("note", AsBytes("a value of some length"))));
  ASSERT_TRUE(IsOk(writer->Close()));
  frame_ = FileBytes(dir.Path("f"));
  parts_ = PartsOf(frame_);
  const auto header = format::ParseFrameHeader(frame_);
  metalayer_ = {header->places[0].begin, header->places[0].begin + header->places[0].size};
  const auto frame = Frame::OpenBuffer(frame_);
  ASSERT_TRUE(frame.ok() && frame->snapshot().info().sealed);
  std::string first;
  for (int64_t i = 0; i < frame->snapshot().info().nchunks; ++i) {
    const ChunkEntry entry = frame->snapshot().GetEntry(i).value();
    const auto size = static_cast<int64_t>(frame->snapshot().GetChunk(i)->bytes().size());
    chunks_.push_back(!entry.offset ? Range{} : Range{*entry.offset, *entry.offset + size});
    data_.emplace_back(static_cast<size_t>(frame->snapshot().ChunkNbytes(i).value()));
    ASSERT_TRUE(IsOk(frame->snapshot().ReadChunk(i, data_.back())));
    if (i == 0) {
      for (int byte = 0; byte < 8; ++byte) {
        first.push_back(static_cast<char>(*entry.fingerprint >> (8 * byte)));
      }
    }
  }
  const auto table = static_cast<int64_t>(AsText(frame_).find(first));
  ASSERT_GT(table, parts_.trailer_begin);
  table_ = {table, table + 12 * static_cast<int64_t>(data_.size())};
}

std::optional<int64_t> SealDamageTest::ChunkAt(int64_t position) const {
  for (size_t i = 0; i < chunks_.size(); ++i) {
    if (chunks_[i].Holds(position)) return static_cast<int64_t>(i);
  }
  return std::nullopt;
}

void SealDamageTest::CheckOpenFailure(const absl::Status& status, int64_t position) const {
  // Versions and codecs that are not known may also be some to come.
  const bool in_a_header = position < parts_.header_len ||
                           Range{parts_.index_begin, parts_.index_begin + 32}.Holds(position);
  EXPECT_TRUE(absl::IsDataLoss(status) || (absl::IsUnimplemented(status) && in_a_header)) << status;
  std::vector<std::string_view> sections;
  if (position < parts_.header_len) {
    sections = {"frame header"};
    if (HoldsAny(kPlaces, position)) sections = {"frame header", "index", "trailer", "seal"};
  } else if (position >= parts_.trailer_begin) {
    sections = {"trailer"};
  } else {
    EXPECT_GE(position, parts_.index_begin) << "a damaged chunk is no reason not to open";
    sections = {"index"};
  }
  EXPECT_TRUE(std::ranges::any_of(sections, [&](std::string_view section) {
    return std::string(status.message()).starts_with(section);
  })) << status;
}

void SealDamageTest::CheckReport(const VerifyReport& report, int64_t position) const {
  if (metalayer_.Holds(position) || HoldsAny(kThreads, position)) {
    EXPECT_TRUE(report.ok());
    EXPECT_FALSE(report.sealed);
    EXPECT_EQ(report.notes.size(), 1u);
    return;
  }
  ASSERT_FALSE(report.ok()) << "damage goes unseen";
  const Finding& finding = report.findings[0];
  if (const std::optional<int64_t> chunk = ChunkAt(position); chunk.has_value()) {
    EXPECT_EQ(report.findings.size(), 1u);
    EXPECT_EQ(finding.section, absl::StrCat("chunk ", *chunk));
    EXPECT_EQ(finding.begin, chunks_[static_cast<size_t>(*chunk)].begin);
    return;
  }
  if (position >= parts_.trailer_begin && !table_.Holds(position)) {
    EXPECT_EQ(report.findings.size(), 1u);
    EXPECT_EQ(finding.section, "trailer");
    return;
  }
  // A page of the index and its part of the table are hashed together.
  EXPECT_TRUE(finding.section == "index" || absl::StrContains(finding.reason, "index"))
      << finding.section << ": " << finding.reason;
  EXPECT_TRUE(table_.Holds(position) ||
              (position >= parts_.index_begin && position < parts_.trailer_begin))
      << finding.section << ": " << finding.reason;
}

void SealDamageTest::CheckSnapshot(const Snapshot& snapshot, int64_t position) const {
  const auto report = snapshot.Verify();
  ASSERT_TRUE(IsOk(report));
  CheckReport(*report, position);
  const std::optional<int64_t> touched = ChunkAt(position);
  ASSERT_EQ(snapshot.info().nchunks, static_cast<int64_t>(data_.size()));
  for (size_t i = 0; i < data_.size(); ++i) {
    Buffer chunk(data_[i].size());
    const absl::Status status = snapshot.ReadChunk(static_cast<int64_t>(i), chunk);
    if (static_cast<int64_t>(i) == touched.value_or(-1)) {
      EXPECT_TRUE(absl::IsDataLoss(status)) << status;
      EXPECT_TRUE(absl::StrContains(status.message(), absl::StrCat("chunk ", i))) << status;
    } else if (status.ok()) {
      EXPECT_EQ(chunk, data_[i]) << "chunk " << i << " reads wrong";
    } else {
      // A single page holds all of this small index.
      EXPECT_TRUE(absl::StrContains(status.message(), "index: ")) << status;
      EXPECT_GE(position, parts_.index_begin) << "chunk " << i << " is not touched: " << status;
    }
  }
}

void SealDamageTest::CheckFlip(int64_t position, int bit) {
  std::byte& byte = frame_[static_cast<size_t>(position)];
  byte ^= std::byte{1} << bit;
  const auto frame = Frame::OpenBuffer(frame_);
  if (frame.ok()) {
    CheckSnapshot(frame->snapshot(), position);
  } else {
    CheckOpenFailure(frame.status(), position);
  }
  byte ^= std::byte{1} << bit;
}

TEST_P(SealDamageTest, EveryFlippedBitIsFoundAndNamed) {
  for (int64_t bit = 0; bit < 8 * parts_.frame_size; bit += kTryEach) {
    SCOPED_TRACE(absl::StrCat("bit ", bit % 8, " of byte ", bit / 8, " of ", parts_.frame_size));
    CheckFlip(bit / 8, static_cast<int>(bit % 8));
    ASSERT_FALSE(HasFailure());
  }
}

INSTANTIATE_TEST_SUITE_P(Types, SealDamageTest,
                         testing::Values(FingerprintType::k32Bit, FingerprintType::k64Bit,
                                         FingerprintType::k128Bit));

}  // namespace
}  // namespace cairn::test
