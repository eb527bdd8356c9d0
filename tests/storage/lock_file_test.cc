#include "engine/storage/lock_file.h"

#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <string>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "tests/support/child_process.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::storage {
namespace {

using absl::StatusCode;

class LockFileTest : public testing::Test {
 protected:
  void Make(std::string_view content) {
    const auto file = *files_.Open(path_, FileMode::kCreateNew);
    ASSERT_TRUE(IsOk(file->WriteAt(0, AsBytes(content))));
  }
  std::string Content() const {
    const auto file = *PosixFileSystem()->Open(path_, FileMode::kRead);
    std::string text(static_cast<size_t>(*file->Size()), '?');
    EXPECT_TRUE(IsOk(file->ReadAt(0, std::as_writable_bytes(std::span(text)))));
    return text;
  }
  // Returns the counter as another process reads it.
  uint64_t Counter() const {
    const std::string content = Content();
    uint64_t counter = 0;
    EXPECT_EQ(content.size(), 16);
    if (content.size() == 16) std::memcpy(&counter, content.data() + 8, 8);
    return counter;
  }
  absl::StatusOr<std::unique_ptr<File>> Acquire(bool make = false) {
    return TakeLockFile(files_, path_, make, {});
  }

  const test::TempDir dir_;
  const std::string path_ = dir_.Path("frame.b2lock");
  test::FaultFileSystem files_;
};

TEST_F(LockFileTest, WithoutAFileThereIsNothingToHold) {
  const auto lock = Acquire();
  ASSERT_TRUE(IsOk(lock));
  EXPECT_EQ(*lock, nullptr);
  EXPECT_TRUE(absl::IsNotFound(files_.Identity(path_).status()));
}

TEST_F(LockFileTest, MakesTheFileWhenTold) {
  const auto lock = Acquire(true);
  ASSERT_TRUE(IsOk(lock));
  EXPECT_NE(*lock, nullptr);
  EXPECT_EQ(Counter(), 1);
}

TEST_F(LockFileTest, EveryLockCountsUpByOneAndLeavesTheOtherBytes) {
  const uint64_t counter = 0xFFFF;  // in the machine's byte order
  std::string content = "12345678";
  content.append(reinterpret_cast<const char*>(&counter), sizeof(counter));
  Make(content);
  ASSERT_NE(*Acquire(), nullptr);
  EXPECT_EQ(Counter(), 0x10000);
  ASSERT_NE(*Acquire(true), nullptr);
  EXPECT_EQ(Counter(), 0x10001);
  EXPECT_EQ(Content().substr(0, 8), "12345678");
}

TEST_F(LockFileTest, ShortFileCountsAsZero) {
  for (const size_t size : {0, 5, 8, 15}) {
    Make(std::string(size, 'x'));
    ASSERT_NE(*Acquire(), nullptr);
    EXPECT_EQ(Counter(), 1) << size;
    ASSERT_TRUE(IsOk(files_.Remove(path_)));
  }
}

TEST_F(LockFileTest, SecondIsRefusedAndCountsNothingUntilTheFirstGoes) {
  auto first = *Acquire(true);
  EXPECT_TRUE(Fails(Acquire(true), StatusCode::kUnavailable, path_));
  EXPECT_EQ(Counter(), 1);
  auto moved = std::move(first);
  EXPECT_TRUE(Fails(Acquire(), StatusCode::kUnavailable, path_));
  moved.reset();
  EXPECT_NE(*Acquire(), nullptr);
}

TEST_F(LockFileTest, KeepsOtherProcessesOut) {
  const auto flock_code = [&] {
    const int fd = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
    return ::flock(fd, LOCK_SH | LOCK_NB) == 0 ? 0 : 1;
  };
  auto lock = *Acquire(true);
  EXPECT_EQ(test::ResultOfChild(flock_code), 1);
  lock.reset();
  EXPECT_EQ(test::ResultOfChild(flock_code), 0);
}

TEST_F(LockFileTest, ReaderOfTheProtocolKeepsItFromTheLock) {
  Make("");
  const int fd = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(fd, LOCK_SH), 0);
  EXPECT_TRUE(Fails(Acquire(), StatusCode::kUnavailable, path_));
  ::close(fd);
  EXPECT_NE(*Acquire(), nullptr);
}

TEST_F(LockFileTest, WriterThatWaitsTellsReadersUntilItHasTheLock) {
  auto first = *Acquire(true);
  const auto file = *files_.Open(path_, FileMode::kRead);
  const auto is_waiting = [&] { return file->IsLocked(kWriterWaits, 1).value(); };
  EXPECT_FALSE(is_waiting());
  std::thread writer([&] {
    const auto second = TakeLockFile(files_, path_, false, std::chrono::seconds(30));
    EXPECT_TRUE(IsOk(second));
    EXPECT_FALSE(is_waiting());
  });
  while (!is_waiting()) std::this_thread::yield();
  first.reset();
  writer.join();
}

TEST_F(LockFileTest, WriterThatHasWaitedForNothingTellsReadersNoMore) {
  const auto first = *Acquire(true);
  EXPECT_TRUE(Fails(TakeLockFile(files_, path_, false, std::chrono::milliseconds(5)),
                    StatusCode::kUnavailable, path_));
  const auto file = *files_.Open(path_, FileMode::kRead);
  EXPECT_FALSE(file->IsLocked(kWriterWaits, 1).value());
}

TEST_F(LockFileTest, WhatIsNoFileIsAnError) {
  ASSERT_TRUE(IsOk(files_.MakeDirectory(path_)));
  EXPECT_TRUE(Fails(Acquire(), StatusCode::kFailedPrecondition, path_));
}

TEST_F(LockFileTest, FailedCountHoldsNoLock) {
  Make("");
  files_.Inject({});
  EXPECT_TRUE(Fails(Acquire(), StatusCode::kResourceExhausted, path_));
  EXPECT_NE(*Acquire(), nullptr);
}

// Another program makes the file between the two attempts to open it.
class RacingFiles final : public test::FaultyFiles {
 public:
  explicit RacingFiles(test::FaultyDisk* disk) : FaultyFiles(disk, PosixFileSystem(), "") {}
  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, FileMode mode) override {
    if (mode == FileMode::kCreateNew) FaultyFiles::Open(path, mode).status().IgnoreError();
    return FaultyFiles::Open(path, mode);
  }
};

TEST_F(LockFileTest, FileThatAnotherMakesMeanwhileIsTaken) {
  RacingFiles racing(&files_);
  const auto lock = TakeLockFile(racing, path_, true, {});
  ASSERT_TRUE(IsOk(lock));
  EXPECT_NE(*lock, nullptr);
  EXPECT_EQ(Counter(), 1);
}

}  // namespace
}  // namespace cairn::storage
