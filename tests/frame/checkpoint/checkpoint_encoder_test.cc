// Checkpoints of frames whose index has many pages: those that did not change are taken over.
#include "engine/frame/checkpoint/checkpoint_encoder.h"

#include <cstdint>
#include <utility>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "engine/chunk/workspace.h"
#include "engine/frame/open/frame_core.h"
#include "tests/support/bytes.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

constexpr int64_t kPage = 2048;  // entries of one page of the index

class CheckpointEncoderTest : public testing::Test {
 protected:
  CheckpointEncoderTest()
      : frame_(NewInMemory(Cut(8, kSmallChunk))), writer_(*frame_.OpenWriter()) {
    Append(2 * kPage + 5);
    EXPECT_TRUE(IsOk(writer_.Checkpoint()));
  }
  void Append(int64_t nchunks) {
    const Buffer items = MakeNoise(static_cast<size_t>(nchunks * kSmallChunk), ++seed_);
    ASSERT_TRUE(IsOk(writer_.Append(items)));
    AddTo(content_, items);
  }
  // Checkpoints, and looks at the frame as a reader that opens it.
  void ExpectHoldsOpened() {
    ASSERT_TRUE(IsOk(writer_.Checkpoint()));
    const absl::StatusOr<Buffer> cframe = frame_.snapshot().ToBuffer();
    ASSERT_TRUE(IsOk(cframe));
    const absl::StatusOr<Frame> opened = Frame::OpenBuffer(*cframe);
    ASSERT_TRUE(IsOk(opened));
    EXPECT_TRUE(opened->snapshot().info().sealed);
    EXPECT_EQ(opened->snapshot().info().journal_size, 0);
    ExpectHolds(opened->snapshot(), content_);
  }

  uint64_t seed_ = 0;
  Frame frame_;
  Writer writer_;
  Buffer content_;
};

TEST_F(CheckpointEncoderTest, HoldsAllChunksWhenMoreWereAppended) {
  for (const int64_t count : {1, 3, 2 * static_cast<int>(kPage), 2037}) {
    SCOPED_TRACE(count);
    Append(count);
    ExpectHoldsOpened();
  }
}

TEST_F(CheckpointEncoderTest, HoldsWhatChangedInAnyPage) {
  for (const int64_t nchunk : {2 * kPage + 4, 2 * kPage, 2 * kPage - 1, kPage, int64_t{0}}) {
    SCOPED_TRACE(nchunk);
    const Buffer items = MakeNoise(kSmallChunk, ++seed_);
    ASSERT_TRUE(IsOk(writer_.UpdateChunk(nchunk, items)));
    CopyBytes(items, MutableBytes(content_).subspan(static_cast<size_t>(nchunk * kSmallChunk)));
    ExpectHoldsOpened();
  }
}

TEST_F(CheckpointEncoderTest, HoldsAllChunksWhenOnlyALayerChanged) {
  const auto set_layer = [&] {
    ASSERT_TRUE(IsOk(writer_.SetVlmetalayer("layer", MakeNoise(100, ++seed_))));
    ExpectHoldsOpened();
  };
  set_layer();
  set_layer();
  Append(1);
  set_layer();
  ASSERT_TRUE(IsOk(writer_.DeleteChunks(2 * kPage, 6)));  // leaves complete pages
  content_.resize(static_cast<size_t>(2 * kPage * kSmallChunk));
  set_layer();
  set_layer();
  ASSERT_TRUE(IsOk(writer_.DeleteChunks(1, 2 * kPage - 1)));
  content_.resize(kSmallChunk);
  set_layer();
  set_layer();
  ASSERT_TRUE(IsOk(writer_.DeleteChunks(0, 1)));
  content_.clear();
  set_layer();
  set_layer();
}

TEST_F(CheckpointEncoderTest, HoldsWhatDeletesLeave) {
  // From the end of the last page, of complete pages, and from the front.
  for (const auto& [first, count] :
       {std::pair(2 * kPage + 2, int64_t{3}), std::pair(kPage, kPage + 2),
        std::pair(kPage - 1, int64_t{1}), std::pair(int64_t{0}, int64_t{1})}) {
    SCOPED_TRACE(first);
    ASSERT_TRUE(IsOk(writer_.DeleteChunks(first, count)));
    content_.erase(content_.begin() + first * kSmallChunk,
                   content_.begin() + (first + count) * kSmallChunk);
    ExpectHoldsOpened();
  }
}

TEST_F(CheckpointEncoderTest, HoldsSpecialChunksAfterStoredOnes) {
  ASSERT_TRUE(IsOk(writer_.AppendSpecial(SpecialValue::kZeros, 3 * kPage * kSmallChunk / 8, {})));
  content_.resize(content_.size() + static_cast<size_t>(3 * kPage * kSmallChunk));
  ExpectHoldsOpened();
  Append(1);
  ExpectHoldsOpened();
}

// C-Blosc2 takes them for offsets, so that one more chunk would have to fit after them.
TEST(SparseCheckpointTest, RefusesTheLargestNumberThereIs) {
  const TempDir dir;
  CreateOptions options = Cut(8, kSmallChunk);
  options.layout = Layout::kSparse;
  ASSERT_TRUE(IsOk(WriteFrame(dir.Path("f"), options, MakeNoise(kSmallChunk))));
  const auto core = frame::FrameCore::Open(dir.Path("f"), {});
  ASSERT_TRUE(IsOk(core));
  frame::StagedState staged(*(*core)->newest());
  staged.chunks.Replace(0, {.value = INT64_MAX, .fingerprint = 1});
  chunk::WorkspacePool pool;
  const frame::CheckpointPlan plan = {
      .index_begin = staged.header.header_len, .seal = {}, .pool = &pool};
  EXPECT_TRUE(IsDamage(frame::EncodeCheckpoint(staged, plan).status(), "index"));
}

}  // namespace
}  // namespace cairn::test
