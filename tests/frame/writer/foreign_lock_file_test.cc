// Tests files that others can put at the name of the lock file. Such a file stops writers with an
// answer that tells whose it is, and is never written to unless it is a lock file.
#include <filesystem>
#include <functional>
#include <grp.h>
#include <ostream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/functional/function_ref.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "engine/format/sparse_names.h"
#include "tests/support/bytes.h"
#include "tests/support/child_process.h"
#include "tests/support/files.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

namespace fs = std::filesystem;

constexpr char kSecret[] = "somebody else's text";

struct Obstacle {
  std::string name;
  std::string kind;  // as the message calls it
  // Puts it at a path; `victim` is a file of somebody else.
  std::function<void(const std::string& path, const std::string& victim)> put;
};

void PrintTo(const Obstacle& obstacle, std::ostream* out) { *out << obstacle.name; }

class ForeignLockFileTest : public testing::TestWithParam<Obstacle> {
 protected:
  void SetUp() override { PutFileBytes(victim_, AsBytes(std::string_view(kSecret))); }

  void ExpectRefusals(Layout layout) {
    const std::string path = dir_.Path(layout == Layout::kSparse ? "s" : "f");
    CreateOptions options = PlainCopies(64);
    options.layout = layout;
    ASSERT_TRUE(IsOk(WriteFrame(path, options, MakeNoise(100, 1))));
    const std::string lock = layout == Layout::kSparse
                                 ? absl::StrFormat("%s/%s", path, format::kLockFileName)
                                 : path + ".b2lock";
    GetParam().put(lock, victim_);
    for (const bool make : {false, true}) {
      const absl::Status status = Frame::Open(path)->OpenWriter({.make_lock_file = make}).status();
      EXPECT_TRUE(Fails(status, absl::StatusCode::kFailedPrecondition, lock)) << make;
      EXPECT_TRUE(absl::StrContains(status.message(), absl::StrCat(GetParam().kind, " of user ")))
          << status;
      EXPECT_TRUE(absl::StrContains(status.message(), absl::StrCat("uid ", ::geteuid(), ")")))
          << status;
      EXPECT_TRUE(absl::StrContains(status.message(), "remove it")) << status;
    }
    EXPECT_EQ(FileBytes(victim_), ToVector(AsBytes(std::string_view(kSecret))));
    // Reading needs no lock, and neither does a writer once the name is free.
    EXPECT_TRUE(IsOk(Frame::Open(path)));
    fs::remove(lock);
    EXPECT_TRUE(IsOk(Frame::Open(path)->OpenWriter({.make_lock_file = true})));
  }

  const TempDir dir_;
  const std::string victim_ = dir_.Path("victim");
};

TEST_P(ForeignLockFileTest, WriterIsToldWhatItIsAndWhose) {
  ASSERT_NO_FATAL_FAILURE(ExpectRefusals(Layout::kContiguous));
}

TEST_P(ForeignLockFileTest, WriterOfASparseFrameIsToldTheSame) {
  ASSERT_NO_FATAL_FAILURE(ExpectRefusals(Layout::kSparse));
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, ForeignLockFileTest,
    testing::Values(Obstacle{"Fifo", "a FIFO",
                             [](const std::string& path, const std::string& /*victim*/) {
                               ASSERT_EQ(::mkfifo(path.c_str(), 0666), 0);
                             }},
                    Obstacle{"Directory", "a directory",
                             [](const std::string& path, const std::string& /*victim*/) {
                               ASSERT_EQ(::mkdir(path.c_str(), 0777), 0);
                             }},
                    Obstacle{"Socket", "a socket",
                             [](const std::string& path, const std::string& /*victim*/) {
                               ASSERT_EQ(::mknod(path.c_str(), S_IFSOCK | 0666, 0), 0);
                             }},
                    Obstacle{"LinkThatLeadsToItself", "a symbolic link",
                             [](const std::string& path, const std::string& /*victim*/) {
                               fs::create_symlink(fs::path(path).filename(), path);
                             }},
                    Obstacle{"SecondNameOfAFile", "a file",
                             [](const std::string& path, const std::string& victim) {
                               fs::create_hard_link(victim, path);
                             }},
                    Obstacle{"LargeFile", "a file",
                             [](const std::string& path, const std::string& /*victim*/) {
                               PutFileBytes(path, MakeNoise(5000, 1));
                             }}),
    [](const auto& info) { return info.param.name; });

class LockFileLinkTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(IsOk(WriteFrame(path_, PlainCopies(64), MakeNoise(100, 1))));
  }
  absl::Status Write(bool make) const {
    return Frame::Open(path_)->OpenWriter({.make_lock_file = make}).status();
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
  const std::string lock_ = path_ + ".b2lock";
};

// No program of the protocol can hold what is not there.
TEST_F(LockFileLinkTest, ThatLeadsNowhereStopsOnlyWhoIsToMakeTheFile) {
  fs::create_symlink(dir_.Path("none"), lock_);
  EXPECT_TRUE(IsOk(Write(false)));
  EXPECT_TRUE(Fails(Write(true), absl::StatusCode::kFailedPrecondition, "a symbolic link of user"));
  EXPECT_FALSE(fs::exists(dir_.Path("none")));
}

TEST_F(LockFileLinkTest, ToADeviceIsNotFollowed) {
  fs::create_symlink("/dev/null", lock_);
  EXPECT_TRUE(Fails(Write(false), absl::StatusCode::kFailedPrecondition, "leads to /dev/null"));
}

class OthersLockFileTest : public LockFileLinkTest {
 protected:
  static constexpr uid_t kStranger = 4321;

  void SetUp() override {
    LockFileLinkTest::SetUp();
    if (::geteuid() != 0) GTEST_SKIP() << "only root may take another user";
    fs::permissions(dir_.path(), fs::perms::all | fs::perms::sticky_bit);
    fs::permissions(path_, fs::perms::all);
  }
  // In a process of another user, who may write the frame.
  int AsStranger(absl::FunctionRef<absl::Status()> call, const std::string& message) const {
    return ResultOfChild([&] {
      if (::setgroups(0, nullptr) != 0 || ::setgid(kStranger) != 0 || ::setuid(kStranger) != 0) {
        return 1;
      }
      const absl::Status status = call();
      if (message.empty()) return status.ok() ? 0 : 2;
      return absl::IsFailedPrecondition(status) && absl::StrContains(status.message(), message) ? 0
                                                                                                : 3;
    });
  }
};

TEST_F(OthersLockFileTest, ThatMayNotBeOpenedIsNamedWithItsOwner) {
  PutFileBytes(lock_, {});
  fs::permissions(lock_, fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(AsStranger([&] { return Write(false); },
                       "Permission denied; it is a file of user root (uid 0), mode 0600"),
            0);
}

// The kernel refuses to open another's file there with O_CREAT (fs.protected_regular).
TEST_F(OthersLockFileTest, InAStickyFolderIsTakenWhereItMayBeWritten) {
  PutFileBytes(lock_, {});
  fs::permissions(lock_, fs::perms::owner_read | fs::perms::owner_write | fs::perms::others_read |
                             fs::perms::others_write);
  for (const bool make : {false, true}) {
    EXPECT_EQ(AsStranger([&] { return Write(make); }, ""), 0) << make;
  }
}

}  // namespace
}  // namespace cairn::test
