// Commits of more members than the process may open files.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <vector>

#include "absl/strings/str_format.h"
#include <gtest/gtest.h>

#include "cairn/collection.h"
#include "engine/storage/descriptor_room.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

constexpr int kManyMembers = 600;

// Lowers the number of files that the process may open.
class FileLimit {
 public:
  explicit FileLimit(rlim_t files) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const struct rlimit lower = {.rlim_cur = files, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &lower);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;
  ~FileLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  struct rlimit before_ = {};
};

// Less room than this for files is too little for one more member.
constexpr int64_t kLeastRoom = 32;

// Files of the program itself. They leave less room than `room`.
class OpenedFiles {
 public:
  explicit OpenedFiles(int64_t room) {
    while (storage::FindDescriptorRoom(room).left >= room) files_.emplace_back("/dev/null");
  }

 private:
  std::vector<std::ifstream> files_;
};

class CollectionDescriptorsTest : public testing::Test {
 protected:
  static std::string NameOf(int member) { return absl::StrFormat("/g/m%04d", member); }
  static absl::Status Append(absl::StatusOr<MemberWriter> member, int32_t value) {
    if (!member.ok()) return member.status();
    return member->Append(std::vector<int32_t>{value});
  }
  static absl::Status Add(CollectionWriter& writer, int member, int32_t value) {
    return Append(writer.Add(NameOf(member), {.compression = {.typesize = 4}}), value);
  }
  static absl::Status Edit(CollectionWriter& writer, int member, int32_t value) {
    return Append(writer.Edit(NameOf(member)), value);
  }
  static int64_t OpenFiles() {
    return std::ranges::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                                 std::filesystem::directory_iterator());
  }
  // Returns a writer of a collection whose members 0 to `count` - 1 each hold one number.
  CollectionWriter Fill(int count) {
    Collection made = Collection::Create(path_).value();
    CollectionWriter writer = made.OpenWriter().value();
    for (int member = 0; member < count; ++member) {
      EXPECT_TRUE(IsOk(Add(writer, member, member)));
      if (member % 20 == 19) {
        EXPECT_TRUE(IsOk(writer.Commit()));
      }
    }
    EXPECT_TRUE(IsOk(writer.Commit()));
    return writer;
  }
  // Returns the last number of each member, in the order of names.
  std::vector<int32_t> LastValues() const {
    const CollectionSnapshot snapshot = Collection::Open(path_).value().snapshot();
    std::vector<int32_t> last;
    for (const std::string& name : snapshot.Members("/")) {
      const absl::StatusOr<Snapshot> member = snapshot.OpenMember(name);
      EXPECT_TRUE(IsOk(member));
      if (!member.ok()) return last;
      std::vector<int32_t> values(static_cast<size_t>(member->info().nitems));
      EXPECT_TRUE(IsOk(member->ReadItems(0, values)));
      last.push_back(values.empty() ? -1 : values.back());
    }
    return last;
  }

  TempDir dir_;
  const std::string path_ = dir_.Path("c.b2d");
};

TEST_F(CollectionDescriptorsTest, EditedMemberTakesThreeFiles) {
  CollectionWriter writer = Fill(20);
  ASSERT_TRUE(IsOk(writer.Close()));
  CollectionWriter again = Collection::Open(path_)->OpenWriter().value();
  const int64_t before = OpenFiles();
  for (int member = 0; member < 20; ++member) ASSERT_TRUE(IsOk(Edit(again, member, 1)));
  EXPECT_EQ(OpenFiles() - before, int64_t{3} * 20);
}

TEST_F(CollectionDescriptorsTest, NewMemberTakesTwoFiles) {
  CollectionWriter writer = Fill(1);
  const int64_t before = OpenFiles();
  for (int member = 1; member <= 20; ++member) ASSERT_TRUE(IsOk(Add(writer, member, 1)));
  EXPECT_EQ(OpenFiles() - before, int64_t{2} * 20);
}

TEST_F(CollectionDescriptorsTest, CloseInPiecesPushesNoCommitOut) {
  const FileLimit limit(256);
  constexpr int kMembers = 60;
  ASSERT_TRUE(IsOk(Fill(kMembers).Close()));
  Collection collection = Collection::Open(path_).value();
  CollectionWriter writer = collection.OpenWriter({.keep_commits = 2}).value();
  for (int32_t round = 0; round < 3; ++round) {
    for (int member = 0; member < kMembers; ++member) {
      ASSERT_TRUE(IsOk(Edit(writer, member, round)));
    }
    ASSERT_TRUE(IsOk(writer.Commit()));
  }
  const std::vector<CommitInfo> before = collection.History().value();
  ASSERT_EQ(before.size(), 3);
  ASSERT_TRUE(IsOk(writer.Close()));
  std::vector<CommitInfo> after = collection.History().value();
  EXPECT_GT(after.back().number, before.back().number + 1) << "Close took no pieces";
  EXPECT_EQ(after.back(), (CommitInfo{.number = after.back().number}));
  after.pop_back();
  EXPECT_EQ(after, before);
}

TEST_F(CollectionDescriptorsTest, EditsPastTheLimitAreRefusedAndTheOthersCommitted) {
  CollectionWriter writer = Fill(kManyMembers);
  const FileLimit limit(256);
  int edited = 0;
  absl::Status status;
  while (edited < kManyMembers && (status = Edit(writer, edited, -2)).ok()) ++edited;
  EXPECT_GT(edited, 50);
  EXPECT_TRUE(Fails(status, absl::StatusCode::kResourceExhausted,
                    absl::StrFormat("too many open files: %d members", edited)));
  EXPECT_TRUE(Fails(status, absl::StatusCode::kResourceExhausted,
                    "may open 256 files; commit these members first, or raise the limit (ulimit"));
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(std::ranges::count(LastValues(), -2), edited);
}

TEST_F(CollectionDescriptorsTest, NewMembersPastTheLimitAreRefusedAndTheOthersCommitted) {
  CollectionWriter writer = Fill(1);
  const FileLimit limit(256);
  int added = 0;
  absl::Status status;
  while (added < kManyMembers && (status = Add(writer, added + 1, -2)).ok()) ++added;
  EXPECT_GT(added, 70);
  EXPECT_TRUE(Fails(status, absl::StatusCode::kResourceExhausted, "too many open files"));
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(std::ranges::count(LastValues(), -2), added);
}

TEST_F(CollectionDescriptorsTest, CopiesPastTheLimitAreRefusedAndTheOthersCommitted) {
  CollectionWriter writer = Fill(1);
  const FileLimit limit(256);
  int copied = 0;
  absl::Status status;
  const auto name_of = [](int copy) { return absl::StrFormat("/g/x%04d", copy); };
  while (copied < kManyMembers && (status = writer.Copy(NameOf(0), name_of(copied))).ok()) ++copied;
  EXPECT_GT(copied, 70);
  EXPECT_TRUE(Fails(status, absl::StatusCode::kResourceExhausted, "too many open files"));
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(LastValues(), std::vector<int32_t>(static_cast<size_t>(copied) + 1, 0));
}

TEST_F(CollectionDescriptorsTest, IdleMembersAreClosedForACopy) {
  CollectionWriter writer = Fill(100);
  for (int member = 50; member < 80; ++member) ASSERT_TRUE(IsOk(Edit(writer, member, -2)));
  ASSERT_TRUE(IsOk(writer.Commit()));  // which leaves these open
  const FileLimit limit(160);
  const OpenedFiles others(kLeastRoom);
  ASSERT_TRUE(IsOk(writer.Copy(NameOf(0), "/copy")));
  ASSERT_TRUE(IsOk(writer.Move(NameOf(1), "/moved")));
  ASSERT_TRUE(IsOk(writer.Compact(NameOf(2))));
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(LastValues().size(), 101U);
}

TEST_F(CollectionDescriptorsTest, IdleMembersAreClosedForTheCheckpointsOfOthers) {
  CollectionWriter writer = Fill(100);
  const FileLimit limit(1000);
  for (int member = 0; member < 100; ++member) ASSERT_TRUE(IsOk(Edit(writer, member, -2)));
  ASSERT_TRUE(IsOk(writer.Commit()));
  const OpenedFiles others(kLeastRoom);
  ASSERT_TRUE(IsOk(writer.Close()));
  EXPECT_EQ(LastValues(), std::vector<int32_t>(100, -2));
}

TEST_F(CollectionDescriptorsTest, TransactionAtTheLimitIsRolledBack) {
  CollectionWriter writer = Fill(kManyMembers);
  const FileLimit limit(256);
  int member = 0;
  while (member < kManyMembers && Edit(writer, member, -2).ok()) ++member;
  writer.Rollback();
  EXPECT_EQ(std::ranges::count(LastValues(), -2), 0);
  // Members that are not edited any more are closed for others.
  ASSERT_TRUE(IsOk(Edit(writer, kManyMembers - 1, -2)));
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(LastValues().back(), -2);
}

TEST_F(CollectionDescriptorsTest, AllMembersAreEditedInCommitsThatFit) {
  CollectionWriter writer = Fill(kManyMembers);
  const FileLimit limit(256);
  for (int member = 0; member < kManyMembers; ++member) {
    ASSERT_TRUE(IsOk(Edit(writer, member, -2)));
    if (member % 50 == 49) {
      ASSERT_TRUE(IsOk(writer.Commit()));
    }
  }
  ASSERT_TRUE(IsOk(writer.Close()));
  EXPECT_EQ(LastValues(), std::vector<int32_t>(kManyMembers, -2));
}

TEST_F(CollectionDescriptorsTest, CommitOfManyIsCompletedByAWriterThatMayOpenFew) {
  {
    CollectionWriter writer = Fill(200);
    for (int member = 0; member < 200; ++member) ASSERT_TRUE(IsOk(Edit(writer, member, -2)));
    ASSERT_TRUE(IsOk(writer.Commit()));
    // The destructor writes no checkpoint, so the ledger has copies of all that was edited.
  }
  const FileLimit limit(128);
  absl::StatusOr<CollectionWriter> next = Collection::Open(path_)->OpenWriter();
  ASSERT_TRUE(IsOk(next));
  ASSERT_TRUE(IsOk(next->Close()));
  EXPECT_EQ(LastValues(), std::vector<int32_t>(200, -2));
}

// The checkpoint of a member without items is a copy, for which other members may have to close.
TEST_F(CollectionDescriptorsTest, CloseCopiesAttributesWhereFewFilesMayBeOpened) {
  constexpr int kMembers = 8;
  const std::vector<std::byte> text(10);
  for (int64_t room = kLeastRoom + 1; room < kLeastRoom + 30; ++room) {
    SCOPED_TRACE(room);
    std::filesystem::remove_all(path_);
    {
      CollectionWriter writer = Fill(kMembers);
      for (int commit = 0; commit < 2; ++commit) {
        for (int member = 0; member < kMembers; ++member) {
          ASSERT_TRUE(IsOk(Edit(writer, member, commit)));
        }
        for (const char* group : {"/g/m0003x", "/z"}) {
          ASSERT_TRUE(IsOk(writer.EditAttributes(group)->SetVlmetalayer("text", text)));
        }
        ASSERT_TRUE(IsOk(writer.Commit()));
      }
    }
    // This writer has no member open.
    CollectionWriter writer = Collection::Open(path_)->OpenWriter().value();
    const FileLimit limit(static_cast<rlim_t>(OpenFiles() + 100));
    const OpenedFiles own(room);
    ASSERT_TRUE(IsOk(writer.Close()));
  }
}

}  // namespace
}  // namespace cairn::test
