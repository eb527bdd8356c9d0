#include "engine/storage/posix/file_system.h"

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "cairn/file_system.h"
#include "engine/base/bytes.h"
#include "engine/base/hash.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::storage {
namespace {

class PosixFileSystemTest : public testing::Test {
 protected:
  std::string Create(std::string_view name, std::string_view text) const {
    const std::string path = dir_.Path(name);
    const auto file = files_->Open(path, FileMode::kCreateNew);
    EXPECT_TRUE(IsOk(file));
    EXPECT_TRUE((*file)->WriteAt(0, AsBytes(text)).ok());
    return path;
  }
  std::string Content(const std::string& path) const {
    const auto file = *files_->Open(path, FileMode::kRead);
    return std::string(AsText((*file->Map(0, *file->Size(), 0))->bytes()));
  }
  absl::StatusCode OpenCode(const std::string& path, FileMode mode) const {
    return files_->Open(path, mode).status().code();
  }

  const std::shared_ptr<FileSystem> files_ = PosixFileSystem();
  const test::TempDir dir_;
};

TEST_F(PosixFileSystemTest, CreatesOnlyWhatIsNotThere) {
  const std::string path = Create("a", "abc");
  const absl::Status status = files_->Open(path, FileMode::kCreateNew).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(absl::StrContains(status.message(), path)) << status;
  EXPECT_EQ(Content(path), "abc");
}

// Closes them, and opens them again at its end.
class ClosedStreams {
 public:
  ClosedStreams() {
    for (int stream = 0; stream < 3; ++stream) {
      kept_[stream] = ::fcntl(stream, F_DUPFD_CLOEXEC, 3);
      ::close(stream);
    }
  }
  ClosedStreams(const ClosedStreams&) = delete;
  ClosedStreams& operator=(const ClosedStreams&) = delete;
  ~ClosedStreams() {
    for (int stream = 0; stream < 3; ++stream) {
      if (kept_[stream] < 0) continue;
      ::dup2(kept_[stream], stream);
      ::close(kept_[stream]);
    }
  }

 private:
  int kept_[3];
};

TEST_F(PosixFileSystemTest, NoFileGetsTheNumberOfAClosedStream) {
  const std::string path = Create("a", "abc");
  int written = 0;
  int got = 0;
  {
    const ClosedStreams closed;
    const auto made = files_->Open(dir_.Path("new"), FileMode::kCreateNew);
    const auto file = files_->Open(path, FileMode::kReadWrite);
    const auto read = files_->Open(path, FileMode::kRead);
    const auto names = files_->List(dir_.path());
    for (int stream = 0; stream < 3; ++stream) {
      written += ::write(stream, "x", 1) >= 0 ? 1 : 0;
      char byte;
      got += ::read(stream, &byte, 1) >= 0 ? 1 : 0;
    }
  }
  EXPECT_EQ(written, 0);
  EXPECT_EQ(got, 0);
  EXPECT_EQ(Content(path), "abc");
  EXPECT_EQ(Content(dir_.Path("new")), "");
}

TEST_F(PosixFileSystemTest, DanglingSymlinkIsThereAlready) {
  ASSERT_EQ(::symlink("nowhere", dir_.Path("link").c_str()), 0);
  EXPECT_EQ(OpenCode(dir_.Path("link"), FileMode::kCreateNew), absl::StatusCode::kAlreadyExists);
}

TEST_F(PosixFileSystemTest, OpensOnlyWhatIsThere) {
  const std::string path = dir_.Path("a");
  for (const FileMode mode : {FileMode::kRead, FileMode::kReadWrite}) {
    const absl::Status status = files_->Open(path, mode).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
    EXPECT_EQ(status.message(), path + ": cannot open: No such file or directory");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

// The operating system would open what the name before it leads to.
TEST_F(PosixFileSystemTest, PathWithAZeroByteLeadsNowhere) {
  for (const std::string& path : {std::string("a\0b", 3), dir_.Path("a") + '\0'}) {
    const absl::Status status = files_->Absolute(path).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_TRUE(absl::StrContains(status.message(), "a\\000"));
  }
}

TEST_F(PosixFileSystemTest, DirectoryIsNotAFile) {
  const absl::Status status = files_->Open(dir_.path(), FileMode::kRead).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(
      absl::StartsWith(status.message(), dir_.path() + ": expected a file, got a directory of "))
      << status;
  EXPECT_EQ(OpenCode(dir_.path(), FileMode::kReadWrite), absl::StatusCode::kFailedPrecondition);
}

TEST_F(PosixFileSystemTest, FileIsNotADirectory) {
  const std::string path = Create("a", "");
  EXPECT_EQ(OpenCode(path + "/b", FileMode::kRead), absl::StatusCode::kFailedPrecondition);
}

TEST_F(PosixFileSystemTest, PipeIsRefusedWithoutWaiting) {
  const std::string path = dir_.Path("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(OpenCode(path, FileMode::kRead), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(OpenCode(path, FileMode::kReadWrite), absl::StatusCode::kFailedPrecondition);
}

// In a shared folder anybody can put anything at a name.
TEST_F(PosixFileSystemTest, WhatCannotBeOpenedIsNamedWithItsOwner) {
  const std::string path = dir_.Path("p");
  const std::string whose = absl::StrCat("uid ", ::geteuid(), "), mode ");
  const auto expect = [&](const std::string& message) {
    for (const FileMode mode : {FileMode::kRead, FileMode::kReadWrite}) {
      const absl::Status status = files_->Open(path, mode).status();
      EXPECT_TRUE(absl::StrContains(status.message(), message)) << status;
      EXPECT_TRUE(absl::StrContains(status.message(), whose)) << status;
    }
    EXPECT_EQ(::remove(path.c_str()), 0);
  };
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  expect(": expected a file, got a FIFO of user ");
  ASSERT_EQ(::mknod(path.c_str(), S_IFSOCK | 0600, 0), 0);
  expect(": cannot open: No such device or address; it is a socket of user ");
  std::filesystem::create_symlink("p", path);
  expect(": Too many levels of symbolic links; it is a symbolic link of user ");
  std::filesystem::create_symlink("none", path);
  expect(": No such file or directory; it is a symbolic link of user ");
}

TEST_F(PosixFileSystemTest, DeviceIsNotAFile) {
  EXPECT_TRUE(absl::StrContains(files_->Open("/dev/null", FileMode::kRead).status().message(),
                                "expected a file, got a device of user root (uid 0), mode 0"));
}

TEST_F(PosixFileSystemTest, RemovedFileIsNotFoundButStaysOpen) {
  const std::string path = Create("a", "abc");
  const auto file = *files_->Open(path, FileMode::kRead);
  ASSERT_TRUE(IsOk(files_->Remove(path)));
  EXPECT_EQ(OpenCode(path, FileMode::kRead), absl::StatusCode::kNotFound);
  EXPECT_EQ(*file->Size(), 3);
  EXPECT_EQ(files_->Remove(path).code(), absl::StatusCode::kNotFound);
}

TEST_F(PosixFileSystemTest, RenameReplacesWhenTold) {
  const std::string from = Create("from", "new");
  const std::string to = Create("to", "old");
  ASSERT_TRUE(IsOk(files_->Rename(from, to, true)));
  EXPECT_EQ(Content(to), "new");
  EXPECT_EQ(OpenCode(from, FileMode::kRead), absl::StatusCode::kNotFound);
}

TEST_F(PosixFileSystemTest, RenameOfNothingIsNotFound) {
  for (const bool replace : {false, true}) {
    const absl::Status status = files_->Rename(dir_.Path("from"), dir_.Path("to"), replace);
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
    EXPECT_TRUE(absl::StrContains(status.message(), dir_.Path("from"))) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), dir_.Path("to"))) << status;
  }
}

// The system's own way, and ours for file systems that lack it.
class RenameWithoutReplacingTest
    : public PosixFileSystemTest,
      public testing::WithParamInterface<absl::Status (*)(const std::string&, const std::string&)> {
};

TEST_P(RenameWithoutReplacingTest, GivesAFreeName) {
  const std::string from = Create("from", "new");
  const std::string to = dir_.Path("to");
  ASSERT_TRUE(GetParam()(from, to).ok());
  EXPECT_EQ(Content(to), "new");
  EXPECT_EQ(OpenCode(from, FileMode::kRead), absl::StatusCode::kNotFound);
}

TEST_P(RenameWithoutReplacingTest, LeavesATakenNameAlone) {
  const std::string from = Create("from", "new");
  const std::string to = Create("to", "old");
  const absl::Status status = GetParam()(from, to);
  EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(absl::StrContains(status.message(), to)) << status;
  EXPECT_EQ(Content(from), "new");
  EXPECT_EQ(Content(to), "old");
}

TEST_P(RenameWithoutReplacingTest, IsNotFoundWithoutAFile) {
  EXPECT_EQ(GetParam()(dir_.Path("from"), dir_.Path("to")).code(), absl::StatusCode::kNotFound);
}

INSTANTIATE_TEST_SUITE_P(Storage, RenameWithoutReplacingTest,
                         testing::Values(
                             [](const std::string& from, const std::string& to) {
                               return PosixFileSystem()->Rename(from, to, false);
                             },
                             [](const std::string& from, const std::string& to) {
                               return MakePosixFileSystem(false)->Rename(from, to, false);
                             }),
                         [](const auto& info) {
                           return info.index == 0 ? "InOneStep" : "InTwoSteps";
                         });

TEST_F(PosixFileSystemTest, IdentityIsThatOfTheInode) {
  const std::string path = Create("a", "old");
  ASSERT_EQ(::link(path.c_str(), dir_.Path("b").c_str()), 0);
  const auto file = *files_->Open(path, FileMode::kRead);
  EXPECT_EQ(*file->Identity(), *files_->Identity(path));
  EXPECT_EQ(*file->Identity(), *files_->Identity(dir_.Path("b")));
}

TEST_F(PosixFileSystemTest, IdentityOfAPathChangesWhenItIsRenamedOver) {
  const std::string path = Create("a", "old");
  const auto file = *files_->Open(path, FileMode::kRead);
  ASSERT_TRUE(IsOk(files_->Rename(Create("b", "new"), path, true)));
  EXPECT_FALSE(*file->Identity() == *files_->Identity(path));
}

TEST_F(PosixFileSystemTest, IdentityOfNothingIsNotFound) {
  EXPECT_EQ(files_->Identity(dir_.Path("a")).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(PosixFileSystemTest, SyncsTheDirectoryThatHoldsThePath) {
  // The names themselves need not exist.
  EXPECT_TRUE(IsOk(files_->SyncDirectoryOf(dir_.Path("a"))));
  EXPECT_TRUE(IsOk(files_->SyncDirectoryOf(dir_.Path("a/"))));
  EXPECT_TRUE(IsOk(files_->SyncDirectoryOf("a")));
  EXPECT_TRUE(IsOk(files_->SyncDirectoryOf("/a")));
  const absl::Status status = files_->SyncDirectoryOf(dir_.Path("none/a"));
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(
      absl::StrContains(status.message(), dir_.Path("none") + ": cannot open the directory"))
      << status;
}

TEST_F(PosixFileSystemTest, BootIsTheHashOfTheKernelsBootId) {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  ASSERT_EQ(text.size(), 37u);
  EXPECT_EQ(files_->BootId(), Xxh3(AsBytes(text)));
}

}  // namespace
}  // namespace cairn::storage
