// Locks on the operating system's files.
#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <memory>
#include <string>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "absl/strings/match.h"
#include <gtest/gtest.h>

#include "cairn/file_system.h"
#include "engine/storage/posix/lock_holders.h"
#include "tests/support/child_process.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::storage {
namespace {

constexpr int64_t kFarByte = int64_t{1} << 62;

class LockTest : public testing::Test {
 protected:
  std::unique_ptr<File> Open(FileMode mode = FileMode::kReadWrite) const {
    return *PosixFileSystem()->Open(path_, mode);
  }
  // The code that another process gets when it tries to lock.
  absl::StatusCode CodeInChild(int64_t offset, LockMode mode = LockMode::kExclusive) const {
    return static_cast<absl::StatusCode>(test::ResultOfChild(
        [&] { return static_cast<int>(Open()->LockByte(offset, mode).code()); }));
  }

  const test::TempDir dir_;
  const std::string path_ = dir_.Path("file");
  std::unique_ptr<File> first_ = Open(FileMode::kCreateNew);
};

TEST_F(LockTest, SecondFileOfOneProcessIsRefused) {
  const auto second = Open();
  ASSERT_TRUE(IsOk(first_->LockByte(kFarByte, LockMode::kExclusive)));
  const absl::Status status = second->LockByte(kFarByte, LockMode::kExclusive);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(), path_ + " is held by another writer");
}

TEST_F(LockTest, OtherProcessIsRefused) {
  ASSERT_TRUE(IsOk(first_->LockByte(kFarByte, LockMode::kExclusive)));
  EXPECT_EQ(CodeInChild(kFarByte), absl::StatusCode::kUnavailable);
}

TEST_F(LockTest, EachByteIsItsOwnLock) {
  ASSERT_TRUE(IsOk(first_->LockByte(kFarByte, LockMode::kExclusive)));
  EXPECT_TRUE(Open()->LockByte(kFarByte + 1, LockMode::kExclusive).ok());
  EXPECT_TRUE(Open()->LockByte(0, LockMode::kExclusive).ok());
  EXPECT_TRUE(Open()->LockByte(INT64_MAX, LockMode::kExclusive).ok());
  EXPECT_EQ(CodeInChild(0), absl::StatusCode::kOk);
}

TEST_F(LockTest, LockEndsWithItsFile) {
  auto holder = Open();
  ASSERT_TRUE(IsOk(holder->LockByte(kFarByte, LockMode::kExclusive)));
  holder.reset();
  EXPECT_EQ(CodeInChild(kFarByte), absl::StatusCode::kOk);
  EXPECT_TRUE(IsOk(first_->LockByte(kFarByte, LockMode::kExclusive)));
}

TEST_F(LockTest, LockSurvivesTheEndOfOtherFilesOfThePath) {
  ASSERT_TRUE(IsOk(first_->LockByte(kFarByte, LockMode::kExclusive)));
  Open().reset();
  EXPECT_EQ(CodeInChild(kFarByte), absl::StatusCode::kUnavailable);
}

TEST_F(LockTest, LockOfADeadProcessIsFree) {
  ASSERT_EQ(CodeInChild(kFarByte), absl::StatusCode::kOk);
  EXPECT_TRUE(IsOk(first_->LockByte(kFarByte, LockMode::kExclusive)));
}

TEST_F(LockTest, ForkedChildCannotReleaseItsParentsLock) {
  auto holder = Open();
  ASSERT_TRUE(IsOk(holder->LockByte(kFarByte, LockMode::kExclusive)));
  ASSERT_EQ(test::ResultOfChild([&] {
              holder.reset();
              return 0;
            }),
            0);
  EXPECT_EQ(first_->LockByte(kFarByte, LockMode::kExclusive).code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(LockTest, UnlockedByteIsFree) {
  ASSERT_TRUE(IsOk(first_->LockByte(kFarByte, LockMode::kExclusive)));
  ASSERT_TRUE(IsOk(first_->LockByte(kFarByte + 1, LockMode::kExclusive)));
  ASSERT_TRUE(IsOk(first_->UnlockByte(kFarByte)));
  EXPECT_EQ(CodeInChild(kFarByte), absl::StatusCode::kOk);
  EXPECT_EQ(CodeInChild(kFarByte + 1), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(IsOk(first_->UnlockByte(kFarByte)));
}

TEST_F(LockTest, UnlockOfAForkedChildLeavesItsParentsLock) {
  ASSERT_TRUE(IsOk(first_->LockByte(kFarByte, LockMode::kShared)));
  ASSERT_EQ(test::ResultOfChild([&] { return first_->UnlockByte(kFarByte).ok() ? 0 : 1; }), 0);
  const auto second = Open();
  EXPECT_TRUE(*second->IsLocked(kFarByte, 1));
  ASSERT_TRUE(IsOk(first_->UnlockByte(kFarByte)));
  EXPECT_FALSE(*second->IsLocked(kFarByte, 1));
}

// A forked child that lives as long as this object.
class LivingChild {
 public:
  LivingChild() : pid_(::fork()) {
    if (pid_ == 0) {
      ::pause();
      ::_exit(0);
    }
  }
  ~LivingChild() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  LivingChild(const LivingChild&) = delete;
  LivingChild& operator=(const LivingChild&) = delete;

 private:
  const pid_t pid_;
};

// The child may read what the lock keeps for it.
TEST_F(LockTest, SharedLockThatEndsStaysWithAForkedChild) {
  auto holder = Open(FileMode::kRead);
  ASSERT_TRUE(IsOk(holder->LockByte(kFarByte, LockMode::kShared)));
  ASSERT_TRUE(IsOk(holder->LockByte(kFarByte + 1, LockMode::kShared)));
  {
    const LivingChild child;
    ASSERT_TRUE(IsOk(holder->UnlockByte(kFarByte)));
    EXPECT_TRUE(*first_->IsLocked(kFarByte, 1));
    ASSERT_TRUE(IsOk(holder->LockByte(kFarByte + 2, LockMode::kShared)));
    ASSERT_TRUE(IsOk(holder->UnlockByte(kFarByte + 2)));
    EXPECT_FALSE(*first_->IsLocked(kFarByte + 2, 1));  // the child never had it
  }
  EXPECT_FALSE(*first_->IsLocked(kFarByte, 1));
  EXPECT_TRUE(*first_->IsLocked(kFarByte + 1, 1));  // which its parent has kept
}

TEST_F(LockTest, SharedLockOfAFileThatEndsStaysWithAForkedChild) {
  auto holder = Open(FileMode::kRead);
  ASSERT_TRUE(IsOk(holder->LockByte(kFarByte, LockMode::kShared)));
  {
    const LivingChild child;
    holder.reset();
    EXPECT_TRUE(*first_->IsLocked(kFarByte, 1));
  }
  EXPECT_FALSE(*first_->IsLocked(kFarByte, 1));
}

TEST_F(LockTest, ForkedChildHasLocksOfItsOwn) {
  auto holder = Open(FileMode::kRead);
  ASSERT_TRUE(IsOk(holder->LockByte(kFarByte, LockMode::kShared)));
  EXPECT_EQ(test::ResultOfChild([&] {
              if (!holder->LockByte(kFarByte + 1, LockMode::kShared).ok()) return 1;
              if (!holder->UnlockByte(kFarByte).ok()) return 2;
              if (!*first_->IsLocked(kFarByte + 1, 1)) return 3;
              return *Open()->IsLocked(kFarByte, 1) ? 0 : 4;
            }),
            0);
  EXPECT_TRUE(*first_->IsLocked(kFarByte, 1));
  EXPECT_FALSE(*first_->IsLocked(kFarByte + 1, 1));
}

TEST_F(LockTest, ForkedChildDoesNotShareAnExclusiveLockThatIsTakenLater) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_EQ(test::ResultOfChild([&]() -> int {
              const auto holder = Open();
              if (::fork() == 0) {  // lives longer than its parent
                ::close(ends[1]);
                char end = 0;
                ::_exit(static_cast<int>(::read(ends[0], &end, 1)));
              }
              const bool locked = holder->LockByte(kFarByte, LockMode::kExclusive).ok();
              ::_exit(locked ? 0 : 1);  // as a kill, this ends no lock but with the description
            }),
            0);
  EXPECT_TRUE(IsOk(first_->LockByte(kFarByte, LockMode::kExclusive)));
  ::close(ends[1]);
  ::close(ends[0]);
}

// A child that was forked meanwhile has a descriptor of the same open file.
TEST_F(LockTest, LocksEndWithTheirFileAlsoWhileAForkedChildLives) {
  auto holder = Open();
  ASSERT_TRUE(IsOk(holder->LockByte(kFarByte, LockMode::kExclusive)));
  ASSERT_TRUE(IsOk(holder->LockWhole()));
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::close(ends[1]);
    char end;
    ::_exit(static_cast<int>(::read(ends[0], &end, 1)));  // waits for the parent
  }
  EXPECT_EQ(first_->LockByte(kFarByte, LockMode::kExclusive).code(),
            absl::StatusCode::kUnavailable);
  holder.reset();
  EXPECT_TRUE(IsOk(first_->LockByte(kFarByte, LockMode::kExclusive)));
  EXPECT_TRUE(IsOk(first_->LockWhole()));
  ::close(ends[1]);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  ::close(ends[0]);
}

TEST_F(LockTest, LocksOfOthersAreSeenAnywhereInTheRange) {
  const auto second = Open(FileMode::kRead);
  for (const LockMode mode : {LockMode::kShared, LockMode::kExclusive}) {
    ASSERT_TRUE(IsOk(first_->LockByte(kFarByte + 5, mode)));
    EXPECT_TRUE(*second->IsLocked(kFarByte, 6));
    EXPECT_TRUE(*second->IsLocked(kFarByte + 5, 1));
    EXPECT_FALSE(*second->IsLocked(kFarByte, 5));
    EXPECT_FALSE(*second->IsLocked(kFarByte + 6, INT64_MAX - kFarByte - 5));
    EXPECT_TRUE(*second->IsLocked(0, INT64_MAX));
    EXPECT_FALSE(*second->IsLocked(0, 0));
    EXPECT_EQ(test::ResultOfChild([&] { return *Open()->IsLocked(kFarByte, 6) ? 1 : 0; }), 1);
  }
}

TEST_F(LockTest, OwnLocksAreNotSeen) {
  ASSERT_TRUE(IsOk(first_->LockByte(kFarByte, LockMode::kExclusive)));
  EXPECT_FALSE(*first_->IsLocked(kFarByte, 1));
}

TEST_F(LockTest, OnlyOneFileLocksTheWhole) {
  const auto code_in_child = [&] {
    return static_cast<absl::StatusCode>(
        test::ResultOfChild([&] { return static_cast<int>(Open()->LockWhole().code()); }));
  };
  ASSERT_TRUE(IsOk(first_->LockWhole()));
  EXPECT_EQ(Open()->LockWhole().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(code_in_child(), absl::StatusCode::kUnavailable);
  first_.reset();
  EXPECT_EQ(code_in_child(), absl::StatusCode::kOk);
}

TEST_F(LockTest, WholeIsWhatFlockLocks) {
  const int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(fd, LOCK_SH), 0);
  EXPECT_EQ(first_->LockWhole().code(), absl::StatusCode::kUnavailable);
  ::close(fd);
  EXPECT_TRUE(IsOk(first_->LockWhole()));
}

TEST_F(LockTest, WholeAndBytesAreLockedApart) {
  const auto second = Open();
  ASSERT_TRUE(IsOk(first_->LockWhole()));
  EXPECT_TRUE(IsOk(second->LockByte(kFarByte, LockMode::kExclusive)));
  EXPECT_FALSE(*Open()->IsLocked(0, 1000));
}

TEST_F(LockTest, OnlySharedLocksGoTogether) {
  for (const LockMode held : {LockMode::kShared, LockMode::kExclusive}) {
    for (const LockMode wanted : {LockMode::kShared, LockMode::kExclusive}) {
      const auto holder = Open();
      ASSERT_TRUE(IsOk(holder->LockByte(kFarByte, held)));
      const auto expected = held == LockMode::kShared && wanted == LockMode::kShared
                                ? absl::StatusCode::kOk
                                : absl::StatusCode::kUnavailable;
      EXPECT_EQ(Open()->LockByte(kFarByte, wanted).code(), expected);
      EXPECT_EQ(CodeInChild(kFarByte, wanted), expected);
    }
  }
}

TEST_F(LockTest, ExclusiveLockWaitsForTheLastSharedOne) {
  auto second = Open();
  ASSERT_TRUE(IsOk(first_->LockByte(kFarByte, LockMode::kShared)));
  ASSERT_TRUE(IsOk(second->LockByte(kFarByte, LockMode::kShared)));
  first_.reset();
  EXPECT_EQ(CodeInChild(kFarByte), absl::StatusCode::kUnavailable);
  second.reset();
  EXPECT_EQ(CodeInChild(kFarByte), absl::StatusCode::kOk);
}

TEST_F(LockTest, HolderMayChangeTheModeOfItsLock) {
  ASSERT_TRUE(IsOk(first_->LockByte(kFarByte, LockMode::kShared)));
  ASSERT_TRUE(IsOk(first_->LockByte(kFarByte, LockMode::kExclusive)));
  EXPECT_EQ(CodeInChild(kFarByte, LockMode::kShared), absl::StatusCode::kUnavailable);
  ASSERT_TRUE(IsOk(first_->LockByte(kFarByte, LockMode::kShared)));
  EXPECT_EQ(CodeInChild(kFarByte, LockMode::kShared), absl::StatusCode::kOk);
  EXPECT_EQ(CodeInChild(kFarByte, LockMode::kExclusive), absl::StatusCode::kUnavailable);
}

TEST_F(LockTest, ReadOnlyFileCanShareALock) {
  const auto reader = Open(FileMode::kRead);
  ASSERT_TRUE(IsOk(reader->LockByte(kFarByte, LockMode::kShared)));
  EXPECT_EQ(CodeInChild(kFarByte), absl::StatusCode::kUnavailable);
}

TEST_F(LockTest, ReadOnlyFileCannotLockExclusively) {
  const absl::Status status = Open(FileMode::kRead)->LockByte(kFarByte, LockMode::kExclusive);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(status.message(), path_)) << status;
}

// Holds a lock until it is destroyed.
class HoldingChild {
 public:
  HoldingChild(const std::string& path, int64_t offset) {
    int ready[2];
    if (::pipe(ready) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      const auto file = PosixFileSystem()->Open(path, FileMode::kRead);
      const bool locked = file.ok() && (*file)->LockByte(offset, LockMode::kShared).ok();
      const char done = 1;
      if (locked && ::write(ready[1], &done, 1) == 1) ::pause();
      ::_exit(1);
    }
    ::close(ready[1]);
    char done = 0;
    holds_ = ::read(ready[0], &done, 1) == 1;
    ::close(ready[0]);
  }
  ~HoldingChild() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  HoldingChild(const HoldingChild&) = delete;
  HoldingChild& operator=(const HoldingChild&) = delete;

  bool holds() const { return holds_; }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  bool holds_ = false;
};

TEST_F(LockTest, HoldersOfLocksAreNamed) {
  const HoldingChild child(path_, kFarByte + 7);
  ASSERT_TRUE(child.holds());
  const auto second = Open();
  ASSERT_TRUE(IsOk(second->LockByte(kFarByte + 3, LockMode::kShared)));
  ASSERT_TRUE(IsOk(second->LockByte(kFarByte + 20, LockMode::kShared)));
  auto holders = first_->LockHolders(kFarByte, 10);
  ASSERT_TRUE(IsOk(holders));
  ASSERT_EQ(holders->size(), 2);
  std::ranges::sort(*holders, {}, &LockHolder::offset);
  EXPECT_EQ(holders->front().offset, kFarByte + 3);
  EXPECT_EQ(holders->front().pid, ::getpid());
  EXPECT_EQ(holders->back().offset, kFarByte + 7);
  EXPECT_EQ(holders->back().pid, child.pid());
  ASSERT_TRUE(holders->back().running.has_value());
  EXPECT_LT(holders->back().running->count(), 3600);
  EXPECT_TRUE(first_->LockHolders(kFarByte + 8, 10)->empty());
}

TEST_F(LockTest, LocksOfOtherFilesHaveNoHolders) {
  const std::string other = dir_.Path("other");
  ASSERT_TRUE(IsOk(PosixFileSystem()->Open(other, FileMode::kCreateNew)));
  const HoldingChild child(other, kFarByte);
  ASSERT_TRUE(child.holds());
  EXPECT_TRUE(first_->LockHolders(kFarByte, 10)->empty());
}

TEST(LockLineTest, NamesTheBytesOfAnOpenFilesLock) {
  EXPECT_EQ(ParseLockLine("lock:\t1: OFDLCK ADVISORY  READ -1 fe:00:131 4611686018427387905 "
                          "4611686018427387906"),
            (Extent{(int64_t{1} << 62) + 1, (int64_t{1} << 62) + 3}));
  EXPECT_EQ(ParseLockLine("lock:\t2: OFDLCK  ADVISORY  WRITE -1 08:01:9 0 EOF"),
            (Extent{0, INT64_MAX}));
}

TEST(LockLineTest, OtherLinesNameNone) {
  for (const char* line :
       {"", "pos:\t0", "lock:\t1: POSIX  ADVISORY  READ 12 fe:00:131 0 1",
        "lock:\t1: OFDLCK ADVISORY READ -1 fe:00:131 7", "lock: 1: OFDLCK A R -1 d x y",
        "lock:\t1: OFDLCK ADVISORY READ -1 fe:00:131 7 6",
        "lock:\t1: OFDLCK ADVISORY READ -1 fe:00:131 -7 6"}) {
    EXPECT_FALSE(ParseLockLine(line).has_value()) << line;
  }
}

}  // namespace
}  // namespace cairn::storage
