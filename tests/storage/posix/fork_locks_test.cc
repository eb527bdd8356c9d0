// Tests which locks of their parent forked children have.
#include <chrono>
#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "cairn/file_system.h"
#include "engine/storage/posix/fd.h"
#include "tests/support/child_process.h"
#include "tests/support/orphan.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::storage {
namespace {

using test::Orphan;
using test::ResultOfChild;

constexpr int64_t kLocked = int64_t{1} << 62;
constexpr std::chrono::milliseconds kNoWait(0);

class ForkLocksTest : public testing::Test {
 protected:
  std::unique_ptr<File> Open() const {
    return *PosixFileSystem()->Open(path_, FileMode::kReadWrite);
  }
  static int CodeOf(const absl::Status& status) { return static_cast<int>(status.code()); }
  static int LockExclusively(File& file) {
    return CodeOf(file.LockByte(kLocked, LockMode::kExclusive));
  }

  const test::TempDir dir_;
  const std::string path_ = dir_.Path("file");
  const std::unique_ptr<File> first_ = *PosixFileSystem()->Open(path_, FileMode::kCreateNew);
};

TEST_F(ForkLocksTest, ExclusiveLockEndsWithItsProcess) {
  std::unique_ptr<File> held;
  const Orphan child([&] {
    held = Open();
    return LockExclusively(*held);
  });
  ASSERT_EQ(child.result(), 0);
  EXPECT_TRUE(IsOk(first_->LockByte(kLocked, LockMode::kExclusive)));
}

// A map keeps the open file, and its locks, without any descriptor.
TEST_F(ForkLocksTest, ExclusiveLockOfAMappedFileEndsWithItsProcess) {
  ASSERT_TRUE(IsOk(first_->Truncate(4096)));
  std::unique_ptr<File> held;
  std::shared_ptr<const Mapping> before, after;
  const Orphan child([&] {
    held = Open();
    before = *held->Map(0, 4096, 0);
    if (const int code = LockExclusively(*held)) return code;
    after = *held->Map(0, 4096, 0);
    return 0;
  });
  ASSERT_EQ(child.result(), 0);
  EXPECT_TRUE(IsOk(first_->LockByte(kLocked, LockMode::kExclusive)));
}

TEST_F(ForkLocksTest, LockThatWasAwaitedEndsWithItsProcess) {
  std::unique_ptr<File> held;
  const Orphan child([&] {
    held = Open();
    return CodeOf(held->WaitForByte(kLocked, kNoWait));
  });
  ASSERT_EQ(child.result(), 0);
  EXPECT_TRUE(IsOk(first_->WaitForByte(kLocked, kNoWait)));
}

TEST_F(ForkLocksTest, LockOfTheWholeEndsWithItsProcess) {
  std::unique_ptr<File> held;
  const Orphan child([&] {
    held = Open();
    return CodeOf(held->LockWhole());
  });
  ASSERT_EQ(child.result(), 0);
  EXPECT_TRUE(IsOk(first_->LockWhole()));
}

TEST_F(ForkLocksTest, ChildLocksWhatItsDeadParentHeld) {
  std::unique_ptr<File> held;
  const Orphan child(
      [&] {
        held = Open();
        const int code = LockExclusively(*held);
        return code != 0 ? code : CodeOf(held->LockWhole());
      },
      [&] {
        const int code = LockExclusively(*held);
        return code != 0 ? code : CodeOf(held->LockWhole());
      });
  ASSERT_EQ(child.result(), 0);
  EXPECT_TRUE(absl::IsUnavailable(first_->LockByte(kLocked, LockMode::kExclusive)));
  EXPECT_TRUE(absl::IsUnavailable(first_->LockWhole()));
}

TEST_F(ForkLocksTest, LocksStayWithTheirProcessWhateverAChildDoes) {
  std::unique_ptr<File> held = Open();
  ASSERT_EQ(LockExclusively(*held), 0);
  ASSERT_TRUE(IsOk(held->LockWhole()));
  const auto is_held = [&] {
    return absl::IsUnavailable(first_->LockByte(kLocked, LockMode::kExclusive)) &&
           absl::IsUnavailable(first_->LockWhole());
  };
  EXPECT_EQ(ResultOfChild([&] { return is_held() ? 0 : 1; }), 0);  // while the child lives
  EXPECT_TRUE(is_held());
  EXPECT_EQ(ResultOfChild([&] { return held->UnlockByte(kLocked).ok() && is_held() ? 0 : 1; }), 0);
  EXPECT_TRUE(is_held());
  EXPECT_EQ(ResultOfChild([&] {
              held.reset();
              return is_held() ? 0 : 1;
            }),
            0);
  EXPECT_TRUE(is_held());
  held.reset();
  EXPECT_FALSE(is_held());
}

// As to any other process.
TEST_F(ForkLocksTest, ParentsLockIsThatOfAnotherToAChild) {
  const std::unique_ptr<File> held = Open();
  ASSERT_EQ(LockExclusively(*held), 0);
  EXPECT_EQ(ResultOfChild([&] {
              if (!*held->IsLocked(kLocked - 1, 3)) return 1;
              if (!absl::IsUnavailable(held->LockByte(kLocked, LockMode::kExclusive))) return 2;
              if (!absl::IsUnavailable(held->LockByte(kLocked, LockMode::kShared))) return 3;
              return *held->IsLocked(kLocked - 1, 3) ? 0 : 4;
            }),
            0);
  EXPECT_FALSE(*held->IsLocked(kLocked - 1, 3));
}

TEST_F(ForkLocksTest, LocksOfOthersAreSeenBesideOwnOnes) {
  const std::unique_ptr<File> held = Open();
  for (const int64_t own : {kLocked + 1, kLocked + 4, kLocked + 5, INT64_MAX}) {
    ASSERT_TRUE(IsOk(held->LockByte(own, LockMode::kExclusive)));
  }
  for (int64_t other = kLocked; other < kLocked + 8; ++other) {
    const std::unique_ptr<File> there = Open();
    if (!there->LockByte(other, LockMode::kShared).ok()) continue;  // a byte of `held`
    EXPECT_TRUE(*held->IsLocked(kLocked, 8)) << other;
    EXPECT_TRUE(*held->IsLocked(kLocked, INT64_MAX - kLocked + 1)) << other;
    EXPECT_EQ(held->LockHolders(kLocked, 8)->size(), 3) << other;  // two bytes are one lock
  }
  EXPECT_FALSE(*held->IsLocked(kLocked, 8));
  EXPECT_FALSE(*held->IsLocked(kLocked, INT64_MAX - kLocked + 1));
}

TEST_F(ForkLocksTest, ChangeOfTheModeHeedsWhatAChildHas) {
  const std::unique_ptr<File> held = Open();
  ASSERT_TRUE(IsOk(held->LockByte(kLocked, LockMode::kShared)));
  {
    const Orphan child([&] { return 0; });
    ASSERT_EQ(child.result(), 0);
    EXPECT_TRUE(absl::IsUnavailable(held->LockByte(kLocked, LockMode::kExclusive)));
    EXPECT_TRUE(absl::IsUnavailable(first_->LockByte(kLocked, LockMode::kExclusive)));
  }
  while (!held->LockByte(kLocked, LockMode::kExclusive).ok()) ::usleep(100);  // the child ends
  EXPECT_TRUE(absl::IsUnavailable(first_->LockByte(kLocked, LockMode::kShared)));
  ASSERT_TRUE(IsOk(held->LockByte(kLocked, LockMode::kShared)));
  EXPECT_TRUE(IsOk(first_->LockByte(kLocked, LockMode::kShared)));
  ASSERT_TRUE(IsOk(first_->UnlockByte(kLocked)));
  // A lock that has become a shared one is the child's as well.
  std::unique_ptr<File> changed;
  const Orphan child([&] {
    changed = Open();
    if (!changed->LockByte(kLocked + 1, LockMode::kExclusive).ok()) return 1;
    return changed->LockByte(kLocked + 1, LockMode::kShared).ok() ? 0 : 2;
  });
  ASSERT_EQ(child.result(), 0);
  EXPECT_TRUE(*first_->IsLocked(kLocked + 1, 1));
}

// The kernel would end them with any descriptor of the file that this process closes.
TEST_F(ForkLocksTest, LocksOfOtherCodeOutliveAFileThatWasLockedExclusively) {
  const UniqueFd other(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
  struct flock lock = {
      .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 100, .l_len = 1, .l_pid = 0};
  ASSERT_EQ(::fcntl(other.get(), F_SETLK, &lock), 0);
  std::unique_ptr<File> held = Open();
  ASSERT_EQ(LockExclusively(*held), 0);
  held.reset();
  EXPECT_EQ(LockExclusively(*first_), 0);
  EXPECT_EQ(ResultOfChild([&] { return ::fcntl(other.get(), F_SETLK, &lock) == 0 ? 1 : 0; }), 0);
}

}  // namespace
}  // namespace cairn::storage
