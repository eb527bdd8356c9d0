#include "tests/support/fault_file_system.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/match.h"
#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

using Kind = Operation::Kind;
class FaultFileSystemTest : public testing::Test {
 protected:
  // Every counted operation once, in the order of `kKinds`, with uncounted ones between; continues
  // after a failure. Says which failed.
  std::vector<bool> RunAll() {
    std::vector<bool> failed;
    const auto note = [&](const absl::Status& status) { failed.push_back(!status.ok()); };
    auto created = files_.Open(path_, FileMode::kCreateNew);
    note(created.status());
    if (!created.ok()) created = PosixFileSystem()->Open(path_, FileMode::kCreateNew);
    auto file = files_.Open(path_, FileMode::kReadWrite);
    EXPECT_TRUE(file.ok() && RunUncounted(**file));
    note((*file)->WriteAt(0, AsBytes("abcdef")));
    note((*file)->Truncate(3));
    note((*file)->Reserve(8192));
    note(WherePossible((*file)->Allocate(8192, 8192)));
    note(WherePossible((*file)->PunchHole(0, 4096)));
    note((*file)->Sync(SyncMode::kData));
    note(files_.Rename(path_, other_, true));
    if (failed.back()) PosixFileSystem()->Rename(path_, other_, true).IgnoreError();
    EXPECT_TRUE(IsOk(files_.Identity(other_)));
    note(files_.SyncDirectoryOf(other_));
    note(files_.Remove(other_));
    PosixFileSystem()->Remove(other_).IgnoreError();
    RunDirectories(note);
    return failed;
  }

  static bool RunUncounted(File& file) {
    std::vector<std::byte> sink(1);
    return file.Size().ok() && file.AllocatedSize().ok() && file.ReadSome(0, sink).ok() &&
           file.LockByte(0, LockMode::kExclusive).ok() && file.IsLocked(0, 1).ok() &&
           file.UnlockByte(0).ok() && file.LockWhole().ok();
  }

  // Only an injected failure counts: there may be no reserves and no holes here.
  static absl::Status WherePossible(const absl::Status& status) {
    return absl::IsUnimplemented(status) ? absl::OkStatus() : status;
  }

  void RunDirectories(absl::FunctionRef<void(const absl::Status&)> note) {
    FileSystem& real = *PosixFileSystem();
    const auto ensure = [&](const std::string& path) { real.MakeDirectory(path).IgnoreError(); };
    note(files_.MakeDirectory(path_));
    ensure(path_);
    const auto directory = *files_.OpenDirectory(path_);
    note(directory->MakeDirectory("a"));
    ensure(path_ + "/a");
    ensure(path_ + "/b");
    EXPECT_EQ(directory->List(".")->size(), 2);
    note(directory->Exchange("a", "b"));
    note(directory->SyncDirectoryOf("a"));
    note(directory->RemoveDirectory("a"));
    std::filesystem::remove_all(path_);
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("file");
  const std::string other_ = dir_.Path("other");
  FaultFileSystem files_;
  static constexpr int kCount = 15;
};

TEST_F(FaultFileSystemTest, CountsWhatChangesTheDisk) {
  EXPECT_EQ(RunAll(), std::vector<bool>(kCount, false));
  EXPECT_EQ(files_.operations(), kCount);
}

TEST_F(FaultFileSystemTest, FailsExactlyTheOneOperation) {
  for (int after = 0; after < kCount; ++after) {
    files_.Inject({.after = after});
    std::vector<bool> expected(kCount, false);
    expected[static_cast<size_t>(after)] = true;
    EXPECT_EQ(RunAll(), expected) << after;
  }
}

TEST_F(FaultFileSystemTest, GoneDiskFailsEverythingAfter) {
  for (int after = 0; after < kCount; ++after) {
    files_.Inject({.after = after, .disk_gone = true});
    std::vector<bool> expected(kCount, true);
    for (int i = 0; i < after; ++i) expected[static_cast<size_t>(i)] = false;
    EXPECT_EQ(RunAll(), expected) << after;
  }
  files_.Heal();
  EXPECT_EQ(RunAll(), std::vector<bool>(kCount, false));
}

TEST_F(FaultFileSystemTest, FailureHasTheGivenStatusAndThePath) {
  files_.Inject({.status = absl::InternalError("broken")});
  const absl::Status status = files_.Open(path_, FileMode::kCreateNew).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_TRUE(absl::StrContains(status.message(), path_)) << status;
  EXPECT_EQ(files_.Identity(path_).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(FaultFileSystemTest, FailedWriteWritesNothingOrItsFirstHalf) {
  const auto file = *files_.Open(path_, FileMode::kCreateNew);
  files_.Inject({});
  EXPECT_FALSE(file->WriteAt(0, AsBytes("abcdef")).ok());
  EXPECT_EQ(*file->Size(), 0);
  files_.Inject({.short_write = true, .disk_gone = true});
  EXPECT_FALSE(file->WriteAt(0, AsBytes("abcdef")).ok());
  EXPECT_FALSE(file->WriteAt(3, AsBytes("def")).ok());
  EXPECT_EQ(AsText((*file->Map(0, *file->Size(), 0))->bytes()), "abc");
}

TEST_F(FaultFileSystemTest, LogShowsWhatReachedTheDisk) {
  files_.StartLog();
  const auto file = *files_.Open(path_, FileMode::kCreateNew);
  ASSERT_TRUE(IsOk(file->WriteAt(10, AsBytes("abcd"))));
  files_.Inject({.short_write = true});
  ASSERT_FALSE(file->WriteAt(14, AsBytes("efgh")).ok());
  files_.Inject({});
  ASSERT_FALSE(file->Sync(SyncMode::kAll).ok());
  ASSERT_TRUE(IsOk(file->Sync(SyncMode::kData)));
  ASSERT_TRUE(IsOk(file->Truncate(12)));
  ASSERT_TRUE(IsOk(file->Reserve(9000)));
  ASSERT_TRUE(IsOk(files_.Rename(path_, other_, false)));

  const std::vector<Operation> log = files_.TakeLog();
  std::vector<Kind> kinds;
  for (const Operation& operation : log) kinds.push_back(operation.kind);
  ASSERT_EQ(kinds, (std::vector{Kind::kCreate, Kind::kWrite, Kind::kWrite, Kind::kSync,
                                Kind::kTruncate, Kind::kReserve, Kind::kRename}));
  for (int i = 0; i < 6; ++i) EXPECT_EQ(log[static_cast<size_t>(i)].file, *file->Identity());
  EXPECT_EQ(log[1].offset, 10);
  EXPECT_EQ(AsText(log[1].bytes), "abcd");
  EXPECT_EQ(log[2].offset, 14);
  EXPECT_EQ(AsText(log[2].bytes), "ef");
  EXPECT_EQ(log[3].sync_mode, SyncMode::kData);
  EXPECT_EQ(log[4].offset, 12);
  EXPECT_EQ(log[5].offset, 9000);
  EXPECT_EQ(log[6].path, path_);
  EXPECT_EQ(log[6].to, other_);
  EXPECT_TRUE(files_.TakeLog().empty());
}

TEST_F(FaultFileSystemTest, LogShowsWhereHolesAre) {
  const auto file = *files_.Open(path_, FileMode::kCreateNew);
  ASSERT_TRUE(IsOk(file->WriteAt(0, std::vector<std::byte>(8192))));
  files_.StartLog();
  const absl::Status status = file->PunchHole(4096, 1024);
  if (absl::IsUnimplemented(status)) GTEST_SKIP() << status;
  const std::vector<Operation> log = files_.TakeLog();
  ASSERT_EQ(log.size(), 1);
  EXPECT_EQ(log[0].kind, Kind::kPunchHole);
  EXPECT_EQ(log[0].offset, 4096);
  EXPECT_EQ(log[0].size, 1024);
}

TEST_F(FaultFileSystemTest, LogNamesDirectoryAndFile) {
  files_.StartLog();
  ASSERT_TRUE(IsOk(files_.MakeDirectory(path_)));
  const auto directory = *files_.OpenDirectory(path_);
  const auto file = *directory->Open("a", FileMode::kCreateNew);
  ASSERT_TRUE(IsOk(file->WriteAt(0, AsBytes("abc"))));
  ASSERT_TRUE(IsOk(directory->Rename("a", "b", false)));
  ASSERT_TRUE(IsOk(directory->MakeDirectory("sub")));
  const absl::Status exchanged = directory->Exchange("b", "sub");
  if (absl::IsUnimplemented(exchanged)) GTEST_SKIP() << exchanged;
  ASSERT_TRUE((*directory->OpenDirectory("b"))->Open("c", FileMode::kCreateNew).ok());

  std::vector<std::string> lines;
  for (const Operation& operation : files_.TakeLog()) {
    EXPECT_TRUE(operation.path.starts_with(path_)) << operation.path;
    std::string line = operation.path.substr(path_.size());
    if (!operation.to.empty()) line += " " + operation.to.substr(path_.size());
    lines.push_back(line);
  }
  EXPECT_EQ(lines, (std::vector<std::string>{"", "/a", "/a", "/a /b", "/sub", "/b /sub", "/b/c"}));
}

TEST_F(FaultFileSystemTest, FaultStrikesInAnOpenedDirectory) {
  ASSERT_TRUE(PosixFileSystem()->MakeDirectory(path_).ok());
  const auto directory = *files_.OpenDirectory(path_);
  const auto file = *directory->Open("a", FileMode::kCreateNew);
  files_.Inject({.short_write = true, .disk_gone = true});
  const absl::Status status = file->WriteAt(0, AsBytes("abcd"));
  EXPECT_TRUE(absl::StrContains(status.message(), path_ + "/a")) << status;
  EXPECT_EQ(*file->Size(), 2);
  EXPECT_FALSE(directory->Rename("a", "b", true).ok());
  EXPECT_TRUE(IsOk(directory->Identity("a")));
}

}  // namespace
}  // namespace cairn::test
