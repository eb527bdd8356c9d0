// Readers that never see a commit which a power cut could take back.
#include <string>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/support/bytes.h"
#include "tests/support/frames.h"
#include "tests/support/simulated_disk.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

class DurableOnlyTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(IsOk(WriteFrame(path_, Cut(4, 400), MakeItems(1000)))); }
  // Appends four bytes.
  uint64_t Commit(Writer& writer, Durability durability) {
    EXPECT_TRUE(IsOk(writer.Append(MakeItems(4))));
    return writer.Commit(durability)->info().generation;
  }
  static uint64_t Seen(Frame& frame) { return frame.Refresh()->info().generation; }
  Frame OpenDurably() const { return *Frame::Open(path_, {.durable_only = true}); }

  const TempDir dir_;
  const std::string path_ = dir_.Path("frame");
};

TEST_F(DurableOnlyTest, SeesADurableCommitAndAllBeforeIt) {
  Writer writer = *Frame::Open(path_)->OpenWriter();
  Frame reader = OpenDurably();
  const uint64_t first = reader.snapshot().info().generation;
  Commit(writer, Durability::kProcess);
  Commit(writer, Durability::kProcess);
  EXPECT_EQ(Seen(reader), first);
  EXPECT_EQ(OpenDurably().snapshot().info().generation, first);
  const uint64_t durable = Commit(writer, Durability::kMachine);
  EXPECT_EQ(Seen(reader), durable);
  EXPECT_EQ(OpenDurably().snapshot().info().generation, durable);
  Commit(writer, Durability::kProcess);
  EXPECT_EQ(Seen(reader), durable);
}

TEST_F(DurableOnlyTest, CommitsBecomeDurableLater) {
  Writer writer = *Frame::Open(path_)->OpenWriter();
  Frame reader = OpenDurably();
  const uint64_t first = Commit(writer, Durability::kProcess);
  EXPECT_LT(Seen(reader), first);
  ASSERT_TRUE(IsOk(writer.Commit(Durability::kMachine)));  // stages nothing
  EXPECT_EQ(Seen(reader), first);
  Commit(writer, Durability::kProcess);
  ASSERT_TRUE(IsOk(writer.Checkpoint()));
  EXPECT_GT(Seen(reader), first);
}

TEST_F(DurableOnlyTest, NextWriterMakesCommitsOfADeadOneDurable) {
  uint64_t left = 0;
  {
    Writer writer = *Frame::Open(path_)->OpenWriter();
    left = Commit(writer, Durability::kProcess);
  }
  Frame reader = OpenDurably();
  EXPECT_LT(Seen(reader), left);
  const Writer next = *Frame::Open(path_)->OpenWriter();
  EXPECT_EQ(Seen(reader), left);
}

TEST_F(DurableOnlyTest, SeesManyStagedChunksAndWhatFollowsThem) {
  Writer writer = *Frame::Open(path_)->OpenWriter();
  Frame reader = OpenDurably();
  ASSERT_TRUE(IsOk(writer.Append(MakeItems(40'000))));
  Commit(writer, Durability::kProcess);
  Seen(reader);
  ASSERT_TRUE(IsOk(writer.Append(MakeItems(40'000))));
  Seen(reader);
  const uint64_t durable = Commit(writer, Durability::kMachine);
  EXPECT_EQ(Seen(reader), durable);
  ExpectHolds(reader.snapshot(), *DataOf(Frame::Open(path_)->snapshot()));
}

TEST_F(DurableOnlyTest, WhatOutlivedAPowerCutIsDurable) {
  SimulatedDisk disk;
  uint64_t last = 0;
  ASSERT_TRUE(IsOk(Frame::Create("frame", {.file_system = disk.root()})));
  {
    Writer writer = *Frame::Open("frame", {.file_system = disk.root()})->OpenWriter();
    last = Commit(writer, Durability::kProcess);
    const OpenOptions durably = {.durable_only = true, .file_system = disk.root()};
    EXPECT_LT(Frame::Open("frame", durably)->snapshot().info().generation, last);
  }
  // The kernel had written all of it.
  const auto after = disk.PowerLossAt(disk.PendingTimes().back());
  const OpenOptions durably = {.durable_only = true, .file_system = after->root()};
  EXPECT_EQ(Frame::Open("frame", durably)->snapshot().info().generation, last);
}

TEST_F(DurableOnlyTest, SparseFrameIsSeenAtItsNewestCommit) {
  CreateOptions options = Cut(4, 400);
  options.layout = Layout::kSparse;
  const std::string path = dir_.Path("sparse");
  ASSERT_TRUE(IsOk(WriteFrame(path, options, MakeItems(1000))));
  Writer writer = *Frame::Open(path)->OpenWriter();
  Frame reader = *Frame::Open(path, {.durable_only = true});
  const uint64_t durable = Commit(writer, Durability::kMachine);
  EXPECT_EQ(Seen(reader), durable);
}

TEST_F(DurableOnlyTest, IsReadOnly) {
  EXPECT_TRUE(Fails(OpenDurably().OpenWriter(), absl::StatusCode::kFailedPrecondition, "durable"));
}

TEST_F(DurableOnlyTest, FramesInMemoryCanBeReadSo) {
  const Buffer bytes = *Frame::Open(path_)->snapshot().ToBuffer();
  const auto frame = Frame::OpenBuffer(bytes, {.durable_only = true});
  ASSERT_TRUE(IsOk(frame));
  ExpectHolds(frame->snapshot(), MakeItems(1000));
}

}  // namespace
}  // namespace cairn::test
