// Tests the facts that frames, snapshots and writers report of themselves and of each other.
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/support/bytes.h"
#include "tests/support/frames.h"
#include "tests/support/reverse_executor.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"

namespace cairn::test {
namespace {

class HandlesTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(IsOk(WriteFrame(path_, Cut(4, 400), MakeItems(1000)))); }
  Frame Open() const { return *Frame::Open(path_); }

  TempDir dir_;
  std::string path_ = dir_.Path("f");
};

TEST_F(HandlesTest, SnapshotsOfOneStateAreEqual) {
  Frame frame = Open();
  const Snapshot before = frame.snapshot();
  EXPECT_EQ(frame.snapshot(), before);
  EXPECT_EQ(*frame.Refresh(), before);
  ASSERT_TRUE(IsOk(AppendTo(path_, MakeItems(4))));
  const Snapshot after = *frame.Refresh();
  EXPECT_NE(after, before);
  EXPECT_EQ(*frame.Refresh(), after);
}

TEST_F(HandlesTest, CommitIsTheNewestStateOfItsFrame) {
  Frame frame = Open();
  Writer writer = *frame.OpenWriter();
  const Snapshot before = frame.snapshot();
  ASSERT_TRUE(IsOk(writer.Append(MakeItems(4))));
  EXPECT_NE(*writer.StagedSnapshot(), before);
  EXPECT_EQ(frame.snapshot(), before);
  const Snapshot committed = *writer.Commit();
  EXPECT_EQ(frame.snapshot(), committed);
}

TEST_F(HandlesTest, SnapshotsOfFramesOpenedSeparatelyDiffer) {
  EXPECT_NE(Open().snapshot(), Open().snapshot());
}

TEST_F(HandlesTest, OptionsOfAFrameMakeOneLikeIt) {
  CreateOptions options = Cut(8, 800);
  options.compression.codec = Codec::kZstd;
  options.compression.clevel = 7;
  options.compression.blocksize = 160;
  options.compression.filters = {{.filter = Filter::kBitShuffle}};
  options.metalayers = {{.name = "fixed", .content = MakeItems(8)}};
  const Snapshot made = NewInMemory(options).snapshot();
  const Snapshot again = NewInMemory(made.create_options()).snapshot();
  for (const Snapshot& snapshot : {made, again}) {
    EXPECT_EQ(snapshot.info().codec, Codec::kZstd);
    EXPECT_EQ(snapshot.info().clevel, 7);
    EXPECT_EQ(snapshot.info().typesize, 8);
    EXPECT_EQ(snapshot.info().blocksize, 160);
    EXPECT_EQ(snapshot.info().chunksize, 800);
    EXPECT_EQ(snapshot.info().filters, options.compression.filters);
    EXPECT_EQ(snapshot.metalayers(), options.metalayers);
  }
}

TEST_F(HandlesTest, OptionsKeepTheLayoutAndVariableChunks) {
  CreateOptions options = Cut(4, ChunkSize::Variable());
  options.layout = Layout::kSparse;
  const auto frame = Frame::Create(dir_.Path("sparse"), options);
  ASSERT_TRUE(IsOk(frame));
  const CreateOptions same = frame->snapshot().create_options();
  EXPECT_EQ(same.layout, Layout::kSparse);
  EXPECT_EQ(same.chunksize, ChunkSize::Variable());
}

TEST_F(HandlesTest, SizesThatAFrameDoesNotHaveAreEmpty) {
  const Snapshot fixed = Open().snapshot();
  EXPECT_EQ(fixed.info().chunksize, 400);
  EXPECT_FALSE(fixed.info().variable_chunks);
  EXPECT_EQ(fixed.info().blocksize, std::nullopt);
  EXPECT_EQ(fixed.info().dead_bytes, 0);
  const Snapshot variable = NewInMemory(Cut(4, ChunkSize::Variable())).snapshot();
  EXPECT_EQ(variable.info().chunksize, std::nullopt);
  EXPECT_TRUE(variable.info().variable_chunks);
}

TEST_F(HandlesTest, OnlyStoredChunksHaveAPlace) {
  Frame frame = NewInMemory(Cut(4, 400));
  Writer writer = *frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer.AppendSpecial(SpecialValue::kZeros, 100)));
  ASSERT_TRUE(IsOk(writer.Append(MakeItems(400))));
  ASSERT_TRUE(IsOk(writer.Append(MakeItems(4))));
  const Snapshot snapshot = *writer.Commit();
  EXPECT_FALSE(snapshot.GetEntry(0)->stored());
  EXPECT_TRUE(snapshot.GetEntry(1)->stored());
  EXPECT_TRUE(snapshot.GetEntry(1)->offset.has_value());
  EXPECT_EQ(snapshot.GetEntry(1)->file, std::nullopt);
  EXPECT_FALSE(snapshot.GetEntry(2)->stored()) << "pending items";
}

TEST_F(HandlesTest, CompactIsRefusedWhileAWriterIsThere) {
  Frame frame = Open();
  const Writer writer = *Open().OpenWriter();
  EXPECT_EQ(frame.Compact().status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(HandlesTest, CompactWaitsForAWriter) {
  Frame frame = Open();
  std::optional<Writer> writer = *Open().OpenWriter();
  std::thread closer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    writer.reset();
  });
  const auto report = frame.Compact({.wait = std::chrono::minutes(5)});
  closer.join();
  EXPECT_TRUE(IsOk(report));
}

TEST_F(HandlesTest, CompactCodesPendingItemsWithItsExecutor) {
  CreateOptions options = Cut(4, 1 << 20);
  options.compression.blocksize = 16 << 10;
  Frame frame = NewInMemory(options);
  {
    Writer writer = *frame.OpenWriter();
    ASSERT_TRUE(IsOk(writer.Append(MakeItems(512 << 10))));
    ASSERT_TRUE(IsOk(writer.Commit()));
  }
  ReverseExecutor executor(2);
  CompactOptions compact;
  compact.executor = Unowned(&executor);
  ASSERT_TRUE(IsOk(frame.Compact(compact)));
  EXPECT_GT(executor.runs(), 0);
  EXPECT_EQ(ContentOf(frame.snapshot()), MakeItems(512 << 10));
}

}  // namespace
}  // namespace cairn::test
