#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/chunk.h"
#include "cairn/frame.h"
#include "tests/support/bytes.h"
#include "tests/support/dice.h"
#include "tests/support/frames.h"
#include "tests/support/search.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::frame {
namespace {

using test::Buffer;
using test::Compressed;
using test::Cut;
using test::Dice;
using test::MakeItems;
using test::OfTypesize;
using test::TempDir;

using Contents = std::vector<Buffer>;  // of all chunks, decoded

constexpr size_t kChunk = 400;

void ExpectChunks(const Snapshot& snapshot, const Contents& contents) {
  ASSERT_EQ(snapshot.info().nchunks, std::ssize(contents));
  Buffer all;
  for (size_t i = 0; i < contents.size(); ++i) {
    Buffer chunk(contents[i].size());
    ASSERT_TRUE(IsOk(snapshot.ReadChunk(static_cast<int64_t>(i), chunk))) << "chunk " << i;
    ASSERT_EQ(chunk, contents[i]) << "chunk " << i;
    test::AddTo(all, contents[i]);
  }
  test::ExpectHolds(snapshot, all);
}

// Edits a frame of chunks of one size, beside what it has to hold.
class FreeChunkSizesTest : public testing::TestWithParam<Layout> {
 protected:
  void SetUp() override { Begin(); }

  void Begin(ChunkSize chunksize = ChunkSize(kChunk)) {
    CreateOptions options = Cut(4, kChunk);
    options.chunksize = chunksize;
    options.layout = GetParam();
    options.overwrite = true;
    writer_.reset();
    frame_.reset();
    contents_.clear();
    auto frame = Frame::Create(path_, options);
    ASSERT_TRUE(IsOk(frame));
    frame_ = *std::move(frame);
    OpenWriter();
  }
  void OpenWriter() {
    writer_.reset();
    auto writer = frame_->OpenWriter({.free_shapes = true});
    ASSERT_TRUE(IsOk(writer));
    writer_ = *std::move(writer);
  }

  void Append(size_t nbytes) { Insert(contents_.size(), nbytes); }
  void Insert(size_t nchunk, size_t nbytes) {
    const Buffer items = test::MakeNoise(nbytes);
    ASSERT_TRUE(IsOk(
        writer_->InsertCompressed(static_cast<int64_t>(nchunk), Compressed(items, OfTypesize(4)))));
    contents_.insert(contents_.begin() + static_cast<std::ptrdiff_t>(nchunk), items);
  }
  void Update(size_t nchunk, size_t nbytes) {
    const Buffer items = MakeItems(nbytes);
    ASSERT_TRUE(IsOk(writer_->UpdateChunk(static_cast<int64_t>(nchunk), items)));
    contents_[nchunk] = items;
  }
  void AppendZeros(size_t nbytes) {
    ASSERT_TRUE(IsOk(writer_->InsertChunk(std::ssize(contents_), Buffer(nbytes))));
    contents_.emplace_back(nbytes);
  }

  void DeleteAll() {
    ASSERT_TRUE(IsOk(writer_->DeleteChunks(0, std::ssize(contents_))));
    contents_.clear();
  }

  // Commits, and looks at the chunks through this frame, and through one that is opened anew.
  void ExpectCommitted() {
    const auto snapshot = writer_->Commit();
    ASSERT_TRUE(IsOk(snapshot));
    ExpectChunks(*snapshot, contents_);
    const auto other = Frame::Open(path_);
    ASSERT_TRUE(IsOk(other));
    ExpectChunks(other->snapshot(), contents_);
  }

  TempDir dir_;
  const std::string path_ = dir_.Path("frame");
  std::optional<Frame> frame_;
  std::optional<Writer> writer_;
  Contents contents_;
};

TEST_P(FreeChunkSizesTest, ChunkOfAnotherSizeMakesTheFrameVariable) {
  Append(kChunk);
  AppendZeros(kChunk);
  Append(kChunk);
  ExpectCommitted();
  EXPECT_EQ(frame_->snapshot().info().chunksize, kChunk);
  Update(1, 2 * kChunk);
  ExpectCommitted();
  EXPECT_TRUE(frame_->snapshot().info().variable_chunks);
  ASSERT_TRUE(IsOk(writer_->Checkpoint()));
  EXPECT_TRUE(Frame::Open(path_)->snapshot().info().variable_chunks);
  ExpectCommitted();
}

TEST_P(FreeChunkSizesTest, OtherSizesAreRefusedWithoutTheOption) {
  Append(kChunk);
  ExpectCommitted();
  writer_.reset();
  auto writer = frame_->OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  const Buffer larger = Compressed(MakeItems(2 * kChunk), OfTypesize(4));
  EXPECT_EQ(writer->InsertCompressed(0, larger).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(writer->UpdateCompressed(0, larger).code(), absl::StatusCode::kInvalidArgument);
}

TEST_P(FreeChunkSizesTest, RollbackBringsTheOneSizeBack) {
  Append(kChunk);
  AppendZeros(kChunk);
  ExpectCommitted();
  const Contents before = contents_;
  Insert(0, 100);
  writer_->Rollback();
  contents_ = before;
  AppendZeros(kChunk);
  ExpectCommitted();
  EXPECT_EQ(frame_->snapshot().info().chunksize, kChunk);
}

TEST_P(FreeChunkSizesTest, PendingItemsBecomeAChunk) {
  Append(kChunk);
  const Buffer items = MakeItems(120);
  ASSERT_TRUE(IsOk(writer_->Append(items)));
  contents_.push_back(items);
  ExpectCommitted();
  Append(kChunk);
  ExpectCommitted();
  EXPECT_TRUE(frame_->snapshot().info().variable_chunks);
}

TEST_P(FreeChunkSizesTest, RandomEditsHoldWhatTheyMade) {
  test::ForEachSeed(12, 2, [this](uint64_t seed) {
    Dice dice(seed);
    Begin(dice.Percent(50) ? ChunkSize(kChunk) : ChunkSize::AsFirstChunk());
    for (int step = 0; step < 40 && !HasFatalFailure(); ++step) {
      const size_t nchunks = contents_.size();
      const size_t nbytes = dice.Percent(85) ? kChunk : 4 * (1 + dice.Below(2 * kChunk / 4));
      if (nchunks == 0 && dice.Percent(30)) {
        const ChunkSize sizes[] = {kChunk, kChunk / 2, 2 * kChunk, ChunkSize::Variable()};
        ASSERT_TRUE(IsOk(writer_->SetChunksize(sizes[dice.Below(4)])));
      }
      if (dice.Percent(15)) {
        ASSERT_TRUE(IsOk(writer_->SetVlmetalayer("layer", test::MakeNoise(dice.Below(100)))));
      }
      if (nchunks == 0 && dice.Percent(40)) ExpectCommitted();
      switch (dice.Below(nchunks == 0 ? 2 : 7)) {
        case 0:
          Append(nbytes);
          break;
        case 1:
          AppendZeros(nbytes);
          break;
        case 2:
          Insert(dice.Below(nchunks + 1), nbytes);
          break;
        case 3:
          Update(dice.Below(nchunks), nbytes);
          break;
        case 4: {
          const size_t gone = dice.Below(nchunks);
          ASSERT_TRUE(IsOk(writer_->DeleteChunks(static_cast<int64_t>(gone), 1)));
          contents_.erase(contents_.begin() + static_cast<std::ptrdiff_t>(gone));
          break;
        }
        case 5:
          if (dice.Percent(30)) DeleteAll();
          break;
        default:
          if (dice.Percent(20)) {
            ASSERT_TRUE(IsOk(writer_->Checkpoint()));
          }
          if (dice.Percent(20)) {
            ExpectCommitted();
            OpenWriter();
          }
          ExpectCommitted();
      }
    }
    ExpectCommitted();
  });
}

TEST_P(FreeChunkSizesTest, NewFrameTakesAnotherChunksize) {
  ASSERT_TRUE(IsOk(writer_->SetChunksize(3 * kChunk)));
  Append(3 * kChunk);
  Append(100);
  ExpectCommitted();
  EXPECT_EQ(frame_->snapshot().info().chunksize, 3 * kChunk);
}

TEST_P(FreeChunkSizesTest, EmptiedFrameTakesAnotherChunksize) {
  Append(kChunk);
  AppendZeros(kChunk);
  ExpectCommitted();
  for (const size_t chunksize : {3 * kChunk, kChunk / 4}) {
    DeleteAll();
    ASSERT_TRUE(IsOk(writer_->SetChunksize(static_cast<int32_t>(chunksize))));
    Append(chunksize);
    AppendZeros(chunksize);
    ExpectCommitted();
    EXPECT_EQ(Frame::Open(path_)->snapshot().info().chunksize, chunksize);
  }
  ASSERT_TRUE(IsOk(writer_->Checkpoint()));
  ExpectCommitted();
  EXPECT_EQ(Frame::Open(path_)->snapshot().info().chunksize, kChunk / 4);
}

TEST_P(FreeChunkSizesTest, ChunksizeOfAShortOnlyChunkIsKept) {
  Append(kChunk);
  ExpectCommitted();
  DeleteAll();
  ASSERT_TRUE(IsOk(writer_->SetChunksize(3 * kChunk)));
  Append(100);
  ASSERT_TRUE(IsOk(writer_->Checkpoint()));
  ExpectCommitted();
  EXPECT_EQ(Frame::Open(path_)->snapshot().info().chunksize, 3 * kChunk);
}

TEST_P(FreeChunkSizesTest, EmptiedFrameOfVariableChunksTakesOneSizeAgain) {
  Append(kChunk);
  Append(2 * kChunk);
  ExpectCommitted();
  DeleteAll();
  ASSERT_TRUE(IsOk(writer_->SetChunksize(kChunk)));
  AppendZeros(kChunk);
  Append(kChunk);
  ExpectCommitted();
  EXPECT_EQ(Frame::Open(path_)->snapshot().info().chunksize, kChunk);
}

TEST_P(FreeChunkSizesTest, CommitMayChangeItsMindAboutTheSize) {
  Append(kChunk);
  Append(2 * kChunk);
  ExpectCommitted();
  DeleteAll();
  ASSERT_TRUE(IsOk(writer_->SetChunksize(kChunk)));
  AppendZeros(kChunk);
  Append(2 * kChunk);
  ExpectCommitted();
  EXPECT_TRUE(Frame::Open(path_)->snapshot().info().variable_chunks);
}

TEST_P(FreeChunkSizesTest, EmptyFrameMayGetChunksOfAnySize) {
  ASSERT_TRUE(IsOk(writer_->SetChunksize(ChunkSize::Variable())));
  ExpectCommitted();
  EXPECT_TRUE(Frame::Open(path_)->snapshot().info().variable_chunks);
  Append(100);
  AppendZeros(kChunk);
  ExpectCommitted();
}

TEST_P(FreeChunkSizesTest, LayersMayComeBeforeTheFirstChunk) {
  for (const bool is_set : {false, true}) {
    Begin(ChunkSize::AsFirstChunk());
    ASSERT_TRUE(IsOk(writer_->SetVlmetalayer("layer", test::MakeNoise(10))));
    ExpectCommitted();
    EXPECT_TRUE(IsOk(Frame::Open(path_)->snapshot().GetVlmetalayer("layer")));
    if (is_set) {
      ASSERT_TRUE(IsOk(writer_->SetChunksize(2 * kChunk)));
    }
    Append(2 * kChunk);
    ExpectCommitted();
    OpenWriter();
    Append(2 * kChunk);
    ExpectCommitted();
    EXPECT_EQ(Frame::Open(path_)->snapshot().info().chunksize, 2 * kChunk);
  }
}

TEST_P(FreeChunkSizesTest, RollbackBringsTheOldChunksizeBack) {
  ASSERT_TRUE(IsOk(writer_->SetChunksize(3 * kChunk)));
  writer_->Rollback();
  Append(kChunk);
  ExpectCommitted();
  EXPECT_EQ(frame_->snapshot().info().chunksize, kChunk);
}

TEST_P(FreeChunkSizesTest, ChunksizeOfChunksIsNotSet) {
  Append(kChunk);
  EXPECT_EQ(writer_->SetChunksize(100).code(), absl::StatusCode::kFailedPrecondition);
  ExpectCommitted();
  EXPECT_EQ(writer_->SetChunksize(100).code(), absl::StatusCode::kFailedPrecondition);
  DeleteAll();
  ASSERT_TRUE(IsOk(writer_->Append(MakeItems(4))));  // which is pending
  EXPECT_EQ(writer_->SetChunksize(100).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_P(FreeChunkSizesTest, ChunksizeIsANumberOfBytesThatAChunkMayHave) {
  for (const ChunkSize wrong :
       {ChunkSize(0), ChunkSize(-1), ChunkSize(kMaxChunkBytes + 1), ChunkSize::AsFirstChunk()}) {
    EXPECT_EQ(writer_->SetChunksize(wrong).code(), absl::StatusCode::kInvalidArgument);
  }
  ASSERT_TRUE(IsOk(writer_->SetChunksize(kMaxChunkBytes)));
}

TEST(ForeignTypesizeTest, NansKeepTheSizeOfTheirItems) {
  const auto chunk = MakeSpecialChunk(SpecialValue::kNans, 400, {}, OfTypesize(4));
  ASSERT_TRUE(IsOk(chunk));
  Frame frame = test::NewInMemory(Cut(8, kChunk));
  auto writer = frame.OpenWriter({.free_shapes = true});
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->InsertCompressed(0, *chunk)));
  const auto snapshot = writer->Commit();
  ASSERT_TRUE(IsOk(snapshot));
  Buffer nans(kChunk);
  Buffer read(kChunk);
  ASSERT_TRUE(IsOk(DecompressChunk(*chunk, nans)));
  ASSERT_TRUE(IsOk(snapshot->ReadChunk(0, read)));
  EXPECT_EQ(read, nans);
}

INSTANTIATE_TEST_SUITE_P(Layouts, FreeChunkSizesTest,
                         testing::Values(Layout::kContiguous, Layout::kSparse),
                         [](const auto& layout) {
                           return layout.param == Layout::kSparse ? "Sparse" : "Contiguous";
                         });

}  // namespace
}  // namespace cairn::frame
