// Tests what a watch reports of a file.
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "cairn/file_system.h"
#include "engine/base/bytes.h"
#include "engine/storage/memory_file_system.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::storage {
namespace {

constexpr std::chrono::milliseconds kNow(0);
constexpr std::chrono::milliseconds kLong(60'000);

class PosixWatchTest : public testing::Test {
 protected:
  static std::unique_ptr<File> Create(const std::string& path) {
    return *PosixFileSystem()->Open(path, FileMode::kCreateNew);
  }
  FileEvent Told(std::chrono::milliseconds timeout = kNow) const {
    const absl::StatusOr<FileEvent> event = watch_->Wait(timeout);
    EXPECT_TRUE(IsOk(event));
    return *event;
  }

  const test::TempDir dir_;
  const std::string path_ = dir_.Path("file");
  const std::unique_ptr<File> written_ = Create(path_);
  const std::unique_ptr<File> file_ = *PosixFileSystem()->Open(path_, FileMode::kRead);
  const std::unique_ptr<FileWatch> watch_ = *file_->Watch();
};

TEST_F(PosixWatchTest, TellsNothingWhereNothingHappens) {
  EXPECT_EQ(Told(std::chrono::milliseconds(20)), FileEvent::kNone);
}

TEST_F(PosixWatchTest, TellsOnceWhatWasWrittenBeforeTheWait) {
  ASSERT_TRUE(IsOk(written_->WriteAt(0, AsBytes("one"))));
  ASSERT_TRUE(IsOk(written_->WriteAt(3, AsBytes("two"))));
  EXPECT_EQ(Told(), FileEvent::kWritten);
  EXPECT_EQ(Told(), FileEvent::kNone);
}

TEST_F(PosixWatchTest, WakesWhenTheFileIsWritten) {
  std::thread writer([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_TRUE(IsOk(written_->WriteAt(0, AsBytes("one"))));
  });
  EXPECT_EQ(Told(kLong), FileEvent::kWritten);
  writer.join();
}

TEST_F(PosixWatchTest, TellsOfTruncation) {
  ASSERT_TRUE(IsOk(written_->Truncate(100)));
  EXPECT_EQ(Told(), FileEvent::kWritten);
}

TEST_F(PosixWatchTest, TellsWhenAnotherFileTakesTheName) {
  Create(dir_.Path("other"));
  ASSERT_TRUE(IsOk(written_->WriteAt(0, AsBytes("one"))));
  ASSERT_TRUE(IsOk(PosixFileSystem()->Rename(dir_.Path("other"), path_, true)));
  ASSERT_TRUE(IsOk(written_->WriteAt(0, AsBytes("two"))));
  EXPECT_EQ(Told(), FileEvent::kRenamed);
}

TEST_F(PosixWatchTest, TellsWhenTheFileIsRenamedOrRemoved) {
  ASSERT_TRUE(IsOk(PosixFileSystem()->Rename(path_, dir_.Path("other"), false)));
  EXPECT_EQ(Told(), FileEvent::kRenamed);
  ASSERT_TRUE(IsOk(PosixFileSystem()->Remove(dir_.Path("other"))));
  EXPECT_EQ(Told(), FileEvent::kRenamed);
}

TEST_F(PosixWatchTest, KeepsMoreEventsThanItReadsAtOnce) {
  for (int i = 0; i < 2000; ++i) {
    ASSERT_TRUE(IsOk(PosixFileSystem()->Rename(path_, dir_.Path("other"), false)));
    ASSERT_TRUE(IsOk(PosixFileSystem()->Rename(dir_.Path("other"), path_, false)));
    ASSERT_TRUE(IsOk(written_->WriteAt(0, AsBytes("one"))));
  }
  EXPECT_EQ(Told(), FileEvent::kRenamed);
  EXPECT_EQ(Told(), FileEvent::kNone);
}

TEST(FileWatchTest, MemoryCannotBeWatched) {
  MemoryFileSystem files;
  const std::unique_ptr<File> file = *files.Open("file", FileMode::kCreateNew);
  EXPECT_TRUE(absl::IsUnimplemented(file->Watch().status()));
}

}  // namespace
}  // namespace cairn::storage
