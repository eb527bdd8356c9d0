// Directories of the operating system, from outside and opened.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/file_system.h"
#include "engine/base/bytes.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::storage {
namespace {

using absl::StatusCode;

class PosixDirectoryTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(IsOk(files_->MakeDirectory(path_)));
    inside_ = *files_->OpenDirectory(path_);
  }

  std::string Shown(std::string_view name) const { return path_ + "/" + std::string(name); }
  static void Create(FileSystem& files, const std::string& path, std::string_view text) {
    const auto file = files.Open(path, FileMode::kCreateNew);
    ASSERT_TRUE(IsOk(file));
    ASSERT_TRUE((*file)->WriteAt(0, AsBytes(text)).ok());
  }
  static std::string Content(FileSystem& files, const std::string& path) {
    const auto file = files.Open(path, FileMode::kRead);
    if (!file.ok()) return std::string(file.status().message());
    return std::string(AsText((*(*file)->Map(0, *(*file)->Size(), 0))->bytes()));
  }
  static std::vector<std::string> Names(FileSystem& files, const std::string& path) {
    const auto names = files.List(path);
    EXPECT_TRUE(IsOk(names));
    std::vector<std::string> sorted = *names;
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  }
  void MakeLink(const std::string& target, std::string_view name) const {
    ASSERT_EQ(::symlink(target.c_str(), Shown(name).c_str()), 0);
  }
  mode_t Mode(const std::string& path) const {
    struct stat info = {};
    EXPECT_EQ(::lstat(path.c_str(), &info), 0);
    return info.st_mode & 07777;
  }

  const std::shared_ptr<FileSystem> files_ = PosixFileSystem();
  const test::TempDir dir_;
  const std::string path_ = dir_.Path("d");
  std::shared_ptr<FileSystem> inside_;
};

TEST_F(PosixDirectoryTest, MakesOnlyWhatIsNotThere) {
  EXPECT_TRUE(Fails(files_->MakeDirectory(path_), StatusCode::kAlreadyExists, path_));
  EXPECT_TRUE(Fails(files_->MakeDirectory(dir_.Path("none/d")), StatusCode::kNotFound, "none/d"));
}

TEST_F(PosixDirectoryTest, RemovesOnlyAnEmptyDirectory) {
  Create(*files_, Shown("file"), "");
  EXPECT_TRUE(Fails(files_->RemoveDirectory(path_), StatusCode::kFailedPrecondition, path_));
  EXPECT_TRUE(
      Fails(files_->RemoveDirectory(Shown("file")), StatusCode::kFailedPrecondition, "d/file"));
  ASSERT_TRUE(IsOk(files_->Remove(Shown("file"))));
  EXPECT_TRUE(IsOk(files_->RemoveDirectory(path_)));
  EXPECT_TRUE(Fails(files_->RemoveDirectory(path_), StatusCode::kNotFound, path_));
}

TEST_F(PosixDirectoryTest, ListsTheNames) {
  EXPECT_EQ(Names(*files_, path_), std::vector<std::string>());
  Create(*files_, Shown("b"), "");
  Create(*files_, Shown(".hidden"), "");
  ASSERT_TRUE(IsOk(files_->MakeDirectory(Shown("a"))));
  MakeLink("nowhere", "c");
  EXPECT_EQ(Names(*files_, path_), (std::vector<std::string>{".hidden", "a", "b", "c"}));
  EXPECT_TRUE(Fails(files_->List(dir_.Path("none")), StatusCode::kNotFound, "none"));
  EXPECT_TRUE(Fails(files_->List(Shown("b")), StatusCode::kFailedPrecondition, "d/b"));
}

TEST_F(PosixDirectoryTest, OpenedOneListsItselfAgainAndAgain) {
  Create(*inside_, "a", "");
  EXPECT_EQ(Names(*inside_, "."), (std::vector<std::string>{"a"}));
  Create(*inside_, "b", "");
  EXPECT_EQ(Names(*inside_, "."), (std::vector<std::string>{"a", "b"}));
}

TEST_F(PosixDirectoryTest, ListsSomeOfTheNames) {
  for (const std::string name : {"a", "ab", "abc", "b"}) Create(*inside_, name, "");
  const auto some = [&](FileSystem& files, const std::string& path, int64_t most) {
    std::vector<std::string> names = files.ListSome(path, "ab", most).value();
    std::sort(names.begin(), names.end());
    return names;
  };
  EXPECT_EQ(some(*files_, path_, 100), (std::vector<std::string>{"ab", "abc"}));
  EXPECT_EQ(some(*inside_, ".", 100), (std::vector<std::string>{"ab", "abc"}));
  EXPECT_LE(some(*inside_, ".", 1).size(), 1u);
  EXPECT_EQ(some(*inside_, ".", 0).size(), 0u);
  EXPECT_TRUE(Fails(files_->ListSome(dir_.Path("none"), "", 9), StatusCode::kNotFound, "none"));
}

TEST_F(PosixDirectoryTest, OpensDirectoriesOnly) {
  Create(*files_, dir_.Path("file"), "");
  EXPECT_TRUE(Fails(files_->OpenDirectory(dir_.Path("none")), StatusCode::kNotFound, "none"));
  EXPECT_TRUE(
      Fails(files_->OpenDirectory(dir_.Path("file")), StatusCode::kFailedPrecondition, "file"));
}

TEST_F(PosixDirectoryTest, LinkToADirectoryIsFollowedFromOutside) {
  MakeLink(path_, "link");
  Create(*inside_, "a", "abc");
  EXPECT_EQ(Content(**files_->OpenDirectory(Shown("link")), "a"), "abc");
}

TEST_F(PosixDirectoryTest, FilesInsideAreThoseOfThePath) {
  Create(*inside_, "a", "abc");
  EXPECT_EQ(Content(*files_, Shown("a")), "abc");
  EXPECT_EQ(*inside_->Identity("a"), *files_->Identity(Shown("a")));
  EXPECT_EQ(inside_->Resolve("a"), "a");
  ASSERT_TRUE(IsOk(inside_->Remove("a")));
  EXPECT_TRUE(Fails(inside_->Identity("a"), StatusCode::kNotFound, Shown("a") + ": cannot"));
}

TEST_F(PosixDirectoryTest, MessagesNameDirectoryAndFile) {
  const absl::Status none = inside_->Open("none", FileMode::kRead).status();
  EXPECT_EQ(none.message(), Shown("none") + ": cannot open: No such file or directory");
  Create(*inside_, "a", "abc");
  EXPECT_TRUE(Fails((*inside_->Open("a", FileMode::kRead))->Map(0, 4, 0), StatusCode::kOutOfRange,
                    Shown("a") + ": "));
}

TEST_F(PosixDirectoryTest, StaysTheSameWhenItsPathLeadsElsewhere) {
  Create(*inside_, "a", "old");
  ASSERT_TRUE(IsOk(files_->Rename(path_, dir_.Path("moved"), false)));
  ASSERT_TRUE(IsOk(files_->MakeDirectory(path_)));
  EXPECT_EQ(Content(*inside_, "a"), "old");
  Create(*inside_, "b", "new");
  EXPECT_EQ(Names(*files_, dir_.Path("moved")), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(Names(*files_, path_), std::vector<std::string>());
}

TEST_F(PosixDirectoryTest, DirectoryInADirectoryWorksTheSameWay) {
  ASSERT_TRUE(IsOk(inside_->MakeDirectory("sub")));
  const auto sub = *inside_->OpenDirectory("sub");
  Create(*sub, "a", "abc");
  EXPECT_EQ(Content(*files_, Shown("sub/a")), "abc");
  EXPECT_EQ(Names(*inside_, "sub"), (std::vector<std::string>{"a"}));
  EXPECT_TRUE(Fails(sub->Open("b", FileMode::kRead), StatusCode::kNotFound, Shown("sub/b")));
  EXPECT_TRUE(Fails(inside_->RemoveDirectory("sub"), StatusCode::kFailedPrecondition, "d/sub"));
  ASSERT_TRUE(IsOk(sub->Remove("a")));
  EXPECT_TRUE(IsOk(inside_->RemoveDirectory("sub")));
}

TEST_F(PosixDirectoryTest, OnlyPlainNamesAreTaken) {
  Create(*files_, dir_.Path("outside"), "secret");
  Create(*inside_, "a", "");
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."), std::string("../outside"),
        dir_.Path("outside"), std::string("a/"), std::string("./a"), std::string("/"),
        std::string("a\0b", 3)}) {
    const std::vector<absl::Status> answers = {
        inside_->Open(name, FileMode::kRead).status(),
        inside_->Open(name, FileMode::kCreateNew).status(),
        inside_->Rename(name, "new", true),
        inside_->Rename("a", name, false),
        inside_->Remove(name),
        inside_->OpenDirectory(name).status(),
        inside_->MakeDirectory(name),
        inside_->RemoveDirectory(name),
        inside_->Exchange("a", name),
        inside_->Exchange(name, "a"),
        inside_->Identity(name).status(),
        name == "." ? absl::InvalidArgumentError(path_) : inside_->List(name).status(),
    };
    for (size_t i = 0; i < answers.size(); ++i) {
      EXPECT_TRUE(Fails(answers[i], StatusCode::kInvalidArgument, path_)) << name << " " << i;
    }
  }
  EXPECT_EQ(Names(*inside_, "."), (std::vector<std::string>{"a"}));
}

TEST_F(PosixDirectoryTest, LinkIsDamageInsteadOfBeingFollowed) {
  Create(*files_, dir_.Path("file"), "secret");
  ASSERT_TRUE(IsOk(files_->MakeDirectory(dir_.Path("directory"))));
  Create(*inside_, "a", "");
  MakeLink("../file", "file_link");
  MakeLink("../directory", "directory_link");
  MakeLink("nowhere", "dangling_link");
  for (const std::string name : {"file_link", "directory_link", "dangling_link"}) {
    const std::string message = Shown(name) + " is a symbolic link";
    EXPECT_TRUE(IsDamage(inside_->Open(name, FileMode::kRead), message));
    EXPECT_TRUE(IsDamage(inside_->Open(name, FileMode::kReadWrite), message));
    EXPECT_TRUE(IsDamage(inside_->OpenDirectory(name), message));
    EXPECT_TRUE(IsDamage(inside_->List(name), message));
    EXPECT_TRUE(IsDamage(inside_->RemoveDirectory(name), message));
    EXPECT_TRUE(IsDamage(inside_->Identity(name), message));
    EXPECT_TRUE(IsDamage(inside_->Rename("a", name, true), message));
    EXPECT_TRUE(Fails(inside_->Open(name, FileMode::kCreateNew), StatusCode::kAlreadyExists, name));
    EXPECT_TRUE(Fails(inside_->MakeDirectory(name), StatusCode::kAlreadyExists, name));
    EXPECT_TRUE(IsOk(inside_->Remove(name)));  // the link, not what it leads to
  }
  EXPECT_EQ(Content(*files_, dir_.Path("file")), "secret");
  EXPECT_TRUE(std::filesystem::is_directory(dir_.Path("directory")));
}

TEST_F(PosixDirectoryTest, DirectoriesAndPipesAreNoFiles) {
  ASSERT_TRUE(IsOk(inside_->MakeDirectory("sub")));
  EXPECT_TRUE(Fails(inside_->Open("sub", FileMode::kRead), StatusCode::kFailedPrecondition,
                    Shown("sub") + ": expected a file, got a directory of user "));
  ASSERT_EQ(::mkfifo(Shown("pipe").c_str(), 0600), 0);
  EXPECT_TRUE(Fails(inside_->Open("pipe", FileMode::kRead), StatusCode::kFailedPrecondition,
                    Shown("pipe") + ": expected a file, got a FIFO of user "));
}

TEST_F(PosixDirectoryTest, RenameReplacesOnlyWhenToldAndKeepsThePermissions) {
  Create(*inside_, "new", "new");
  Create(*inside_, "old", "old");
  ASSERT_EQ(::chmod(Shown("new").c_str(), 0644), 0);
  ASSERT_EQ(::chmod(Shown("old").c_str(), 0600), 0);
  EXPECT_TRUE(
      Fails(inside_->Rename("new", "old", false), StatusCode::kAlreadyExists, Shown("old")));
  ASSERT_TRUE(IsOk(inside_->Rename("new", "old", true)));
  EXPECT_EQ(Content(*files_, Shown("old")), "new");
  EXPECT_EQ(Mode(Shown("old")), 0600);
  ASSERT_TRUE(IsOk(inside_->Rename("old", "free", false)));
  EXPECT_EQ(Names(*inside_, "."), (std::vector<std::string>{"free"}));
  EXPECT_TRUE(Fails(inside_->Rename("old", "free", true), StatusCode::kNotFound, Shown("old")));
}

TEST_F(PosixDirectoryTest, RefusedRenameOverADirectoryLeavesThePermissions) {
  Create(*files_, dir_.Path("file"), "");
  const mode_t before = Mode(dir_.Path("file"));
  EXPECT_TRUE(Fails(files_->Rename(dir_.Path("file"), path_, true), StatusCode::kFailedPrecondition,
                    "file"));
  EXPECT_EQ(Mode(dir_.Path("file")), before);
}

TEST_F(PosixDirectoryTest, ExchangeSwapsAFileWithADirectory) {
  Create(*inside_, "a", "in the directory");
  Create(*files_, dir_.Path("file"), "the file");
  const FileIdentity file = *files_->Identity(dir_.Path("file"));
  const FileIdentity directory = *files_->Identity(path_);
  const absl::Status status = files_->Exchange(dir_.Path("file"), path_);
  if (absl::IsUnimplemented(status)) GTEST_SKIP() << status;
  ASSERT_TRUE(IsOk(status));
  EXPECT_EQ(*files_->Identity(path_), file);
  EXPECT_EQ(*files_->Identity(dir_.Path("file")), directory);
  EXPECT_EQ(Content(*files_, path_), "the file");
  EXPECT_EQ(Content(*inside_, "a"), "in the directory");
}

TEST_F(PosixDirectoryTest, ExchangeInsideSwapsNames) {
  Create(*inside_, "a", "first");
  Create(*inside_, "b", "second");
  const absl::Status status = inside_->Exchange("a", "b");
  if (absl::IsUnimplemented(status)) GTEST_SKIP() << status;
  ASSERT_TRUE(IsOk(status));
  EXPECT_EQ(Content(*inside_, "a"), "second");
  EXPECT_EQ(Content(*inside_, "b"), "first");
}

TEST_F(PosixDirectoryTest, ExchangeNeedsBoth) {
  Create(*inside_, "a", "abc");
  const absl::Status status = inside_->Exchange("a", "b");
  if (absl::IsUnimplemented(status)) GTEST_SKIP() << status;
  EXPECT_TRUE(Fails(status, StatusCode::kNotFound, Shown("a")));
  EXPECT_TRUE(Fails(status, StatusCode::kNotFound, Shown("b")));
  EXPECT_EQ(Content(*inside_, "a"), "abc");
}

TEST_F(PosixDirectoryTest, SyncsItselfForAnyName) {
  EXPECT_TRUE(IsOk(inside_->SyncDirectoryOf("a")));
  EXPECT_TRUE(IsOk(inside_->SyncDirectoryOf(".")));
  ASSERT_TRUE(IsOk(files_->RemoveDirectory(path_)));
  EXPECT_TRUE(IsOk(inside_->SyncDirectoryOf("a")));
}

// A file system of a program that knows of no directories.
class FlatFiles final : public FileSystem {
 public:
  absl::StatusOr<std::unique_ptr<File>> Open(const std::string&, FileMode) override {
    return absl::NotFoundError("");
  }
  absl::Status Rename(const std::string&, const std::string&, bool) override {
    return absl::OkStatus();
  }
  absl::Status Remove(const std::string&) override { return absl::OkStatus(); }
  absl::Status SyncDirectoryOf(const std::string&) override { return absl::OkStatus(); }
  absl::StatusOr<FileIdentity> Identity(const std::string&) override {
    return absl::NotFoundError("");
  }
};

TEST(FileSystemTest, WithoutDirectoriesSaysSo) {
  FlatFiles files;
  EXPECT_TRUE(Fails(files.OpenDirectory("a"), StatusCode::kUnimplemented, "a: "));
  EXPECT_TRUE(Fails(files.MakeDirectory("a"), StatusCode::kUnimplemented, "a: "));
  EXPECT_TRUE(Fails(files.MakeDirectoryFor("a", "b"), StatusCode::kUnimplemented, "a: "));
  EXPECT_TRUE(Fails(files.ListSome("a", "", 9), StatusCode::kUnimplemented, "a: "));
  EXPECT_TRUE(Fails(files.RemoveDirectory("a"), StatusCode::kUnimplemented, "a: "));
  EXPECT_TRUE(Fails(files.List("a"), StatusCode::kUnimplemented, "a: "));
  EXPECT_TRUE(Fails(files.Exchange("a", "b"), StatusCode::kUnimplemented, "a: "));
}

}  // namespace
}  // namespace cairn::storage
