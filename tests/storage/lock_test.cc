// Writer locks on the operating system's files.
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include <gtest/gtest.h>

#include "cairn/file_system.h"
#include "tests/support/child_process.h"
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
  absl::StatusCode CodeInChild(int64_t offset) const {
    return static_cast<absl::StatusCode>(test::ResultOfChild(
        [&] { return static_cast<int>(Open()->LockByte(offset, LockMode::kExclusive).code()); }));
  }

  const test::TempDir dir_;
  const std::string path_ = dir_.Path("file");
  const std::unique_ptr<File> first_ = Open(FileMode::kCreateNew);
};

TEST_F(LockTest, SecondFileOfOneProcessIsRefused) {
  const auto second = Open();
  ASSERT_TRUE(first_->LockByte(kFarByte, LockMode::kExclusive).ok());
  const absl::Status status = second->LockByte(kFarByte, LockMode::kExclusive);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(), path_ + " is held by another writer");
}

TEST_F(LockTest, OtherProcessIsRefused) {
  ASSERT_TRUE(first_->LockByte(kFarByte, LockMode::kExclusive).ok());
  EXPECT_EQ(CodeInChild(kFarByte), absl::StatusCode::kUnavailable);
}

TEST_F(LockTest, EachByteIsItsOwnLock) {
  ASSERT_TRUE(first_->LockByte(kFarByte, LockMode::kExclusive).ok());
  EXPECT_TRUE(Open()->LockByte(kFarByte + 1, LockMode::kExclusive).ok());
  EXPECT_TRUE(Open()->LockByte(0, LockMode::kExclusive).ok());
  EXPECT_TRUE(Open()->LockByte(INT64_MAX, LockMode::kExclusive).ok());
  EXPECT_EQ(CodeInChild(0), absl::StatusCode::kOk);
}

TEST_F(LockTest, LockEndsWithItsFile) {
  auto holder = Open();
  ASSERT_TRUE(holder->LockByte(kFarByte, LockMode::kExclusive).ok());
  holder.reset();
  EXPECT_EQ(CodeInChild(kFarByte), absl::StatusCode::kOk);
  EXPECT_TRUE(first_->LockByte(kFarByte, LockMode::kExclusive).ok());
}

TEST_F(LockTest, LockSurvivesTheEndOfOtherFilesOfThePath) {
  ASSERT_TRUE(first_->LockByte(kFarByte, LockMode::kExclusive).ok());
  Open().reset();
  EXPECT_EQ(CodeInChild(kFarByte), absl::StatusCode::kUnavailable);
}

TEST_F(LockTest, LockOfADeadProcessIsFree) {
  ASSERT_EQ(CodeInChild(kFarByte), absl::StatusCode::kOk);
  EXPECT_TRUE(first_->LockByte(kFarByte, LockMode::kExclusive).ok());
}

TEST_F(LockTest, ForkedChildCannotReleaseItsParentsLock) {
  auto holder = Open();
  ASSERT_TRUE(holder->LockByte(kFarByte, LockMode::kExclusive).ok());
  ASSERT_EQ(test::ResultOfChild([&] {
              holder.reset();
              return 0;
            }),
            0);
  EXPECT_EQ(first_->LockByte(kFarByte, LockMode::kExclusive).code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(LockTest, ReadOnlyFileCannotLock) {
  const absl::Status status = Open(FileMode::kRead)->LockByte(kFarByte, LockMode::kExclusive);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(status.message(), path_)) << status;
}

}  // namespace
}  // namespace cairn::storage
