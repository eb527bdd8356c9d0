#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "cairn/collection.h"
#include "cairn/frame.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::test {
namespace {

using Column = std::vector<int32_t>;

class CollectionSharingTest : public testing::Test {
 protected:
  CollectionSharingTest() {
    EXPECT_TRUE(IsOk(Collection::Create(path_).status()));
    absl::StatusOr<CollectionWriter> writer = Open().OpenWriter();
    for (const char* const name : {"/a", "/b", "/g/c"}) Add(*writer, name, {1});
    EXPECT_TRUE(IsOk(writer->Commit().status()));
    EXPECT_TRUE(IsOk(writer->Close()));
  }

  static void Add(CollectionWriter& writer, const std::string& name, const Column& values) {
    CreateOptions options;
    options.compression.typesize = 4;
    options.array = {.shape = {0}, .chunkshape = {100}, .dtype = "<i4"};
    absl::StatusOr<MemberWriter> added = writer.Add(name, options);
    ASSERT_TRUE(IsOk(added.status()));
    ASSERT_TRUE(IsOk(added->AppendSlices(0, values)));
  }

  Collection Open(std::shared_ptr<FileSystem> files = nullptr) const {
    CollectionOptions options;
    options.members.file_system = std::move(files);
    absl::StatusOr<Collection> collection = Collection::Open(path_, options);
    EXPECT_TRUE(IsOk(collection.status()));
    return *std::move(collection);
  }

  absl::StatusOr<CollectionWriter> Share(std::chrono::milliseconds wait = {}) const {
    return Open().OpenWriter({.wait = wait, .shared = true});
  }

  static absl::Status Append(CollectionWriter& writer, const std::string& name, int32_t value) {
    absl::StatusOr<MemberWriter> edited = writer.Edit(name);
    if (!edited.ok()) return edited.status();
    return edited->AppendSlices(0, Column{value});
  }

  Column Read(const std::string& name) const {
    const absl::StatusOr<Snapshot> member = Open().snapshot().OpenMember(name);
    if (!member.ok()) {
      ADD_FAILURE() << member.status();
      return {};
    }
    Column values(static_cast<size_t>(member->info().nitems));
    EXPECT_TRUE(IsOk(member->ReadItems(0, values)));
    return values;
  }

  const TempDir dir_;
  const std::string path_ = dir_.path() + "/c.b2d";
};

TEST_F(CollectionSharingTest, WritersOfDifferentMembersStageAtTheSameTime) {
  absl::StatusOr<CollectionWriter> first = Share();
  absl::StatusOr<CollectionWriter> second = Share();
  ASSERT_TRUE(IsOk(first.status()));
  ASSERT_TRUE(IsOk(second.status()));
  ASSERT_TRUE(IsOk(Append(*first, "/a", 2)));
  ASSERT_TRUE(IsOk(Append(*second, "/b", 3)));
  EXPECT_EQ(*second->Commit(), 2);
  EXPECT_EQ(Read("/a"), Column({1}));
  EXPECT_EQ(*first->Commit(), 3);
  EXPECT_EQ(Read("/a"), Column({1, 2}));
  EXPECT_EQ(Read("/b"), Column({1, 3}));
  for (int32_t i = 4; i < 40; ++i) {
    CollectionWriter& writer = i % 3 == 0 ? *first : *second;
    ASSERT_TRUE(IsOk(Append(writer, i % 2 == 0 ? "/a" : "/g/c", i)));
    ASSERT_TRUE(IsOk(writer.Commit().status()));
  }
  EXPECT_EQ(Read("/a").size(), 20);
  EXPECT_EQ(Read("/g/c").size(), 19);
}

TEST_F(CollectionSharingTest, AMemberHasOneWriterUntilItsCommitOrRollback) {
  absl::StatusOr<CollectionWriter> first = Share();
  absl::StatusOr<CollectionWriter> second = Share();
  ASSERT_TRUE(IsOk(Append(*first, "/a", 2)));
  EXPECT_TRUE(absl::IsUnavailable(Append(*second, "/a", 3)));
  EXPECT_TRUE(absl::IsUnavailable(second->Remove("/a")));
  EXPECT_TRUE(absl::IsUnavailable(second->Move("/a", "/d")));
  EXPECT_TRUE(absl::IsUnavailable(second->Compact("/a")));
  ASSERT_TRUE(IsOk(first->Commit().status()));
  ASSERT_TRUE(IsOk(Append(*second, "/a", 3)));
  EXPECT_TRUE(absl::IsUnavailable(first->Remove("/a")));
  second->Rollback();
  ASSERT_TRUE(IsOk(first->Remove("/a")));
  EXPECT_TRUE(absl::IsUnavailable(Append(*second, "/a", 3)));
  ASSERT_TRUE(IsOk(first->Commit().status()));
  EXPECT_TRUE(absl::IsNotFound(Append(*second, "/a", 3)));
}

TEST_F(CollectionSharingTest, AWriterWaitsForAMember) {
  absl::StatusOr<CollectionWriter> first = Share();
  ASSERT_TRUE(IsOk(Append(*first, "/a", 2)));
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_TRUE(IsOk(first->Commit().status()));
  });
  absl::StatusOr<CollectionWriter> second = Share(std::chrono::seconds(30));
  EXPECT_TRUE(IsOk(Append(*second, "/a", 3)));
  other.join();
  ASSERT_TRUE(IsOk(second->Commit().status()));
  EXPECT_EQ(Read("/a"), Column({1, 2, 3}));
}

TEST_F(CollectionSharingTest, OfTwoNewMembersOfOneNameTheFirstStands) {
  absl::StatusOr<CollectionWriter> first = Share();
  absl::StatusOr<CollectionWriter> second = Share();
  Add(*first, "/n", {5});
  Add(*second, "/n", {6});
  ASSERT_TRUE(IsOk(Append(*second, "/b", 7)));
  ASSERT_TRUE(IsOk(first->Commit().status()));
  EXPECT_TRUE(absl::IsAborted(second->Commit().status()));
  EXPECT_TRUE(absl::IsAborted(second->Commit().status())) << "all is still staged";
  second->Rollback();
  ASSERT_TRUE(IsOk(Append(*second, "/n", 6)));
  ASSERT_TRUE(IsOk(second->Commit().status()));
  EXPECT_EQ(Read("/n"), Column({5, 6}));
  EXPECT_EQ(Read("/b"), Column({1}));
}

TEST_F(CollectionSharingTest, AWriterThatDoesNotShareIsAlone) {
  {
    const absl::StatusOr<CollectionWriter> alone = Open().OpenWriter();
    ASSERT_TRUE(IsOk(alone.status()));
    EXPECT_TRUE(absl::IsUnavailable(Open().OpenWriter().status()));
  }
  absl::StatusOr<CollectionWriter> first = Share();
  ASSERT_TRUE(IsOk(first.status()));
  EXPECT_TRUE(absl::IsUnavailable(Open().OpenWriter().status()));
  EXPECT_TRUE(absl::IsUnavailable(Collection::Recover(path_).status()));
  ASSERT_TRUE(IsOk(first->Close()));
  EXPECT_TRUE(IsOk(Open().OpenWriter().status()));
}

TEST_F(CollectionSharingTest, TheLastWriterThatClosesLeavesCheckpoints) {
  absl::StatusOr<CollectionWriter> first = Share();
  absl::StatusOr<CollectionWriter> second = Share();
  ASSERT_TRUE(IsOk(Append(*first, "/a", 2)));
  ASSERT_TRUE(IsOk(Append(*second, "/b", 3)));
  ASSERT_TRUE(IsOk(first->Close()));
  EXPECT_TRUE(absl::IsFailedPrecondition(Append(*first, "/a", 9)));
  ASSERT_TRUE(IsOk(second->Close()));
  for (const char* const name : {"/a", "/b", "/g/c"}) {
    const absl::StatusOr<Frame> frame = Frame::Open(absl::StrCat(path_, name, ".b2nd"));
    ASSERT_TRUE(IsOk(frame.status()));
    EXPECT_EQ(frame->snapshot().info().journal_size, 0) << name;
  }
  EXPECT_EQ(Read("/a"), Column({1, 2}));
}

TEST_F(CollectionSharingTest, TheNumberOfCommitsThatAreKeptIsThatOfAll) {
  absl::StatusOr<CollectionWriter> first = Open().OpenWriter({.shared = true, .keep_commits = 5});
  ASSERT_TRUE(IsOk(first.status()));
  EXPECT_TRUE(
      absl::IsFailedPrecondition(Open().OpenWriter({.shared = true, .keep_commits = 6}).status()));
  absl::StatusOr<CollectionWriter> second = Share();
  ASSERT_TRUE(IsOk(second.status()));
  for (int32_t i = 0; i < 10; ++i) {
    CollectionWriter& writer = i % 2 == 0 ? *first : *second;
    ASSERT_TRUE(IsOk(Append(writer, "/a", i)));
    ASSERT_TRUE(IsOk(writer.Commit().status()));
    if (i != 7) continue;
    ASSERT_TRUE(IsOk(second->Remove("/g/c")));
  }
  Collection collection = Open();
  const absl::StatusOr<std::vector<CommitInfo>> history = collection.History();
  ASSERT_EQ(history->size(), 6);
  for (const CommitInfo& commit : *history) {
    const absl::StatusOr<CollectionSnapshot> state = collection.OpenCommit(commit.number);
    ASSERT_TRUE(IsOk(state.status()));
    EXPECT_TRUE(IsOk(state->ContentHash().status())) << commit.number;
  }
}

TEST_F(CollectionSharingTest, NewGroupsAndRemovedOnesDoNotDisturbOthers) {
  absl::StatusOr<CollectionWriter> first = Share();
  absl::StatusOr<CollectionWriter> second = Share();
  Add(*first, "/new/x", {1});
  Add(*second, "/new/y", {2});
  first->Rollback();
  ASSERT_TRUE(IsOk(second->Commit().status()));
  EXPECT_EQ(Read("/new/y"), Column({2}));
  ASSERT_TRUE(IsOk(first->Remove("/g/c")));
  Add(*second, "/g/d", {3});
  ASSERT_TRUE(IsOk(first->Commit().status()));
  ASSERT_TRUE(IsOk(second->Commit().status()));
  EXPECT_EQ(Read("/g/d"), Column({3}));
  EXPECT_EQ(Open().snapshot().Members(), std::vector<std::string>({"/a", "/b", "/g/d", "/new/y"}));
}

// A member is opened again for each commit, and its writer knows since when others can see it.
TEST_F(CollectionSharingTest, SpaceOfAMemberIsUsedAgainBesideReadersThatGoOn) {
  absl::StatusOr<CollectionWriter> writer =
      Open(std::make_shared<UnsyncedFileSystem>()).OpenWriter({.shared = true});
  Column values(4000);
  ASSERT_TRUE(IsOk(writer->Edit("/a")->ResizeArray(std::vector<int64_t>{4000})));
  ASSERT_TRUE(IsOk(writer->Commit().status()));
  Collection reader = Open();
  uint32_t random = 1;
  for (int commit = 0; commit < 450; ++commit) {
    for (int32_t& value : values)
      value = static_cast<int32_t>(random = random * 1664525 + 1013904223);
    ASSERT_TRUE(IsOk(writer->Edit("/a")->WriteItems(0, values)));
    ASSERT_TRUE(IsOk(writer->Commit().status()));
    if (commit % 20 != 0) continue;
    ASSERT_TRUE(IsOk(reader.Refresh().status()));
  }
  // Each commit writes 16,000 bytes.
  EXPECT_LT(std::filesystem::file_size(path_ + "/a.b2nd"), 6 << 20);
}

TEST_F(CollectionSharingTest, AWriterThatWaitsToBeAloneIsNotKeptAwayByNewOnes) {
  absl::StatusOr<CollectionWriter> first = Share();
  ASSERT_TRUE(IsOk(first.status()));
  std::atomic<bool> was_alone = false;
  std::thread waiter([&] {
    absl::StatusOr<CollectionWriter> alone = Open().OpenWriter({.wait = std::chrono::seconds(60)});
    EXPECT_TRUE(IsOk(alone.status()));
    was_alone = true;
  });
  while (!first->HasWaiters().value()) std::this_thread::yield();
  std::thread later([&] {
    EXPECT_TRUE(IsOk(Share(std::chrono::seconds(60)).status()));
    EXPECT_TRUE(was_alone) << "it came before the one that waited";
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  first = absl::CancelledError();
  waiter.join();
  later.join();
}

// A writer that fails, or is killed, in its turn: what it has committed stands, and the other one
// goes on.
TEST_F(CollectionSharingTest, TheDeathOfAWriterIsNoHarmToTheOthers) {
  int committed = 0;
  for (int64_t operations = 0; operations < 60; ++operations) {
    FaultFileSystem files;
    absl::StatusOr<CollectionWriter> other = Share();
    ASSERT_TRUE(IsOk(other.status()));
    const Column before = Read("/a");
    ASSERT_TRUE(IsOk(Append(*other, "/b", 7)));
    bool stands = false;
    {
      absl::StatusOr<CollectionWriter> dying =
          Open(std::shared_ptr<FileSystem>(std::shared_ptr<void>(), &files))
              .OpenWriter({.shared = true});
      ASSERT_TRUE(IsOk(dying.status()));
      files.Inject({.after = operations, .status = absl::UnknownError("dead"), .disk_gone = true});
      if (Append(*dying, "/a", 2).ok()) stands = dying->Commit().ok();
      files.Heal();  // of what a dead process would not do
      files.Inject({.after = 0, .status = absl::UnknownError("dead"), .disk_gone = true});
    }
    committed += stands ? 1 : 0;
    const absl::StatusOr<uint64_t> number = other->Commit();
    ASSERT_TRUE(IsOk(number.status())) << operations;
    const size_t more = Read("/a").size() - before.size();
    EXPECT_TRUE(stands ? more == 1 : more <= 1) << operations;
    ASSERT_TRUE(IsOk(Append(*other, "/a", 3))) << operations;
    ASSERT_TRUE(IsOk(other->Commit().status()));
    EXPECT_EQ(Read("/a").size(), before.size() + more + 1);
  }
  EXPECT_GT(committed, 0);
}

}  // namespace
}  // namespace cairn::test
