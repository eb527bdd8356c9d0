// Space that is used again, and what it must never take from whom.
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "engine/frame/api/handle_access.h"
#include "engine/frame/state/state.h"
#include "tests/support/bytes.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/files.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::test {
namespace {

constexpr int32_t kChunkOfPage = 4096;
constexpr int64_t kPageChunks = 200;
constexpr int64_t kLiveBytes = kPageChunks * kChunkOfPage;
constexpr int64_t kSpaceSlack = int64_t{8} << 20;

// Does something before the header of a frame is written.
class HeaderWatch final : public UnsyncedFileSystem {
 public:
  explicit HeaderWatch(std::function<void()> before) : before_(std::move(before)) {}
  absl::StatusOr<std::unique_ptr<File>> WrapFile(std::unique_ptr<File> file, const std::string&,
                                                 FileMode) override {
    return std::make_unique<WatchedFile>(std::move(file), before_);
  }

 private:
  class WatchedFile final : public UnsyncedFile {
   public:
    WatchedFile(std::unique_ptr<File> base, const std::function<void()>& before)
        : UnsyncedFile(std::move(base)), before_(before) {}
    absl::Status WriteAt(int64_t offset, Bytes src) override {
      if (offset == 0) before_();
      return UnsyncedFile::WriteAt(offset, src);
    }

   private:
    const std::function<void()>& before_;
  };

  const std::function<void()> before_;
};

class SpaceTest : public testing::Test {
 protected:
  void SetUp() override {
    data_ = MakeNoise(kLiveBytes, 1);
    ASSERT_TRUE(IsOk(WriteFrame(path_, PlainCopies(kChunkOfPage), data_)));
  }
  Frame Open(OpenOptions options = {}) {
    if (options.file_system == nullptr) options.file_system = Unowned(&files_);
    auto frame = Frame::Open(path_, options);
    EXPECT_TRUE(IsOk(frame));
    return *std::move(frame);
  }
  int64_t Size() const { return static_cast<int64_t>(std::filesystem::file_size(path_)); }
  // Replaces chunks at random, some in each commit.
  void Update(Writer& writer, int64_t count, int64_t in_each_commit = 8,
              Durability durability = Durability::kProcess) {
    for (int64_t i = 1; i <= count; ++i) {
      const auto nchunk = static_cast<int64_t>(random_() % kPageChunks);
      const Buffer items = MakeNoise(kChunkOfPage, random_());
      ASSERT_TRUE(IsOk(writer.UpdateChunk(nchunk, items)));
      CopyBytes(items, MutableBytes(data_).subspan(static_cast<size_t>(nchunk * kChunkOfPage)));
      if (i % in_each_commit == 0) {
        ASSERT_TRUE(IsOk(writer.Commit(durability)));
      }
    }
    ASSERT_TRUE(IsOk(writer.Commit(durability)));
  }

  const TempDir dir_;
  std::string path_ = dir_.Path("f");
  UnsyncedFileSystem files_;
  Buffer data_;
  std::mt19937_64 random_{7};
};

TEST_F(SpaceTest, UpdatesTakeTheSpaceOfWhatTheyReplace) {
  {
    auto writer = Open().OpenWriter();
    ASSERT_TRUE(IsOk(writer));
    Update(*writer, 8000);
    ASSERT_TRUE(IsOk(writer->Close()));
  }
  EXPECT_LT(Size(), 2 * kLiveBytes + kSpaceSlack) << "of 33 MB that were written";
  ExpectHolds(Open().snapshot(), data_);
}

TEST_F(SpaceTest, DurableUpdatesOfASmallFrameTakeLittleMoreThanLives) {
  auto writer = Open().OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  for (int i = 0; i < 80; ++i) {
    Update(*writer, 100, 3, Durability::kMachine);
    ASSERT_LT(Size(), kLiveBytes + kLiveBytes / 6 + (1 << 20)) << i;
  }
  ASSERT_TRUE(IsOk(writer->Close()));
  ExpectHolds(Open().snapshot(), data_);
}

// The reader sees chunks that commits after the last checkpoint replaced.
TEST_F(SpaceTest, DurableReaderThatComesJustBeforeTheNextCheckpointKeepsWhatItSees) {
  std::vector<Snapshot> early;
  HeaderWatch files([&] { early.push_back(Open({.durable_only = true}).snapshot()); });
  auto writer = Open({.file_system = Unowned(&files)}).OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  for (int i = 0; i < 10; ++i) {
    const Buffer durable = data_;
    early.clear();
    Update(*writer, 100);
    ASSERT_TRUE(IsOk(writer->Checkpoint()));
    ASSERT_FALSE(early.empty());
    Update(*writer, 100);
    ExpectHolds(early[0], durable);
    ASSERT_TRUE(IsOk(writer->Checkpoint()));
  }
}

// Until the header says that its generation is gone, a reader may come to it.
TEST_F(SpaceTest, ReaderThatComesJustBeforeItsGenerationIsGivenUpKeepsWhatItSees) {
  std::optional<uint64_t> oldest;
  std::vector<Snapshot> early;
  HeaderWatch files([&] {
    if (oldest.has_value()) early.push_back(Open({.generation = oldest}).snapshot());
    oldest.reset();
  });
  auto writer = Open({.file_system = Unowned(&files)}).OpenWriter({.keep_generations = UINT64_MAX});
  ASSERT_TRUE(IsOk(writer));
  Update(*writer, 100);
  ASSERT_TRUE(IsOk(writer->Checkpoint()));
  const Buffer kept = data_;
  const uint64_t generation = Open().snapshot().info().generation;
  for (int i = 0; i < 3; ++i) {
    Update(*writer, 200);
    ASSERT_TRUE(IsOk(writer->Checkpoint()));
  }
  oldest = generation;
  ASSERT_TRUE(IsOk(writer->Reclaim({.keep_generations = 1})));
  ASSERT_EQ(early.size(), 1u);
  Update(*writer, 400);
  ASSERT_TRUE(IsOk(writer->Checkpoint()));
  EXPECT_EQ(DataOf(early[0]).value(), kept);
}

TEST_F(SpaceTest, SnapshotHoldsWhatItSeesAndNoMore) {
  auto writer = Open().OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  Update(*writer, 1000);
  const Buffer seen = data_;
  {
    const Snapshot snapshot = Open().snapshot();
    Update(*writer, 8000);
    ASSERT_TRUE(IsOk(writer->Checkpoint()));
    EXPECT_EQ(DataOf(snapshot).value(), seen);
    EXPECT_LT(Open().snapshot().info().frame_size, 3 * kLiveBytes + kSpaceSlack);
  }
  ASSERT_TRUE(IsOk(writer->Close()));
  ExpectHolds(Open().snapshot(), data_);
}

// Both through maps and through copies.
TEST_F(SpaceTest, SnapshotsReadTheirStatesWhateverIsUsedAgain) {
  auto writer = Open().OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  std::deque<std::pair<Snapshot, Buffer>> held;
  for (int i = 0; i < 60; ++i) {
    Update(*writer, 200, 1 + i % 20);
    if (i % 7 == 3) {
      ASSERT_TRUE(IsOk(writer->Checkpoint()));
    }
    held.emplace_back(Open({.use_mmap = i % 2 == 0}).snapshot(), data_);
    if (held.size() > 5) held.erase(held.begin() + static_cast<ptrdiff_t>(random_() % 5));
    for (const auto& [snapshot, data] : held) ASSERT_EQ(DataOf(snapshot).value(), data);
  }
}

TEST_F(SpaceTest, CheckpointGoesBeforeWhatAReaderHoldsIfThereIsRoom) {
  auto writer = Open().OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  const auto append = [&](int64_t chunks) {
    const Buffer items = MakeNoise(chunks * kChunkOfPage, random_());
    ASSERT_TRUE(IsOk(writer->Append(items)));
    data_.insert(data_.end(), items.begin(), items.end());
  };
  const auto frame_size = [&] { return Open().snapshot().info().frame_size; };
  // Its index is far from the chunks.
  append(400);
  ASSERT_TRUE(IsOk(writer->Commit()));
  ASSERT_TRUE(IsOk(writer->DeleteChunks(kPageChunks, 400)));
  data_.resize(kLiveBytes);
  ASSERT_TRUE(IsOk(writer->Checkpoint()));
  const Snapshot held = Open().snapshot();
  const Buffer seen = data_;
  append(1);
  ASSERT_TRUE(IsOk(writer->Checkpoint()));
  const int64_t below = frame_size();
  ASSERT_LT(below, held.info().frame_size / 2);
  append(20);
  ASSERT_TRUE(IsOk(writer->Checkpoint()));
  EXPECT_GT(frame_size(), below);
  EXPECT_LT(frame_size(), held.info().frame_size / 2);
  ExpectHolds(held, seen);
  ExpectHolds(Open().snapshot(), data_);
}

TEST_F(SpaceTest, WriterThatIsOpenedAgainKnowsTheSpace) {
  for (int i = 0; i < 150; ++i) {
    auto writer = Open().OpenWriter();
    ASSERT_TRUE(IsOk(writer));
    Update(*writer, 40);
    ASSERT_TRUE(IsOk(writer->Close()));
  }
  EXPECT_LT(Size(), 2 * kLiveBytes);
  ExpectHolds(Open().snapshot(), data_);
}

// The records of the journal show the space that it took and freed.
TEST_F(SpaceTest, WriterAfterOneThatDiedKnowsTheSpace) {
  std::string dead = path_;
  for (int i = 0; i < 60; ++i) {
    {
      auto writer = Open().OpenWriter();
      ASSERT_TRUE(IsOk(writer));
      Update(*writer, 150);
      if (i % 3 == 0) {
        ASSERT_TRUE(IsOk(writer->Checkpoint()));
      }
      if (i % 3 == 1) Update(*writer, 150);
      ASSERT_TRUE(IsOk(writer->UpdateChunk(3, MakeNoise(kChunkOfPage, 1)))) << "staged, and lost";
      ASSERT_TRUE(IsOk(writer->StagedSnapshot()));
      // As the file is when the process dies.
      dead = dir_.Path(absl::StrCat("dead", i));
      std::filesystem::copy_file(path_, dead);
    }
    std::filesystem::remove(path_);
    path_ = dead;
    ASSERT_EQ(DataOf(Open().snapshot()).value(), data_);
  }
  auto writer = Open().OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_LT(Size(), 2 * kLiveBytes + kSpaceSlack);
  ExpectHolds(Open().snapshot(), data_);
}

// Their sizes are in their headers, which may still wait in memory to be written.
TEST_F(SpaceTest, StagedChunksOfAnySizeCanBeReplacedAtOnce) {
  path_ = dir_.Path("variable");
  CreateOptions options = PlainCopies(ChunkSize::Variable());
  ASSERT_TRUE(IsOk(WriteFrame(path_, options, MakeNoise(1000, 1))));
  auto writer = Open().OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  Buffer last;
  for (uint64_t i = 0; i < 300; ++i) {
    for (uint64_t j = 0; j < 3; ++j) {
      last = MakeNoise(500 + random_() % 500, random_());
      ASSERT_TRUE(IsOk(writer->UpdateChunk(0, last)));
    }
    ASSERT_TRUE(IsOk(i % 3 == 0 ? writer->Checkpoint() : writer->Commit().status()));
  }
  EXPECT_EQ(DataOf(Open().snapshot()).value(), last);
}

TEST_F(SpaceTest, RollbackGivesBackTheSpaceThatItsChunksTook) {
  auto writer = Open().OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  Update(*writer, 400);
  ASSERT_TRUE(IsOk(writer->Checkpoint()));
  const int64_t before = Size();
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(IsOk(writer->UpdateChunk(i % kPageChunks, MakeNoise(kChunkOfPage, random_()))));
    if (i % 50 == 49) writer->Rollback();
  }
  Update(*writer, 8);
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_LE(Size(), before);
  ExpectHolds(Open().snapshot(), data_);
}

TEST_F(SpaceTest, StagedSnapshotKeepsItsChunksAfterTheRollback) {
  auto writer = Open().OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  Update(*writer, 400);
  ASSERT_TRUE(IsOk(writer->Checkpoint()));
  Update(*writer, 1);
  ASSERT_TRUE(IsOk(writer->Checkpoint()));
  Buffer staged = data_;
  for (int64_t i = 0; i < 20; ++i) {
    const Buffer items = MakeNoise(kChunkOfPage, random_());
    ASSERT_TRUE(IsOk(writer->UpdateChunk(i, items)));
    CopyBytes(items, MutableBytes(staged).subspan(static_cast<size_t>(i * kChunkOfPage)));
  }
  const auto snapshot = writer->StagedSnapshot();
  ASSERT_TRUE(IsOk(snapshot));
  writer->Rollback();
  Update(*writer, 3000);
  EXPECT_EQ(DataOf(*snapshot).value(), staged);
}

// The page cache may show what the disk lacks, also there.
TEST_F(SpaceTest, OpeningForWritingConfirmsChunksInSpaceThatWasFree) {
  int64_t offset = 0;
  {
    auto writer = Open().OpenWriter();
    ASSERT_TRUE(IsOk(writer));
    Update(*writer, 400);
    ASSERT_TRUE(IsOk(writer->Checkpoint()));
    ASSERT_TRUE(IsOk(writer->UpdateChunk(5, MakeNoise(kChunkOfPage, 1))));
    const auto committed = writer->Commit(Durability::kProcess);
    ASSERT_TRUE(IsOk(committed));
    offset = committed->GetEntry(5)->offset.value();
    ASSERT_LT(offset, committed->info().frame_size) << "the test is about free space";
  }
  FaultFileSystem files;
  Frame frame = Open({.file_system = Unowned(&files)});
  files.StartLog();
  ASSERT_TRUE(IsOk(frame.OpenWriter()));
  bool written = false;
  for (const Operation& operation : files.TakeLog()) {
    if (operation.kind == Operation::Kind::kSync) break;
    written |= operation.kind == Operation::Kind::kWrite && operation.offset == offset;
  }
  EXPECT_TRUE(written);
}

// The checkpoint's index does not name them, and no other generation is read.
TEST_F(SpaceTest, ReclaimLeavesWhatAStagedSnapshotReads) {
  auto writer = Open().OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  Update(*writer, 400);
  ASSERT_TRUE(IsOk(writer->Checkpoint()));
  Update(*writer, 1);
  ASSERT_TRUE(IsOk(writer->Checkpoint()));
  const Buffer items = MakeNoise(kChunkOfPage, random_());
  ASSERT_TRUE(IsOk(writer->UpdateChunk(0, items)));
  const auto snapshot = writer->StagedSnapshot();
  ASSERT_TRUE(IsOk(snapshot));
  ASSERT_LT(snapshot->GetEntry(0)->offset.value(), Open().snapshot().info().frame_size);
  writer->Rollback();
  ASSERT_TRUE(IsOk(writer->Reclaim()));
  Update(*writer, 300);
  Buffer read(kChunkOfPage);
  ASSERT_TRUE(IsOk(snapshot->ReadChunk(0, read)));
  EXPECT_EQ(read, items);
}

TEST_F(SpaceTest, FileGetsShorterWhenItsEndIsFree) {
  const int64_t before = Size();
  auto writer = Open().OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->DeleteChunks(10, kPageChunks - 10)));
  ASSERT_TRUE(IsOk(writer->Checkpoint()));
  // The second checkpoint uses the space that the first one left to be freed.
  ASSERT_TRUE(IsOk(writer->UpdateChunk(0, MakeNoise(kChunkOfPage, 9))));
  ASSERT_TRUE(IsOk(writer->Checkpoint()));
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_LT(Size(), before / 4);
  data_.resize(10 * kChunkOfPage);
  CopyBytes(MakeNoise(kChunkOfPage, 9), data_);
  ExpectHolds(Open().snapshot(), data_);
}

// A reader that maps the end keeps it, and once it is gone the file gets shorter.
TEST_F(SpaceTest, FileIsNotCutUnderAReader) {
  auto reader = std::make_unique<Frame>(Open());
  const Buffer seen = data_;
  auto writer = Open().OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->DeleteChunks(10, kPageChunks - 10)));
  for (uint64_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(IsOk(writer->UpdateChunk(0, MakeNoise(kChunkOfPage, i))));
    ASSERT_TRUE(IsOk(writer->Checkpoint()));
  }
  EXPECT_GE(Size(), kLiveBytes);
  EXPECT_EQ(DataOf(reader->snapshot()).value(), seen);
  reader.reset();
  for (uint64_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(IsOk(writer->UpdateChunk(0, MakeNoise(kChunkOfPage, i))));
    ASSERT_TRUE(IsOk(writer->Checkpoint()));
  }
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_LT(Size(), kLiveBytes / 2);
}

TEST_F(SpaceTest, LogThatDeletesItsFrontAsItGrowsStaysFlat) {
  auto writer = Open().OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  for (uint64_t i = 0; i < 5000; ++i) {
    const Buffer items = MakeNoise(kChunkOfPage, i);
    ASSERT_TRUE(IsOk(writer->Append(items)));
    ASSERT_TRUE(IsOk(writer->DeleteChunks(0, 1)));
    data_.erase(data_.begin(), data_.begin() + kChunkOfPage);
    data_.insert(data_.end(), items.begin(), items.end());
    ASSERT_TRUE(IsOk(writer->Commit(Durability::kProcess)));
  }
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_LT(Size(), 2 * kLiveBytes + kSpaceSlack) << "of 20 MB that were written";
  ExpectHolds(Open().snapshot(), data_);
}

// Bytes that are neither would be lost until Reclaim looks at every chunk.
TEST_F(SpaceTest, WhateverDoesNotLiveIsListedAsFreeOrDead) {
  auto writer = Open().OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  std::vector<Frame> readers;
  for (int i = 0; i < 300; ++i) {
    Update(*writer, 1 + static_cast<int64_t>(random_() % 300), 1 + i % 20);
    if (random_() % 3 == 0) readers.push_back(Open());
    if (!readers.empty() && random_() % 3 == 0) {
      readers.erase(readers.begin() + static_cast<ptrdiff_t>(random_() % readers.size()));
    }
    if (i % 5 == 2) readers.clear();
    ASSERT_TRUE(IsOk(writer->Checkpoint()));
    const Frame frame = Open();
    const Snapshot snapshot = frame.snapshot();
    const frame::Checkpoint& checkpoint = *frame::HandleAccess::StateOf(snapshot).checkpoint;
    int64_t listed = 0;
    for (const Extent& free : checkpoint.seal->space.free) listed += free.size();
    for (const format::DeadExtent& dead : checkpoint.seal->space.dead) {
      if (dead.bytes.begin < checkpoint.index.begin) listed += dead.bytes.size();
    }
    ASSERT_EQ(listed, snapshot.info().dead_bytes) << "after round " << i;
  }
}

TEST_F(SpaceTest, KeptGenerationsReadAsTheyWere) {
  constexpr uint64_t kKept = 40;
  std::map<uint64_t, Buffer> states;
  auto writer = Open().OpenWriter({.keep_generations = kKept});
  ASSERT_TRUE(IsOk(writer));
  for (int i = 0; i < 300; ++i) {
    Update(*writer, 8);
    if (i % 5 == 4) {
      ASSERT_TRUE(IsOk(writer->Checkpoint()));
    }
    const Snapshot newest = Open().snapshot();
    states[newest.info().generation] = data_;
    if (i % 50 != 49) continue;
    const uint64_t last = newest.info().generation;
    int found = 0;
    for (uint64_t generation = last - kKept; generation <= last; ++generation) {
      if (!states.contains(generation)) continue;
      EXPECT_EQ(DataOf(Open({.generation = generation}).snapshot()).value(), states[generation]);
      ++found;
    }
    EXPECT_GT(found, 20);
  }
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_LT(Size(), 300 * 8 * kChunkOfPage / 2);
  ExpectHolds(Open().snapshot(), data_);
}

TEST_F(SpaceTest, ManySmallAppendsEachInAWriterOfItsOwnStaySmall) {
  path_ = dir_.Path("g");
  ASSERT_TRUE(IsOk(WriteFrame(path_, PlainCopies(kChunkOfPage), {})));
  Buffer all;
  for (uint64_t i = 0; i < 300; ++i) {
    const Buffer items = MakeNoise(64, i);
    ASSERT_TRUE(IsOk(AppendTo(path_, items, {}, Unowned(&files_))));
    all.insert(all.end(), items.begin(), items.end());
  }
  EXPECT_LT(Size(), 8 * std::ssize(all)) << "182 MB for 0.6 MB before space was used again";
  ExpectHolds(Open().snapshot(), all);
}

}  // namespace
}  // namespace cairn::test
