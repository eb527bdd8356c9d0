// Writers of frames in an object store whose machines sleep, and that outstay the grace.
#include <chrono>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/object_store.h"
#include "engine/object/memory_object_store.h"
#include "tests/support/bytes.h"
#include "tests/support/fault_object_store.h"
#include "tests/support/frames.h"
#include "tests/support/shifted_boot_clock.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

constexpr int32_t kSleepersChunk = 64;
constexpr std::chrono::seconds kGrace{3600};

class ObjectSleepTest : public testing::Test {
 protected:
  ObjectSleepTest() {
    store_->SetNow(now_);
    Make(false);
  }

  CreateOptions Sparse() const {
    CreateOptions options = Cut(1, kSleepersChunk);
    options.layout = Layout::kSparse;
    options.file_system = files_;
    return options;
  }
  // Makes a frame of two chunks.
  void Make(bool overwrite) {
    CreateOptions options = Sparse();
    options.overwrite = overwrite;
    auto writer = Frame::BeginCreate("f", options);
    ASSERT_TRUE(IsOk(writer));
    ASSERT_TRUE(IsOk(writer->Append(all_)));
    ASSERT_TRUE(IsOk(writer->Commit()));
  }
  Frame Open() const {
    auto frame = Frame::Open("f", {.file_system = files_});
    EXPECT_TRUE(IsOk(frame));
    return *std::move(frame);
  }
  Writer OpenWriter() const {
    auto writer = Open().OpenWriter();
    EXPECT_TRUE(IsOk(writer));
    return *std::move(writer);
  }
  // The time passes, and this machine sleeps meanwhile.
  void Sleep(std::chrono::seconds time) {
    now_ += time.count();
    store_->SetNow(now_);
    SleepMachine(time);
  }
  void CommitItems(Writer& writer, size_t count, uint64_t seed) {
    const Buffer items = MakeItems(count, seed);
    ASSERT_TRUE(IsOk(writer.Append(items)));
    ASSERT_TRUE(IsOk(writer.Commit()));
    AddTo(all_, items);
  }
  // Another machine, which is awake, commits, and removes what the grace allows, for two of them.
  void WorkElsewhere(uint64_t seed) {
    const std::shared_ptr<FileSystem> files = MakeObjectFileSystem(store_, {.grace = kGrace});
    auto frame = Frame::Open("f", {.file_system = files});
    ASSERT_TRUE(IsOk(frame));
    auto other = frame->OpenWriter();
    ASSERT_TRUE(IsOk(other));
    CommitItems(*other, 30, seed);
    ASSERT_TRUE(IsOk(other->Checkpoint()));
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(IsOk(other->Reclaim()));
      Sleep(kGrace);
    }
  }
  // Before the next put of such a name.
  void Before(std::string_view part, std::function<void()> act) {
    faulty_->SetChoice([part, act = std::move(act), done = false](auto name) mutable {
      if (!done && name.find(part) != std::string_view::npos) {
        done = true;
        act();
      }
      return StoreFault::kNone;
    });
  }

  std::shared_ptr<object::MemoryObjectStore> store_ = std::make_shared<object::MemoryObjectStore>();
  std::shared_ptr<FaultObjectStore> faulty_ = std::make_shared<FaultObjectStore>(store_, 1);
  std::shared_ptr<FileSystem> files_ = MakeObjectFileSystem(faulty_, {.grace = kGrace});
  int64_t now_ = 1000;
  Buffer all_ = MakeItems(2 * kSleepersChunk);
};

TEST_F(ObjectSleepTest, ChunksThatWereStagedBeforeASleepAreNotCommitted) {
  Writer writer = OpenWriter();
  const Buffer items = MakeItems(2 * kSleepersChunk, 5);
  ASSERT_TRUE(IsOk(writer.Append(items)));
  WorkElsewhere(6);
  EXPECT_TRUE(Fails(writer.Commit(), absl::StatusCode::kAborted, "staged"));
  ExpectHolds(Open().snapshot(), all_);
  writer.Rollback();
  CommitItems(writer, 2 * kSleepersChunk, 5);
  ExpectHolds(Open().snapshot(), all_);
}

// The part of the journal that the writer knows is collected by then.
TEST_F(ObjectSleepTest, AWriterThatSleptCommitsAfterWhatOthersHaveCommitted) {
  Writer writer = OpenWriter();
  CommitItems(writer, 10, 4);
  WorkElsewhere(5);
  CommitItems(writer, 20, 6);
  ExpectHolds(Open().snapshot(), all_);
}

// The record may lie outside of the journal, in the place of another writer's record, which is
// garbage by now.
TEST_F(ObjectSleepTest, ACommitDuringWhichTheMachineSleptIsNotAcknowledged) {
  Writer writer = OpenWriter();
  CommitItems(writer, 10, 4);
  ASSERT_TRUE(IsOk(writer.SetVlmetalayer("a", MakeItems(5))));
  Before("journal/", [&] { Sleep(kGrace); });
  EXPECT_TRUE(Fails(writer.Commit(), absl::StatusCode::kDeadlineExceeded, "too late"));
}

TEST_F(ObjectSleepTest, ACheckpointAfterASleepTakesNoCommitBack) {
  Writer writer = OpenWriter();
  CommitItems(writer, 10, 4);
  Before("chunks.b2frame", [&] { WorkElsewhere(5); });
  ASSERT_TRUE(IsOk(writer.Checkpoint()));
  ExpectHolds(Open().snapshot(), all_);
  CommitItems(writer, 20, 6);
  ExpectHolds(Open().snapshot(), all_);
}

// Between the commit that leaves nothing pending and the index.
TEST_F(ObjectSleepTest, ACheckpointGoesOnAfterASleepBetweenItsSteps) {
  Writer writer = OpenWriter();
  CommitItems(writer, 10, 4);
  Before("journal/", [&] { Sleep(kGrace / 8); });
  ASSERT_TRUE(IsOk(writer.Checkpoint()));
  Before("chunks.b2frame", [&] { Sleep(2 * kGrace); });
  CommitItems(writer, 10, 5);
  ASSERT_TRUE(IsOk(writer.Checkpoint()));
  CommitItems(writer, 10, 6);
  ExpectHolds(Open().snapshot(), all_);
}

// To the frame that is there its chunks are garbage.
TEST_F(ObjectSleepTest, AReplacementThatOutstaysTheGraceLeavesTheFrame) {
  CreateOptions options = Sparse();
  options.overwrite = true;
  auto replacing = Frame::BeginCreate("f", options);
  ASSERT_TRUE(IsOk(replacing));
  ASSERT_TRUE(IsOk(replacing->Append(MakeItems(4 * kSleepersChunk, 9))));
  WorkElsewhere(5);
  EXPECT_TRUE(Fails(replacing->Commit(), absl::StatusCode::kAborted, "staged"));
  Writer writer = OpenWriter();
  CommitItems(writer, 10, 6);
  ExpectHolds(Open().snapshot(), all_);
}

TEST_F(ObjectSleepTest, AGraceShorterThanRequestsMayTakeIsRefused) {
  faulty_->SetCallTimeout(std::chrono::minutes(2));
  const auto create = [&](std::chrono::seconds grace, std::string_view name) {
    files_ = MakeObjectFileSystem(faulty_, {.grace = grace});
    return Frame::Create(std::string(name), Sparse());
  };
  EXPECT_TRUE(Fails(create(std::chrono::seconds(479), "a"), absl::StatusCode::kInvalidArgument,
                    "480000 ms; got 479 s"));
  ASSERT_TRUE(IsOk(create(std::chrono::seconds(480), "b")));
  ASSERT_TRUE(IsOk(create(std::chrono::seconds(0), "c")));
  files_ = MakeObjectFileSystem(faulty_, {.grace = std::chrono::seconds(1)});
  auto frame = Frame::Open("b", {.file_system = files_});
  ASSERT_TRUE(IsOk(frame));
  EXPECT_TRUE(Fails(frame->OpenWriter(), absl::StatusCode::kInvalidArgument, "grace"));
}

}  // namespace
}  // namespace cairn::test
