// Descriptors of files that other code has open stay open as long as that code's.
#include "engine/storage/posix/kept_descriptors.h"

#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/support/child_process.h"
#include "tests/support/temp_dir.h"

namespace cairn::storage {
namespace {

class KeptDescriptorsTest : public testing::Test {
 protected:
  // As Cairn opens files.
  UniqueFd Open(int mode = O_RDONLY) const { return OpenWith(mode | O_NONBLOCK); }
  UniqueFd OpenAsOthers() const { return OpenWith(O_RDWR); }
  UniqueFd OpenWith(int flags) const {
    return UniqueFd(::open(path_.c_str(), flags | O_CREAT | O_CLOEXEC, 0600));
  }
  FileIdentity Identity() const { return StatAt(AT_FDCWD, path_.c_str(), 0)->identity; }
  static bool IsOpen(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

  const test::TempDir dir_;
  const std::string path_ = dir_.Path("f");
  KeptDescriptors kept_;
};

TEST_F(KeptDescriptorsTest, DescriptorOfAFileThatNobodyElseHasOpenIsClosed) {
  const UniqueFd other_of_cairn = Open();
  UniqueFd fd = Open();
  const int number = fd.get();
  kept_.Close(std::move(fd), Identity(), false, {});
  EXPECT_FALSE(IsOpen(number));
  EXPECT_TRUE(kept_.empty());
}

TEST_F(KeptDescriptorsTest, DescriptorOfAFileThatOtherCodeHasOpenIsKeptAndTakenAgain) {
  const UniqueFd other = OpenAsOthers();
  UniqueFd fd = Open();
  const int number = fd.get();
  kept_.Close(std::move(fd), Identity(), false, {});
  EXPECT_TRUE(IsOpen(number));
  kept_.CloseUnneeded();
  EXPECT_TRUE(IsOpen(number));
  EXPECT_FALSE(kept_.Take(Identity(), true).ok());  // for writing, which it is not open for
  EXPECT_EQ(kept_.Take(Identity(), false).get(), number);
  EXPECT_TRUE(kept_.empty());
}

TEST_F(KeptDescriptorsTest, KeptDescriptorIsClosedWhenTheOtherCodeHasClosedItsOwn) {
  UniqueFd other = OpenAsOthers();
  UniqueFd fd = Open();
  const int number = fd.get();
  kept_.Close(std::move(fd), Identity(), false, {});
  other = UniqueFd();
  kept_.CloseUnneeded();
  EXPECT_FALSE(IsOpen(number));
  EXPECT_TRUE(kept_.empty());
}

// The child may have been forked before the descriptor was kept.
TEST_F(KeptDescriptorsTest, DescriptorThatAChildHasIsNotTakenAgain) {
  const UniqueFd other = OpenAsOthers();
  for (const bool forks_later : {false, true}) {
    const ForkObserver forks;
    UniqueFd fd = Open();
    const auto fork = [] { EXPECT_EQ(test::ResultOfChild([] { return 0; }), 0); };
    if (!forks_later) fork();
    kept_.Close(std::move(fd), Identity(), false, forks);
    if (forks_later) fork();
    EXPECT_FALSE(kept_.Take(Identity(), false).ok());
  }
}

TEST_F(KeptDescriptorsTest, LocksAreSeenExceptThoseOfFrames) {
  const UniqueFd fd = Open(O_RDWR);
  EXPECT_FALSE(IsLockedByOthers(fd.get()));
  const UniqueFd other = OpenAsOthers();
  struct flock lock = {
      .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = int64_t{1} << 62, .l_len = 1, .l_pid = 0};
  ASSERT_EQ(::fcntl(other.get(), F_SETLK, &lock), 0);
  EXPECT_FALSE(IsLockedByOthers(fd.get()));
  lock.l_start = int64_t{1} << 30;  // as SQLite does
  ASSERT_EQ(::fcntl(other.get(), F_SETLK, &lock), 0);
  EXPECT_TRUE(IsLockedByOthers(fd.get()));
}

}  // namespace
}  // namespace cairn::storage
