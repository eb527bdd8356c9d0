// Writers of frames in an object store, at the same time.
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/object_store.h"
#include "engine/format/journal.h"
#include "engine/object/object_names.h"
#include "tests/support/bytes.h"
#include "tests/support/frames.h"
#include "tests/support/object_frame.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

class ObjectWritersTest : public ObjectFrameTest {};

TEST_F(ObjectWritersTest, AFrameIsWrittenAndReadBack) {
  Make(3);
  EXPECT_EQ(Content(), MakeItems(3 * kChunk));
  Frame frame = Open();
  EXPECT_TRUE(frame.snapshot().info().sealed);
  auto report = frame.snapshot().Verify();
  ASSERT_TRUE(IsOk(report));
  EXPECT_TRUE(report->findings.empty());
}

TEST_F(ObjectWritersTest, ACommitIsOneRequestAndOneForEachChunk) {
  Make(3);
  Writer writer = OpenWriter();
  ASSERT_TRUE(IsOk(writer.Append(MakeItems(5 * kChunk))));
  const int64_t before = store_->stats().puts;
  ASSERT_TRUE(IsOk(writer.Commit()));
  ASSERT_TRUE(IsOk(writer.Append(MakeItems(7))));
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(store_->stats().puts - before, 2);  // the chunks were put before
}

TEST_F(ObjectWritersTest, ARefreshWithoutNewsIsOneRequest) {
  Make(3);
  Frame frame = Open();
  ASSERT_TRUE(IsOk(frame.Refresh()));
  const int64_t before = store_->stats().requests();
  ASSERT_TRUE(IsOk(frame.Refresh()));
  EXPECT_EQ(store_->stats().requests() - before, 1);
}

TEST_F(ObjectWritersTest, ARefreshTakesOneRequestMoreForEachCommit) {
  Make(3);
  Frame frame = Open();
  Writer writer = OpenWriter();
  for (int commits = 1; commits <= 3; ++commits) {
    for (int i = 0; i < commits; ++i) {
      ASSERT_TRUE(IsOk(writer.Append(MakeItems(5))));
      ASSERT_TRUE(IsOk(writer.Commit()));
    }
    const int64_t before = store_->stats().requests();
    const auto seen = frame.Refresh();
    ASSERT_TRUE(IsOk(seen));
    EXPECT_EQ(store_->stats().requests() - before, 1 + commits);
  }
  Reopen({});
  const int64_t before = store_->stats().requests();
  EXPECT_EQ(Open().snapshot().info().nbytes, 3 * kChunk + 6 * 5);
  EXPECT_EQ(store_->stats().requests() - before, 3 + 6);
}

TEST_F(ObjectWritersTest, AWriterReadsNothingThatTheFrameHasRead) {
  Make(3);
  Writer other = OpenWriter();
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(IsOk(other.Append(MakeItems(5))));
    ASSERT_TRUE(IsOk(other.Commit()));
  }
  Frame frame = Open();
  int64_t before = store_->stats().requests();
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  EXPECT_EQ(store_->stats().requests() - before, 1);
  // The commits since then, and a checkpoint, are taken over.
  ASSERT_TRUE(IsOk(other.Append(MakeItems(5))));
  ASSERT_TRUE(IsOk(other.Checkpoint()));
  ASSERT_TRUE(IsOk(other.Append(MakeItems(7))));
  ASSERT_TRUE(IsOk(other.Commit()));
  auto late = frame.OpenWriter();
  ASSERT_TRUE(IsOk(late));
  for (Writer* const each : {&*writer, &*late}) {
    ASSERT_TRUE(IsOk(each->Append(MakeItems(1))));
    ASSERT_TRUE(IsOk(each->Commit()));
  }
  EXPECT_EQ(Open().snapshot().info().nbytes, 3 * kChunk + 6 * 5 + 7 + 2);
}

TEST_F(ObjectWritersTest, OpeningTakesNoMoreThanThreeRequests) {
  Make(100);
  Reopen({});
  const int64_t before = store_->stats().requests();
  Open();
  EXPECT_LE(store_->stats().requests() - before, 3);
}

TEST_F(ObjectWritersTest, ReadersSeeCommitsOfEachOther) {
  Make(1);
  Frame frame = Open();
  Writer writer = OpenWriter();
  Buffer all = MakeItems(kChunk);
  for (int i = 0; i < 20; ++i) {
    const Buffer more = MakeItems(static_cast<size_t>(1 + i * 13), 100 + static_cast<uint64_t>(i));
    AddTo(all, more);
    ASSERT_TRUE(IsOk(writer.Append(more)));
    ASSERT_TRUE(IsOk(writer.Commit()));
    auto seen = frame.Refresh();
    ASSERT_TRUE(IsOk(seen));
    ExpectHolds(*seen, all);
  }
  EXPECT_EQ(Content(), all);
}

TEST_F(ObjectWritersTest, AppendsOfTwoWritersFollowEachOther) {
  Make(1);
  Writer first = OpenWriter();
  Writer second = OpenWriter();
  const Buffer a = MakeItems(100, 2);
  const Buffer b = MakeItems(150, 3);
  const Buffer c = MakeItems(kChunk, 4);
  ASSERT_TRUE(IsOk(first.Append(a)));
  ASSERT_TRUE(IsOk(second.Append(b)));
  ASSERT_TRUE(IsOk(second.Commit()));
  ASSERT_TRUE(IsOk(first.Commit()));
  ASSERT_TRUE(IsOk(second.Append(c)));
  ASSERT_TRUE(IsOk(second.Commit()));
  ExpectHolds(Open().snapshot(), Concatenated({MakeItems(kChunk), b, a, c}));
}

TEST_F(ObjectWritersTest, ChunksizeThatAnotherWriterSetsStands) {
  Make(1);
  Writer first = OpenWriter();
  ASSERT_TRUE(IsOk(first.DeleteChunks(0, 1)));
  ASSERT_TRUE(IsOk(first.Commit()));
  Writer second = OpenWriter();
  ASSERT_TRUE(IsOk(first.SetVlmetalayer("a", MakeItems(4))));
  ASSERT_TRUE(IsOk(second.SetChunksize(3 * kChunk)));
  ASSERT_TRUE(IsOk(second.Commit()));
  ASSERT_TRUE(IsOk(first.Commit()));
  EXPECT_EQ(Open().snapshot().info().chunksize, 3 * kChunk);
}

TEST_F(ObjectWritersTest, ChunksizeIsNotSetAfterAnotherWriterAppends) {
  Make(1);
  Writer first = OpenWriter();
  ASSERT_TRUE(IsOk(first.DeleteChunks(0, 1)));
  ASSERT_TRUE(IsOk(first.Commit()));
  Writer second = OpenWriter();
  ASSERT_TRUE(IsOk(first.SetChunksize(3 * kChunk)));
  ASSERT_TRUE(IsOk(second.Append(MakeItems(10))));
  ASSERT_TRUE(IsOk(second.Commit()));
  EXPECT_EQ(first.Commit().status().code(), absl::StatusCode::kAborted);
}

TEST_F(ObjectWritersTest, EditsOfDifferentChunksBothStand) {
  Make(4);
  Writer first = OpenWriter();
  Writer second = OpenWriter();
  ASSERT_TRUE(IsOk(first.UpdateChunk(1, MakeItems(kChunk, 11))));
  ASSERT_TRUE(IsOk(second.UpdateChunk(2, MakeItems(kChunk, 12))));
  ASSERT_TRUE(IsOk(second.Append(MakeItems(10, 13))));
  ASSERT_TRUE(IsOk(first.Commit()));
  ASSERT_TRUE(IsOk(second.Commit()));
  Buffer all = MakeItems(4 * kChunk);
  std::ranges::copy(MakeItems(kChunk, 11), all.begin() + kChunk);
  std::ranges::copy(MakeItems(kChunk, 12), all.begin() + 2 * kChunk);
  AddTo(all, MakeItems(10, 13));
  ExpectHolds(Open().snapshot(), all);
}

// The last chunk is complete, or short.
TEST_F(ObjectWritersTest, AnEditOfTheLastItemsStandsBesideOneOfAnotherChunk) {
  for (const size_t more : {0, 33}) {
    SCOPED_TRACE(testing::Message() << more << " items more");
    store_ = std::make_shared<object::MemoryObjectStore>();
    ReachThrough(store_);
    Make(4);
    Writer first = OpenWriter();
    ASSERT_TRUE(IsOk(first.Append(MakeItems(more, 5))));
    ASSERT_TRUE(IsOk(first.Checkpoint()));
    Writer second = OpenWriter();
    Buffer all = Concatenated({MakeItems(4 * kChunk), MakeItems(more, 5)});
    ASSERT_TRUE(IsOk(first.WriteItems(std::ssize(all) - 2, MakeItems(2, 6))));
    ASSERT_TRUE(IsOk(first.Append(MakeItems(7, 7))));
    ASSERT_TRUE(IsOk(second.UpdateChunk(1, MakeItems(kChunk, 12))));
    ASSERT_TRUE(IsOk(second.Commit()));
    auto seen = first.Commit();
    ASSERT_TRUE(IsOk(seen));
    std::ranges::copy(MakeItems(2, 6), all.end() - 2);
    std::ranges::copy(MakeItems(kChunk, 12), all.begin() + kChunk);
    AddTo(all, MakeItems(7, 7));
    ExpectHolds(*seen, all);
    const Frame frame = Open();
    ExpectHolds(frame.snapshot(), all);
    EXPECT_EQ(seen->info().cbytes, frame.snapshot().info().cbytes);
  }
}

TEST_F(ObjectWritersTest, ALineGrowsBesideAnEditOfMetadata) {
  CreateOptions options = Sparse(4);
  options.array = ArrayInfo{.shape = {0}, .chunkshape = {16}, .blockshape = {4}};
  auto made = Frame::BeginCreate("f", options);
  ASSERT_TRUE(IsOk(made));
  ASSERT_TRUE(IsOk(made->Commit()));
  ASSERT_TRUE(IsOk(made->Close()));
  Writer first = OpenWriter();
  Writer second = OpenWriter();
  int64_t items = 0;
  for (uint64_t i = 0; i < 5; ++i) {
    ASSERT_TRUE(IsOk(first.AppendSlices(0, MakeItems(30 * 4, i))));
    ASSERT_TRUE(IsOk(second.SetVlmetalayer("a", MakeItems(5, i))));
    ASSERT_TRUE(IsOk(second.Commit()));
    auto seen = first.Commit();
    ASSERT_TRUE(IsOk(seen));
    items += 30;
    EXPECT_EQ(seen->array()->shape, std::vector<int64_t>{items});
    EXPECT_EQ(Open().snapshot().array()->shape, std::vector<int64_t>{items});
  }
}

TEST_F(ObjectWritersTest, AppendedItemsFollowThoseThatAResizeLeaves) {
  CreateOptions options = Sparse();
  options.array = ArrayInfo{.shape = {0}, .chunkshape = {8}, .blockshape = {4}};
  options.overwrite = true;
  for (const int64_t length : {0, 3, 8, 16, 21, 23, 25, 40}) {
    SCOPED_TRACE(length);
    auto made = Frame::BeginCreate("f", options);
    ASSERT_TRUE(IsOk(made));
    ASSERT_TRUE(IsOk(made->AppendSlices(0, MakeItems(24))));
    ASSERT_TRUE(IsOk(made->Close()));
    Writer first = OpenWriter();
    Writer second = OpenWriter();
    Writer third = OpenWriter();
    ASSERT_TRUE(IsOk(first.ResizeArray({{length}})));
    ASSERT_TRUE(IsOk(second.AppendSlices(0, MakeItems(1, 9))));
    ASSERT_TRUE(IsOk(third.ResizeArray({{length + 2}})));
    ASSERT_TRUE(IsOk(first.Commit()));
    auto seen = second.Commit();
    ASSERT_TRUE(IsOk(seen));
    Buffer expected = MakeItems(24);
    expected.resize(static_cast<size_t>(length));
    AddTo(expected, MakeItems(1, 9));
    Buffer items(expected.size());
    ASSERT_TRUE(IsOk(seen->ReadBox({{0}}, {{length + 1}}, items)));
    EXPECT_EQ(items, expected);
    EXPECT_EQ(third.Commit().status().code(), absl::StatusCode::kAborted);
  }
}

TEST_F(ObjectWritersTest, AnArrayIsNotResizedAfterAnotherWriterAppends) {
  CreateOptions options = Sparse();
  options.array = ArrayInfo{.shape = {0}, .chunkshape = {8}, .blockshape = {4}};
  auto made = Frame::BeginCreate("f", options);
  ASSERT_TRUE(IsOk(made));
  ASSERT_TRUE(IsOk(made->AppendSlices(0, MakeItems(24))));
  ASSERT_TRUE(IsOk(made->Close()));
  for (const int64_t length : {0, 8, 21, 23, 40}) {
    Writer first = OpenWriter();
    Writer second = OpenWriter();
    ASSERT_TRUE(IsOk(first.AppendSlices(0, MakeItems(1))));
    ASSERT_TRUE(IsOk(second.ResizeArray({{length}})));
    ASSERT_TRUE(IsOk(first.Commit()));
    EXPECT_EQ(second.Commit().status().code(), absl::StatusCode::kAborted) << length;
  }
}

TEST_F(ObjectWritersTest, EditsOfTheSameChunkAreAborted) {
  Make(4);
  Writer first = OpenWriter();
  Writer second = OpenWriter();
  ASSERT_TRUE(IsOk(first.UpdateChunk(1, MakeItems(kChunk, 11))));
  ASSERT_TRUE(IsOk(second.UpdateChunk(1, MakeItems(kChunk, 12))));
  ASSERT_TRUE(IsOk(first.Commit()));
  EXPECT_TRUE(Fails(second.Commit(), absl::StatusCode::kAborted, "chunk 1"));
  second.Rollback();
  ASSERT_TRUE(IsOk(second.UpdateChunk(1, MakeItems(kChunk, 12))));
  ASSERT_TRUE(IsOk(second.Commit()));
}

TEST_F(ObjectWritersTest, AnAbortedCommitThatIsTriedAgainIsAbortedAgain) {
  Make(4);
  Writer first = OpenWriter();
  Writer second = OpenWriter();
  ASSERT_TRUE(IsOk(first.UpdateChunk(1, MakeItems(kChunk, 11))));
  ASSERT_TRUE(IsOk(first.Append(MakeItems(100, 5))));
  ASSERT_TRUE(IsOk(second.UpdateChunk(1, MakeItems(kChunk, 12))));
  ASSERT_TRUE(IsOk(first.Commit()));
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(Fails(second.Commit(), absl::StatusCode::kAborted, "chunk 1"));
  }
  Buffer all = MakeItems(4 * kChunk);
  std::ranges::copy(MakeItems(kChunk, 11), all.begin() + kChunk);
  AddTo(all, MakeItems(100, 5));
  ExpectHolds(Open().snapshot(), all);
  second.Rollback();
  ASSERT_TRUE(IsOk(second.Append(MakeItems(10, 6))));
  ASSERT_TRUE(IsOk(second.Commit()));
  AddTo(all, MakeItems(10, 6));
  ExpectHolds(Open().snapshot(), all);
}

TEST_F(ObjectWritersTest, ACheckpointLosesNoCommitThatIsMadeMeanwhile) {
  Make(2);
  Writer first = OpenWriter();
  Writer second = OpenWriter();
  ASSERT_TRUE(IsOk(first.Append(MakeItems(100, 2))));
  ASSERT_TRUE(IsOk(first.Checkpoint()));
  ASSERT_TRUE(IsOk(second.Append(MakeItems(50, 3))));
  ASSERT_TRUE(IsOk(second.Commit()));
  ASSERT_TRUE(IsOk(first.Append(MakeItems(30, 4))));
  ASSERT_TRUE(IsOk(first.Commit()));
  ASSERT_TRUE(IsOk(second.Checkpoint()));
  ExpectHolds(Open().snapshot(), Concatenated({MakeItems(2 * kChunk), MakeItems(100, 2),
                                               MakeItems(50, 3), MakeItems(30, 4)}));
}

TEST_F(ObjectWritersTest, EightWritersLoseNoneOfTheirCommits) {
  Make(0);
  constexpr int kWriters = 8;
  constexpr int kCommits = 50;
  std::vector<std::thread> threads;
  for (int w = 0; w < kWriters; ++w) {
    threads.emplace_back([this, w] {
      Writer writer = OpenWriter();
      for (int i = 0; i < kCommits; ++i) {
        Buffer item(8);
        item[0] = static_cast<std::byte>(w);
        item[1] = static_cast<std::byte>(i);
        ASSERT_TRUE(IsOk(writer.Append(item)));
        ASSERT_TRUE(IsOk(writer.Commit()));
      }
      ASSERT_TRUE(IsOk(writer.Close()));
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::map<std::pair<int, int>, int> seen;
  std::array<int, kWriters> next{};
  const Buffer all = Content();
  ASSERT_EQ(all.size(), 8U * kWriters * kCommits);
  for (size_t at = 0; at < all.size(); at += 8) {
    const auto w = std::to_integer<size_t>(all[at]);
    EXPECT_EQ(std::to_integer<int>(all[at + 1]), next[w]++) << "of writer " << w;
  }
}

TEST_F(ObjectWritersTest, AWriterOfAFrameThatWasReplacedIsToldSo) {
  Make(2);
  Writer writer = OpenWriter();
  ASSERT_TRUE(IsOk(writer.Append(MakeItems(10, 2))));
  CreateOptions options = Sparse();
  EXPECT_TRUE(Fails(Frame::Create("f", options), absl::StatusCode::kAlreadyExists, "exists"));
  options.overwrite = true;
  ASSERT_TRUE(IsOk(Frame::Create("f", options)));
  EXPECT_TRUE(Fails(writer.Commit(), absl::StatusCode::kFailedPrecondition, "another frame"));
  EXPECT_TRUE(Content().empty());
  Writer next = OpenWriter();
  ASSERT_TRUE(IsOk(next.Append(MakeItems(20, 3))));
  ASSERT_TRUE(IsOk(next.Close()));
  EXPECT_EQ(Content(), MakeItems(20, 3));
}

TEST_F(ObjectWritersTest, AFrameWhoseReplacementWasBegunIsWrittenOn) {
  Make(2);
  {
    Writer writer = OpenWriter();
    ASSERT_TRUE(IsOk(writer.Append(MakeItems(10, 2))));
    ASSERT_TRUE(IsOk(writer.Commit()));
  }
  // The process that replaces it dies before it puts the new index.
  auto listing = store_->List("f/journal/", "", 10);
  ASSERT_TRUE(IsOk(listing));
  ASSERT_EQ(listing->objects.size(), 1U);
  const ObjectInfo& last = listing->objects[0];
  const int64_t begin = *object::ParseJournalObjectName(last.name.substr(2));
  ASSERT_TRUE(IsOk(store_->PutIfAbsent("f/" + object::JournalObjectName(begin + last.size),
                                       format::EncodeReplaced())));
  Writer writer = OpenWriter();
  ASSERT_TRUE(IsOk(writer.Append(MakeItems(20, 3))));
  ASSERT_TRUE(IsOk(writer.Commit()));
  ExpectHolds(Open().snapshot(),
              Concatenated({MakeItems(2 * kChunk), MakeItems(10, 2), MakeItems(20, 3)}));
}

TEST_F(ObjectWritersTest, GarbageGoesAfterTheGraceAndNotBefore) {
  store_->SetNow(1000);
  ObjectFileOptions options;
  options.grace = std::chrono::seconds(100);
  Reopen(options);
  Make(4);
  Writer writer = OpenWriter();
  ASSERT_TRUE(IsOk(writer.UpdateChunk(1, MakeItems(kChunk, 11))));
  ASSERT_TRUE(IsOk(writer.Checkpoint()));
  store_->SetNow(1060);
  auto report = writer.Reclaim();
  ASSERT_TRUE(IsOk(report));
  EXPECT_EQ(report->freed, 0);
  EXPECT_TRUE(report->blocked);
  store_->SetNow(1159);
  EXPECT_EQ(writer.Reclaim()->freed, 0);
  store_->SetNow(1160);
  report = writer.Reclaim();
  ASSERT_TRUE(IsOk(report));
  EXPECT_GT(report->freed, kChunk / 2);
  Buffer all = MakeItems(4 * kChunk);
  std::ranges::copy(MakeItems(kChunk, 11), all.begin() + kChunk);
  ExpectHolds(Open().snapshot(), all);
}

}  // namespace
}  // namespace cairn::test
