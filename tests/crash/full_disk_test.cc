// A disk on which other files take whatever is free. What a frame keeps past its end must do to
// delete chunks and to reclaim their space; the simulated disk counts blocks of 4 KiB.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/recover.h"
#include "tests/crash/filler.h"
#include "tests/support/bytes.h"
#include "tests/support/frames.h"
#include "tests/support/simulated_disk.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

constexpr int64_t kCapacity = 1 << 20;
constexpr int32_t kChunk = 1000;

Buffer NoiseOf(int64_t nchunks, uint64_t seed) {
  return MakeNoise(static_cast<size_t>(nchunks * kChunk), seed);
}

class FullDiskTest : public testing::TestWithParam<Layout> {
 protected:
  FullDiskTest() { NewDisk(); }

  void NewDisk() {
    disk_ = std::make_unique<SimulatedDisk>();
    disk_->SetCapacity(kCapacity);
  }
  const std::shared_ptr<FileSystem>& files() { return disk_->root(); }
  CreateOptions Options() {
    CreateOptions options = Cut(1, kChunk);
    options.layout = GetParam();
    options.file_system = files();
    return options;
  }
  void Make(int64_t nchunks) {
    absl::StatusOr<Writer> writer = Frame::BeginCreate("f", Options());
    ASSERT_TRUE(IsOk(writer));
    expected_ = NoiseOf(nchunks, 1);
    ASSERT_TRUE(IsOk(writer->Append(expected_)));
    ASSERT_TRUE(IsOk(writer->Close()));
  }
  // Other files take all that is free.
  void FillRest() { FillAllBut(0); }
  void FillAllBut(int64_t free) {
    LeaveFree(*disk_, free);
    ASSERT_EQ(disk_->Free(), free);
  }
  absl::StatusOr<Frame> Open() { return Frame::Open("f", {.file_system = files()}); }
  absl::StatusOr<Writer> OpenWriter(const WriterOptions& options = {}) {
    absl::StatusOr<Frame> frame = Open();
    if (!frame.ok()) return frame.status();
    return frame->OpenWriter(options);
  }
  void Expect(Bytes more) { AddTo(expected_, more); }
  void ExpectWithout(int64_t nchunks) {
    expected_.erase(expected_.begin(), expected_.begin() + nchunks * kChunk);
  }
  // Each makes one call, in a writer of its own.
  absl::Status Append(int64_t nchunks) {
    absl::StatusOr<Writer> writer = OpenWriter();
    if (!writer.ok()) return writer.status();
    const Buffer more = NoiseOf(nchunks, 2);
    absl::Status status = writer->Append(more);
    if (status.ok()) status = writer->Close();
    if (status.ok()) Expect(more);
    return status;
  }
  absl::Status Delete(int64_t nchunks, const WriterOptions& options = {}) {
    absl::StatusOr<Writer> writer = OpenWriter(options);
    if (!writer.ok()) return writer.status();
    absl::Status status = writer->DeleteChunks(0, nchunks);
    if (status.ok()) status = writer->Close();
    if (status.ok()) ExpectWithout(nchunks);
    return status;
  }
  absl::Status Reclaim() {
    absl::StatusOr<Writer> writer = OpenWriter();
    if (!writer.ok()) return writer.status();
    const absl::Status status = writer->Reclaim().status();
    return status.ok() ? writer->Close() : status;
  }
  void ExpectHoldsAll() {
    const absl::StatusOr<Frame> frame = Open();
    ASSERT_TRUE(IsOk(frame));
    ExpectHolds(frame->snapshot(), expected_);
  }
  void ExpectCanBeFreed() {
    EXPECT_TRUE(IsOk(Delete(40)));
    EXPECT_TRUE(IsOk(Reclaim()));
    EXPECT_TRUE(IsOk(Append(10)));
    ExpectHoldsAll();
  }

  std::unique_ptr<SimulatedDisk> disk_;
  Buffer expected_;
};

TEST_P(FullDiskTest, ChunksAreDeletedTheirSpaceIsReclaimedAndMoreAreAppended) {
  for (const int64_t nchunks : {50, 61, 62, 63, 64, 100}) {
    SCOPED_TRACE(nchunks);
    NewDisk();
    Make(nchunks);
    FillRest();
    EXPECT_TRUE(absl::IsResourceExhausted(Append(40)));
    ExpectHoldsAll();
    ExpectCanBeFreed();
    FillRest();
    EXPECT_TRUE(absl::IsResourceExhausted(Append(40)));
    ExpectHoldsAll();
  }
}

TEST_P(FullDiskTest, ReadingVerifyingAndRecoveringNeedNoSpace) {
  Make(50);
  FillRest();
  ExpectHoldsAll();
  EXPECT_TRUE(IsOk(Recover("f", {.file_system = files()})));
  ExpectHoldsAll();
  ExpectCanBeFreed();
}

TEST_P(FullDiskTest, RefusedCommitIsNotSeenAndItsWriterGoesOn) {
  Make(50);
  absl::StatusOr<Writer> writer = OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  absl::Status status;
  for (uint64_t seed = 3; status.ok(); ++seed) {
    const Buffer more = NoiseOf(3, seed);
    status = writer->Append(more);
    if (status.ok()) status = writer->Commit().status();
    if (status.ok()) Expect(more);
  }
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  ExpectHoldsAll();
  writer->Rollback();
  FillRest();
  ExpectHoldsAll();
  EXPECT_TRUE(IsOk(writer->DeleteChunks(0, 50)));
  EXPECT_TRUE(IsOk(writer->Commit()));
  ExpectWithout(50);
  EXPECT_TRUE(IsOk(writer->Reclaim()));
  EXPECT_TRUE(IsOk(writer->Append(NoiseOf(10, 2))));
  EXPECT_TRUE(IsOk(writer->Close()));
  Expect(NoiseOf(10, 2));
  ExpectHoldsAll();
}

// Staged chunks wait in memory until many can be written at once, or one is read.
TEST_P(FullDiskTest, ReadOfAStagedChunkThatIsRefusedLosesNothingAndItsWriterGoesOn) {
  Make(50);
  absl::StatusOr<Writer> writer = OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  FillAllBut(200 << 10);  // the files of a sparse frame are written at once
  const Buffer more = NoiseOf(30, 3);
  ASSERT_TRUE(IsOk(writer->Append(more)));
  FillRest();
  Buffer read(static_cast<size_t>(kChunk));
  const absl::Status refused = writer->ReadChunk(79, read);
  if (GetParam() == Layout::kContiguous) {
    EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  }
  ASSERT_TRUE(IsOk(files()->Remove("filler")));
  ASSERT_TRUE(IsOk(writer->ReadChunk(79, read)));
  EXPECT_TRUE(std::ranges::equal(read, Bytes(more).last(read.size())));
  EXPECT_TRUE(IsOk(writer->Commit()));
  EXPECT_TRUE(IsOk(writer->Close()));
  Expect(more);
  ExpectHoldsAll();
}

// Others take what it left free. Beside a reader of an old state, whose bytes the journal must
// leave alone, it is a checkpoint.
TEST_P(FullDiskTest, CommitThatIsPreparedNeedsNoSpace) {
  int refused = 0;
  int made = 0;
  for (int64_t free = 0; free <= 40; ++free) {
    for (const bool is_read : {false, true}) {
      SCOPED_TRACE(testing::Message() << free << " blocks free, reader: " << is_read);
      NewDisk();
      Make(50);
      absl::StatusOr<Writer> writer = OpenWriter({.staged_memory = 1 << 20});
      ASSERT_TRUE(IsOk(writer));
      std::optional<Frame> reader;
      for (uint64_t seed = 3; is_read && seed < 9; ++seed) {
        const Buffer items = NoiseOf(1, seed);
        ASSERT_TRUE(IsOk(writer->UpdateChunk(20, items)));
        ASSERT_TRUE(IsOk(writer->Checkpoint()));
        std::ranges::copy(items, expected_.begin() + int64_t{20} * kChunk);
        if (seed == 5) reader = *Open();
      }
      const Buffer items = NoiseOf(20, 2);
      Buffer after = expected_;
      std::ranges::copy(items, after.begin());
      for (int64_t i = 0; i < 20; ++i) {
        const auto chunk = Bytes(items).subspan(static_cast<size_t>(i * kChunk), kChunk);
        ASSERT_TRUE(IsOk(writer->UpdateChunk(i, chunk)));
      }
      FillAllBut(std::min(free * 4096, disk_->Free()));
      const absl::Status prepared = writer->Prepare(Durability::kProcess);
      ++(prepared.ok() ? made : refused);
      if (prepared.ok()) {
        EXPECT_TRUE(absl::IsFailedPrecondition(writer->UpdateChunk(0, NoiseOf(1, 3))));
        FillRest();
        ASSERT_TRUE(IsOk(writer->Commit()));
        expected_ = after;
      } else {
        ASSERT_TRUE(absl::IsResourceExhausted(prepared)) << prepared;
        writer->Rollback();
      }
      ExpectHoldsAll();
      ASSERT_TRUE(IsOk(writer->DeleteChunks(0, 40)));
      ASSERT_TRUE(IsOk(writer->Close()));
      ExpectWithout(40);
      ExpectHoldsAll();
    }
  }
  EXPECT_GT(refused, 2);
  EXPECT_GT(made, 2);
}

// Each reader keeps an index of its own, whose reserve nobody needs.
TEST_P(FullDiskTest, ReadersOfOlderCheckpointsTakeNothingOfWhatFreesTheDisk) {
  for (int64_t free = 0; free <= 30; ++free) {
    SCOPED_TRACE(testing::Message() << free << " blocks free");
    NewDisk();
    Make(100);
    std::vector<Frame> readers;
    FillAllBut(std::min(free * 4096, disk_->Free()));
    absl::StatusOr<Writer> writer = OpenWriter();
    ASSERT_TRUE(IsOk(writer));
    for (uint64_t seed = 3; seed < 12; ++seed) {
      readers.push_back(*Open());
      const Buffer items = NoiseOf(1, seed);
      absl::Status status = writer->UpdateChunk(60, items);
      if (status.ok()) status = writer->Checkpoint();
      if (status.ok()) {
        std::ranges::copy(items, expected_.begin() + int64_t{60} * kChunk);
      } else {
        ASSERT_TRUE(absl::IsResourceExhausted(status)) << status;
        writer->Rollback();
      }
    }
    FillRest();
    ASSERT_TRUE(IsOk(writer->DeleteChunks(0, 40)));
    ASSERT_TRUE(IsOk(writer->Close()));
    ExpectWithout(40);
    ExpectHoldsAll();
    readers.clear();
    writer = absl::CancelledError();  // it reads an older state
    EXPECT_TRUE(IsOk(Reclaim()));
    EXPECT_TRUE(IsOk(Append(10)));
    ExpectHoldsAll();
  }
}

TEST_P(FullDiskTest, PreparedCommitThatIsRolledBackLeavesNothing) {
  Make(50);
  absl::StatusOr<Writer> writer = OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(IsOk(writer->Append(NoiseOf(10, 2))));
    ASSERT_TRUE(IsOk(writer->Prepare(i % 2 == 0 ? Durability::kMachine : Durability::kProcess)));
    writer->Rollback();
    ExpectHoldsAll();
  }
  ASSERT_TRUE(IsOk(writer->Append(NoiseOf(10, 4))));
  ASSERT_TRUE(IsOk(writer->Commit()));
  Expect(NoiseOf(10, 4));
  ExpectHoldsAll();
}

// The items of a chunk that is not full must be written twice: to the journal, and coded.
TEST_P(FullDiskTest, WriterWhoseItemsFillNoChunkYetCanBeClosed) {
  Make(50);
  absl::StatusOr<Writer> writer = OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  absl::Status status;
  for (uint64_t seed = 3; status.ok(); ++seed) {
    const Buffer more = MakeNoise(7, seed);
    status = writer->Append(more);
    if (status.ok()) status = writer->Commit(Durability::kProcess).status();
    if (status.ok()) Expect(more);
    if (disk_->Free() > 16 << 10) FillAllBut(16 << 10);
  }
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  writer->Rollback();
  FillRest();
  EXPECT_TRUE(IsOk(writer->Close()));
  writer = absl::CancelledError();  // it reads an older state
  ExpectHoldsAll();
  ExpectCanBeFreed();
}

TEST_P(FullDiskTest, DeletesNeedNoReclaimWhereNoHistoryIsKept) {
  Make(100);
  FillRest();
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(IsOk(Delete(1))) << i;
  ExpectCanBeFreed();
}

TEST_P(FullDiskTest, DeletesThatAreRefusedCanBeMadeAfterReclaim) {
  Make(100);
  FillRest();
  absl::Status status;
  for (int i = 0; status.ok() && i < 50; ++i) status = Delete(1, kKeepAll);
  // A sparse frame needs no Reclaim.
  EXPECT_EQ(status.ok(), GetParam() == Layout::kSparse) << status;
  EXPECT_TRUE(IsOk(Reclaim()));
  ExpectCanBeFreed();
}

TEST_P(FullDiskTest, AllChunksCanBeDeleted) {
  Make(100);
  FillRest();
  EXPECT_TRUE(IsOk(Delete(100)));
  ExpectHoldsAll();
  EXPECT_TRUE(IsOk(Append(10)));
  ExpectHoldsAll();
}

TEST_P(FullDiskTest, CompactNeedsRoomForACopyAndOtherwiseLeavesNothing) {
  Make(100);
  FillRest();
  // A sparse frame needs an index only.
  const bool sparse = GetParam() == Layout::kSparse;
  EXPECT_EQ(Open()->Compact().ok(), sparse);
  ExpectHoldsAll();
  EXPECT_EQ(files()->List(".")->size(), 2u);
  EXPECT_TRUE(IsOk(Delete(80)));
  EXPECT_TRUE(IsOk(Reclaim()));
  EXPECT_TRUE(IsOk(Open()->Compact()));
  ExpectHoldsAll();
}

TEST_P(FullDiskTest, WriterThatDiesAtAnyMomentLeavesWhatFreesTheDisk) {
  bool died = true;
  for (int64_t count = 0; died; ++count) {
    SCOPED_TRACE(count);
    NewDisk();
    Make(80);
    FillRest();
    const int64_t last = disk_->operations() + count;
    bool reserving = false;
    disk_->Judge([&](const DiskOperation& operation) {
      if (operation.number != last) return Fate{};
      reserving = operation.kind == DiskOperation::Kind::kAllocate;
      return Fate{.kind = Fate::Kind::kDie};
    });
    Append(40).IgnoreError();
    Delete(10).IgnoreError();
    Reclaim().IgnoreError();
    died = disk_->dead();
    disk_->Judge({});
    disk_->Revive();
    const Buffer found = ContentOf(Open()->snapshot());
    if (found.size() < expected_.size()) ExpectWithout(10);
    ASSERT_EQ(found, expected_);
    // Between giving space back and reserving it again there is a moment for others to take it.
    if (!reserving) FillRest();
    ExpectCanBeFreed();
  }
}

TEST_P(FullDiskTest, ChunksThatTakeNoSpaceReserveNone) {
  CreateOptions options = Options();
  options.chunksize = 100;
  absl::StatusOr<Writer> writer = Frame::BeginCreate("f", options);
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->AppendSpecial(SpecialValue::kZeros, int64_t{100} * 100'000)));
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_GE(disk_->Free(), kCapacity - (16 << 10));
}

INSTANTIATE_TEST_SUITE_P(Layouts, FullDiskTest,
                         testing::Values(Layout::kContiguous, Layout::kSparse),
                         [](const auto& info) {
                           return info.param == Layout::kSparse ? "Sparse" : "Contiguous";
                         });

}  // namespace
}  // namespace cairn::test
