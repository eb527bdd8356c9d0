// Salvage of a frame in which dead chunks lie beside live ones: none passes for a live one.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/recover.h"
#include "tests/frame/repair/salvaging.h"
#include "tests/support/bytes.h"
#include "tests/support/files.h"
#include "tests/support/frame_parts.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

constexpr int64_t kFew = 6;
constexpr int32_t kSmallChunk = 400;

Buffer OldItems(int64_t nchunk) { return MakeNoise(kSmallChunk, static_cast<uint32_t>(nchunk)); }
Buffer NewItems(int64_t nchunk) {
  return MakeNoise(kSmallChunk, static_cast<uint32_t>(100 + nchunk));
}
bool IsReplaced(int64_t nchunk) { return nchunk % 2 == 1; }

class SalvageHistoryTest : public Salvaging {
 protected:
  // Every other chunk was replaced, so its old bytes are still there.
  Buffer MakeFrameWithDeadChunks() {
    const std::string path = dir_.Path("history");
    CreateOptions options = Cut(4, kSmallChunk);
    options.metalayers = {{"unit", MakeItems(9)}};
    auto frame = Frame::Create(path, options);
    EXPECT_TRUE(IsOk(frame));
    auto writer = frame->OpenWriter();
    EXPECT_TRUE(IsOk(writer));
    for (int64_t i = 0; i < kFew; ++i) EXPECT_TRUE(IsOk(writer->Append(OldItems(i))));
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

  // All chunks are saved, each in its place, and so is the metalayer.
  void ExpectLiveChunks(const absl::StatusOr<SalvageReport>& report, int64_t at) const {
    ASSERT_TRUE(IsOk(report)) << at;
    const Snapshot saved = Saved();
    ASSERT_EQ(saved.info().nchunks, kFew) << at;
    EXPECT_EQ(*saved.GetMetalayer("unit"), MakeItems(9)) << at;
    Buffer items(kSmallChunk);
    for (int64_t i = 0; i < kFew; ++i) {
      ASSERT_TRUE(IsOk(saved.ReadChunk(i, items))) << at;
      EXPECT_EQ(items, IsReplaced(i) ? NewItems(i) : OldItems(i)) << at;
    }
    EXPECT_TRUE(report->holes.empty()) << at;
  }

  static Buffer Flipped(Buffer frame, int64_t at) {
    frame[static_cast<size_t>(at)] ^= std::byte{0x10};
    return frame;
  }
};

// But for the size of the frame: what a header leads to that is not there may have been newer.
TEST_F(SalvageHistoryTest, DamagedHeaderIsThatOfItsTrailer) {
  constexpr ByteRange kFrameSize = {16, 24};
  const Buffer frame = MakeFrameWithDeadChunks();
  const int64_t metalayers = 87;  // what follows may be another metalayer's content
  for (int64_t at = 0; at < metalayers; ++at) {
    if (at >= kFrameSize.begin && at < kFrameSize.end) continue;
    const auto report = SalvageBytes(Flipped(frame, at));
    ASSERT_NO_FATAL_FAILURE(ExpectLiveChunks(report, at));
    EXPECT_TRUE(report->lost.empty() && report->unproven.empty()) << at;
  }
}

TEST_F(SalvageHistoryTest, ChunksOfADamagedIndexAreFoundByTheirFingerprints) {
  const Buffer frame = MakeFrameWithDeadChunks();
  const FrameParts parts = PartsOf(frame);
  for (int64_t at = parts.index_begin + 32; at < parts.trailer_begin; ++at) {
    const auto report = SalvageBytes(Flipped(frame, at));
    ASSERT_NO_FATAL_FAILURE(ExpectLiveChunks(report, at));
    EXPECT_TRUE(report->lost.empty() && report->unproven.empty()) << at;
  }
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
