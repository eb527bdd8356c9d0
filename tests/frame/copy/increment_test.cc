// Increments: what changed between two states of a frame, and frames that follow it by them.
#include "engine/format/increment.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "tests/support/bytes.h"
#include "tests/support/frames.h"
#include "tests/support/simulated_disk.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

using absl::StatusCode;
using Edit = std::function<absl::Status(Writer&)>;

// A frame, a copy of it, and increments that go from one to the other.
class IncrementTest : public testing::Test {
 protected:
  void Begin(const CreateOptions& options, Bytes data) {
    ASSERT_TRUE(IsOk(WriteFrame(path_, options, data, {{"a", "first"}, {"b", "second"}})));
    Begin();
  }
  void Begin() {
    frame_.emplace(*Frame::Open(path_));
    shipped_.emplace(frame_->snapshot());
    ASSERT_TRUE(IsOk(shipped_->CopyTo(copy_path_, {.overwrite = true})));
    copy_.emplace(*Frame::Open(copy_path_));
  }
  void SetUp() override { Begin(Cut(4, 400), MakeNoise(4100)); }

  Snapshot Change(const Edit& edit) {
    Writer writer = *frame_->OpenWriter();
    EXPECT_TRUE(IsOk(edit(writer)));
    return *writer.Commit(Durability::kProcess);
  }
  // Makes an increment of what changed since the last one.
  Snapshot Ship() {
    const Snapshot newest = *frame_->Refresh();
    EXPECT_TRUE(IsOk(newest.CopyTo(increment_, {.since = shipped_, .overwrite = true})));
    shipped_ = newest;
    return Frame::Open(increment_)->snapshot();
  }
  absl::Status Apply(const Snapshot& increment) {
    auto writer = copy_->OpenWriter();
    if (!writer.ok()) return writer.status();
    const absl::Status status = writer->ApplyIncrement(increment);
    return status.ok() ? writer->Commit().status() : status;
  }
  // The copy becomes what the frame is after the edit. Returns the increment.
  Snapshot Follow(const Edit& edit) {
    Change(edit);
    const Snapshot increment = Ship();
    EXPECT_TRUE(increment.Verify()->ok());
    EXPECT_TRUE(IsOk(Apply(increment)));
    const Snapshot copy = Frame::Open(copy_path_)->snapshot();
    EXPECT_TRUE(copy.Verify()->ok());
    EXPECT_EQ(*FullContentOf(copy), *FullContentOf(*shipped_));
    EXPECT_EQ(*copy.ContentHash(), *shipped_->ContentHash());
    return increment;
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("frame");
  const std::string copy_path_ = dir_.Path("copy");
  const std::string increment_ = dir_.Path("increment");
  std::optional<Frame> frame_;
  std::optional<Frame> copy_;
  std::optional<Snapshot> shipped_;
  uint64_t seed_ = 0;
};

TEST_F(IncrementTest, BringsUpdates) {
  const Snapshot increment =
      Follow([](Writer& writer) { return writer.UpdateChunk(3, MakeNoise(400, 1)); });
  EXPECT_EQ(increment.info().nchunks, 1);
  EXPECT_EQ(increment.info().nbytes, 400);
}

TEST_F(IncrementTest, BringsInsertsAndDeletes) {
  Follow([](Writer& writer) { return writer.InsertChunk(2, MakeNoise(400, 1)); });
  EXPECT_EQ(Follow([](Writer& writer) { return writer.DeleteChunks(1, 3); }).info().nchunks, 0);
}

TEST_F(IncrementTest, BringsANewOrderWithoutAChunk) {
  const Snapshot increment = Follow([](Writer& writer) {
    std::vector<int64_t> order = {5, 4, 3, 2, 1, 0, 9, 8, 7, 6, 10};
    return writer.ReorderChunks(order);
  });
  EXPECT_EQ(increment.info().nchunks, 0);
}

TEST_F(IncrementTest, BringsOnlyTheItemsThatWereAppended) {
  const Snapshot increment = Follow([](Writer& writer) { return writer.Append(MakeNoise(40, 1)); });
  EXPECT_EQ(increment.info().nbytes, 40);
}

TEST_F(IncrementTest, BringsOnlyTheItemsThatAnArrayOfOneDimensionGot) {
  CreateOptions options = OfArray({.shape = {0}, .chunkshape = {100}, .blockshape = {30}}, 4);
  options.overwrite = true;
  ASSERT_TRUE(IsOk(Frame::Create(path_, options)));
  Begin();
  const auto append = [this](int64_t items) {
    return Follow([&](Writer& writer) {
      return writer.AppendSlices(0, MakeNoise(static_cast<size_t>(items) * 4, ++seed_));
    });
  };
  EXPECT_EQ(append(30).info().nbytes, 120);
  EXPECT_EQ(append(10).info().nbytes, 40);
  EXPECT_EQ(append(60).info().nchunks, 1);
  EXPECT_EQ(append(110).info().nchunks, 2);
  Follow([](Writer& writer) { return writer.DeleteSlices(0, 0, 100); });
  Follow([](Writer& writer) { return writer.Checkpoint(); });
  EXPECT_EQ(append(5).info().nbytes, 20);
  const int64_t shape[] = {108};
  EXPECT_EQ(Follow([&](Writer& writer) { return writer.ResizeArray(shape); }).info().nbytes, 32);
  EXPECT_EQ(copy_->Refresh()->array()->shape, std::vector<int64_t>{108});
}

TEST_F(IncrementTest, BringsPendingItemsThatBecameAChunk) {
  Follow([](Writer& writer) { return writer.Append(MakeNoise(900, 1)); });
  Follow([](Writer& writer) { return writer.WriteItems(1000, MakeNoise(400, 2)); });
}

TEST_F(IncrementTest, BringsSpecialValuesWithoutAChunk) {
  const Snapshot increment = Follow([](Writer& writer) {
    const absl::Status status = writer.DeleteChunks(10, 1);
    return status.ok() ? writer.AppendSpecial(SpecialValue::kZeros, 2000) : status;
  });
  EXPECT_EQ(increment.info().nchunks, 0);
}

TEST_F(IncrementTest, FollowsChunksOfVariableBlocksAlsoAShortOne) {
  const auto chunk = [this](size_t nbytes) {
    const Buffer items = MakeNoise(nbytes, ++seed_);
    const Bytes blocks[] = {Bytes(items).first(40), Bytes(items).subspan(40)};
    Buffer made(MaxVlCompressedSize(nbytes, 2));
    const auto size = CompressVlBlocks(blocks, OfTypesize(4), made);
    EXPECT_TRUE(IsOk(size));
    made.resize(size.value_or(0));
    return made;
  };
  const auto append = [&](Writer& writer, std::initializer_list<size_t> sizes) {
    for (const size_t nbytes : sizes) {
      CAIRN_RETURN_IF_ERROR(writer.AppendCompressed(chunk(nbytes)));
    }
    return absl::OkStatus();
  };
  Follow([&](Writer& writer) {
    CAIRN_RETURN_IF_ERROR(writer.DeleteChunks(0, 11));
    return append(writer, {400, 400, 400, 400, 100});
  });
  // The short chunk moves before one that goes.
  Follow([&](Writer& writer) {
    CAIRN_RETURN_IF_ERROR(writer.DeleteChunks(2, 1));
    const int64_t order[] = {2, 0, 1, 3};
    return writer.ReorderChunks(order);
  });
  // A new short chunk comes before those that go.
  Follow([&](Writer& writer) {
    CAIRN_RETURN_IF_ERROR(writer.DeleteChunks(1, 3));
    return append(writer, {60});
  });
}

TEST_F(IncrementTest, BringsMetadata) {
  Follow([](Writer& writer) { return writer.SetVlmetalayer("b", AsBytes("changed")); });
  Follow([](Writer& writer) { return writer.DeleteVlmetalayer("a"); });
  Follow([](Writer& writer) { return writer.SetVlmetalayer("a", AsBytes("again")); });
  EXPECT_EQ(copy_->Refresh()->vlmetalayers(), (std::vector<std::string>{"b", "a"}));
}

TEST_F(IncrementTest, BringsNothingWhereNothingChanged) {
  const uint64_t generation = copy_->snapshot().info().generation;
  EXPECT_EQ(Follow([](Writer&) { return absl::OkStatus(); }).info().nchunks, 0);
  EXPECT_EQ(copy_->Refresh()->info().generation, generation);
}

TEST_F(IncrementTest, FollowsAnArrayThatIsResized) {
  for (const std::string& path : {path_, copy_path_}) std::filesystem::remove(path);
  const ArrayInfo array = SmallArray();
  const auto nbytes =
      std::accumulate(array.shape.begin(), array.shape.end(), size_t{1}, std::multiplies<>());
  ASSERT_TRUE(IsOk(Frame::Create(path_, OfArray(array))));
  frame_.emplace(*Frame::Open(path_));
  shipped_.emplace(frame_->snapshot());
  ASSERT_TRUE(IsOk(shipped_->CopyTo(copy_path_)));
  copy_.emplace(*Frame::Open(copy_path_));
  const std::vector<int64_t> origin(array.shape.size());
  Follow([&](Writer& writer) { return writer.WriteBox(origin, array.shape, MakeNoise(nbytes)); });
  std::vector<int64_t> larger = array.shape;
  for (int64_t& length : larger) length += 5;
  Follow([&](Writer& writer) { return writer.ResizeArray(larger); });
  EXPECT_EQ(copy_->Refresh()->array()->shape, larger);
  Follow([&](Writer& writer) { return writer.ResizeArray(array.shape); });
  EXPECT_EQ(copy_->Refresh()->array()->shape, array.shape);
  Writer writer = *copy_->OpenWriter();
  EXPECT_TRUE(IsOk(writer.ResizeArray(larger)));
}

TEST_F(IncrementTest, BeginsAtAGenerationOrAtACopy) {
  const uint64_t first = frame_->snapshot().info().generation;
  Change([](Writer& writer) { return writer.UpdateChunk(1, MakeNoise(400, 1)); });
  CopyOptions options;
  options.since = Frame::Open(path_, {.generation = first})->snapshot();
  ASSERT_TRUE(IsOk(frame_->snapshot().CopyTo(increment_, options)));
  const IncrementInfo info = *Frame::Open(increment_)->snapshot().GetIncrementInfo();
  EXPECT_EQ(info.base_generation, first);
  EXPECT_EQ(info.result_generation, frame_->snapshot().info().generation);
  options.since = copy_->snapshot();
  ASSERT_TRUE(IsOk(frame_->snapshot().CopyTo(dir_.Path("other"), options)));
  const IncrementInfo other = *Frame::Open(dir_.Path("other"))->snapshot().GetIncrementInfo();
  EXPECT_EQ(other.base_hash, info.base_hash);
  EXPECT_EQ(other.result_hash, info.result_hash);
}

TEST_F(IncrementTest, AppliesToTheContentThatItNamesAlone) {
  const Snapshot first = Follow([](Writer& w) { return w.UpdateChunk(1, MakeNoise(400, 1)); });
  const Snapshot second = Follow([](Writer& w) { return w.UpdateChunk(2, MakeNoise(400, 2)); });
  const uint64_t generation = copy_->Refresh()->info().generation;
  // An increment whose content is already there changes nothing.
  EXPECT_TRUE(IsOk(Apply(second)));
  EXPECT_TRUE(Fails(Apply(first), StatusCode::kFailedPrecondition, "applies to content"));
  EXPECT_EQ(copy_->Refresh()->info().generation, generation);
  EXPECT_TRUE(Fails(Apply(copy_->snapshot()), StatusCode::kFailedPrecondition, "not an increment"));
}

TEST_F(IncrementTest, StagedEditsAreNoBaseForIt) {
  Change([](Writer& writer) { return writer.UpdateChunk(1, MakeNoise(400, 1)); });
  const Snapshot increment = Ship();
  Writer writer = *copy_->OpenWriter();
  ASSERT_TRUE(IsOk(writer.Append(MakeNoise(4))));
  EXPECT_TRUE(Fails(writer.ApplyIncrement(increment), StatusCode::kFailedPrecondition, "staged"));
  EXPECT_EQ(writer.Commit()->info().nbytes, 4104);
}

TEST_F(IncrementTest, FramesOfAnotherKindHaveNoIncrementBetweenThem) {
  ASSERT_TRUE(IsOk(WriteFrame(dir_.Path("other"), Cut(4, 800), MakeNoise(4100))));
  CopyOptions options;
  options.since = Frame::Open(dir_.Path("other"))->snapshot();
  EXPECT_TRUE(Fails(frame_->snapshot().CopyTo(increment_, options), StatusCode::kFailedPrecondition,
                    "chunksize or metalayers differ"));
}

TEST_F(IncrementTest, IncrementIsNoCopyAtWhichAnotherOneBegins) {
  Change([](Writer& writer) { return writer.UpdateChunk(1, MakeNoise(400, 1)); });
  const Snapshot increment = Ship();
  EXPECT_TRUE(Fails(frame_->snapshot().CopyTo(dir_.Path("next"), {.since = increment}),
                    StatusCode::kFailedPrecondition, "an increment, which is no copy"));
  EXPECT_TRUE(Fails(increment.CopyTo(dir_.Path("next"), {.since = copy_->snapshot()}),
                    StatusCode::kFailedPrecondition, "an increment, which is no copy"));
  EXPECT_TRUE(IsOk(increment.CopyTo(dir_.Path("next"), {})));
}

TEST_F(IncrementTest, FramesAreNotReplacedByTheirIncrement) {
  Change([](Writer& writer) { return writer.Append(MakeNoise(4)); });
  const Snapshot newest = *frame_->Refresh();
  for (const std::string& path : {path_, copy_path_}) {
    EXPECT_TRUE(Fails(newest.CopyTo(path, {.since = copy_->snapshot(), .overwrite = true}),
                      StatusCode::kFailedPrecondition, "give it another path"));
  }
  EXPECT_EQ(Frame::Open(path_)->snapshot().info().nbytes, 4104);
  EXPECT_EQ(Frame::Open(copy_path_)->snapshot().info().nbytes, 4100);
}

// An increment that claims another result than it makes, or asks for chunks that are not there.
TEST_F(IncrementTest, WrongIncrementChangesNothing) {
  Change([](Writer& writer) { return writer.UpdateChunk(1, MakeNoise(400, 1)); });
  Ship();
  const format::Increment good = *format::ParseIncrement(
      *Frame::Open(increment_)->snapshot().GetVlmetalayer(format::kIncrementLayer));
  const std::vector<std::function<void(format::Increment&)>> lies = {
      [](format::Increment& lie) { ++lie.result; },
      [](format::Increment& lie) { lie.runs[0].count += 1000; },
      [](format::Increment& lie) { lie.runs.push_back(lie.runs[0]); },
      [](format::Increment& lie) { lie.runs[1].count = 2; },
      [](format::Increment& lie) { lie.runs.clear(); },
      [](format::Increment& lie) { lie.nbytes = 7; },
      [](format::Increment& lie) { lie.vlblocks = true; },
      [](format::Increment& lie) { lie.partial_added = 40; },
      [](format::Increment& lie) { lie.layers.push_back({.name = "none"}); },
  };
  const uint64_t generation = copy_->snapshot().info().generation;
  const uint64_t content = *copy_->snapshot().ContentHash();
  for (const auto& lie : lies) {
    format::Increment wrong = good;
    lie(wrong);
    {
      Writer writer = *Frame::Open(increment_)->OpenWriter();
      ASSERT_TRUE(
          IsOk(writer.SetVlmetalayer(format::kIncrementLayer, format::EncodeIncrement(wrong))));
      ASSERT_TRUE(IsOk(writer.Close()));
    }
    Writer writer = *copy_->OpenWriter();
    EXPECT_FALSE(writer.ApplyIncrement(Frame::Open(increment_)->snapshot()).ok());
    const Snapshot after = *writer.Commit();
    EXPECT_EQ(*after.ContentHash(), content);
    EXPECT_EQ(after.info().generation, generation);
  }
}

// A restore leaves the old content or the new one, wherever it dies.
TEST(RestoreCrashTest, LeavesTheOldContentOrTheNew) {
  for (const Layout layout : {Layout::kContiguous, Layout::kSparse}) {
    SimulatedDisk sources;
    SimulatedDisk disk;
    Frame source = NewInMemory(Cut(4, 400));
    Writer writer = *source.OpenWriter();
    ASSERT_TRUE(IsOk(writer.Append(MakeNoise(2000))));
    const Snapshot before = *writer.Commit();
    ASSERT_TRUE(
        IsOk(source.snapshot().CopyTo("copy", {.layout = layout, .file_system = disk.root()})));
    ASSERT_TRUE(IsOk(writer.UpdateChunk(1, MakeNoise(400, 1))));
    ASSERT_TRUE(IsOk(writer.DeleteChunks(3, 1)));
    ASSERT_TRUE(IsOk(writer.Append(MakeNoise(100, 2))));
    const Snapshot after = *writer.Commit();
    ASSERT_TRUE(IsOk(
        source.snapshot().CopyTo("increment", {.since = before, .file_system = sources.root()})));
    const Snapshot increment =
        Frame::Open("increment", {.file_system = sources.root()})->snapshot();

    Dice dice(1);
    bool returned = false;
    int64_t old_states = 0;
    int64_t new_states = 0;
    const auto look = [&](SimulatedDisk& left) {
      const auto frame = Frame::Open("copy", {.file_system = left.root()});
      ASSERT_TRUE(IsOk(frame));
      ASSERT_TRUE(frame->snapshot().Verify()->ok());
      const uint64_t content = *frame->snapshot().ContentHash();
      const bool is_new = content == *after.ContentHash();
      EXPECT_TRUE(is_new || (!returned && content == *before.ContentHash()));
      (is_new ? new_states : old_states) += 1;
      // The restore can be made again.
      Writer again = *Frame::Open("copy", {.file_system = left.root()})->OpenWriter();
      ASSERT_TRUE(IsOk(again.ApplyIncrement(increment)));
      EXPECT_EQ(*again.Commit()->ContentHash(), *after.ContentHash());
    };
    const auto crash = [&] {
      look(*disk.Clone());
      for (int i = 0; i < 6; ++i) look(*disk.PowerLoss(dice));
    };
    disk.Judge([&](const DiskOperation&) {
      crash();
      return Fate();
    });
    Frame copy = *Frame::Open("copy", {.file_system = disk.root()});
    {
      Writer restorer = *copy.OpenWriter();
      ASSERT_TRUE(IsOk(restorer.ApplyIncrement(increment)));
      ASSERT_TRUE(IsOk(restorer.Commit()));
      returned = true;
      crash();
    }
    EXPECT_GT(old_states, 0);
    EXPECT_GT(new_states, 0);
  }
}

}  // namespace
}  // namespace cairn::test
