// Tests what only the operating system's files can show; file_test.cc has the rest.
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/file_system.h"
#include "engine/base/bytes.h"
#include "engine/storage/errors.h"
#include "tests/support/child_process.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::storage {
namespace {

class PosixFileTest : public testing::Test {
 protected:
  std::unique_ptr<File> Create(std::string_view text) const {
    auto file = *PosixFileSystem()->Open(path_, FileMode::kCreateNew);
    EXPECT_TRUE(IsOk(file->WriteAt(0, AsBytes(text))));
    return file;
  }

  const test::TempDir dir_;
  const std::string path_ = dir_.Path("file");
};

TEST_F(PosixFileTest, MappingSurvivesRenameAndRemovalOfThePath) {
  const auto mapping = *Create("abcdef")->Map(1, 4, 0);
  ASSERT_TRUE(PosixFileSystem()->Rename(path_, dir_.Path("other"), false).ok());
  EXPECT_EQ(AsText(mapping->bytes()), "bcde");
  ASSERT_TRUE(PosixFileSystem()->Remove(dir_.Path("other")).ok());
  EXPECT_EQ(AsText(mapping->bytes()), "bcde");
}

TEST_F(PosixFileTest, HeadroomOfAMappingShowsBytesThatCameLater) {
  const auto file = Create("abcdef");
  for (const int64_t offset : {0, 1, 6}) {
    const auto mapping = *file->Map(offset, 6 - offset, 100000);
    ASSERT_EQ(mapping->bytes().size(), 100006 - static_cast<size_t>(offset));
    ASSERT_TRUE(IsOk(file->WriteAt(50000, AsBytes("later"))));
    const Bytes later = mapping->bytes().subspan(50000 - static_cast<size_t>(offset), 5);
    EXPECT_EQ(AsText(later), "later");
    ASSERT_TRUE(IsOk(file->Truncate(6)));
  }
}

TEST_F(PosixFileTest, EndlessHeadroomIsNoFailure) {
  const auto file = Create("abcdef");
  const auto mapping = *file->Map(1, 4, INT64_MAX);
  EXPECT_EQ(AsText(mapping->bytes().first(4)), "bcde");
  EXPECT_EQ(file->Map(1, 4, -1).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(PosixFileTest, ReserveTakesDiskSpaceBeforeTheBytesCome) {
  const auto file = Create("abc");
  ASSERT_TRUE(IsOk(file->Reserve(1 << 20)));
  EXPECT_EQ(*file->Size(), 1 << 20);
  if (*file->AllocatedSize() < 1 << 20) GTEST_SKIP() << "no space can be reserved here";
}

TEST_F(PosixFileTest, AllocateTakesDiskSpacePastTheEndAndLeavesTheSize) {
  const auto file = Create("abc");
  const absl::Status status = file->Allocate(3, 1 << 20);
  if (absl::IsUnimplemented(status)) GTEST_SKIP() << "no space can be reserved here";
  ASSERT_TRUE(IsOk(status));
  EXPECT_EQ(*file->Size(), 3);
  EXPECT_GE(*file->AllocatedSize(), 1 << 20);
  ASSERT_TRUE(IsOk(file->WriteAt(3, AsBytes("def"))));
  EXPECT_EQ(*file->Size(), 6);
  ASSERT_TRUE(IsOk(file->Allocate(1, 0)));
  ASSERT_TRUE(IsOk(file->Truncate(6)));
  EXPECT_LT(*file->AllocatedSize(), 1 << 20);
}

TEST_F(PosixFileTest, AllocateFillsHolesAndLeavesOtherBytes) {
  const auto file = Create("abc");
  ASSERT_TRUE(IsOk(file->Truncate(1 << 20)));
  ASSERT_TRUE(IsOk(file->WriteAt((1 << 20) - 1, AsBytes("d"))));
  const absl::Status status = file->Allocate(0, 1 << 20);
  if (absl::IsUnimplemented(status)) GTEST_SKIP() << "no space can be reserved here";
  ASSERT_TRUE(IsOk(status));
  EXPECT_EQ(*file->Size(), 1 << 20);
  EXPECT_GE(*file->AllocatedSize(), 1 << 20);
  std::vector<std::byte> bytes(1 << 20);
  ASSERT_TRUE(IsOk(file->ReadAt(0, bytes)));
  EXPECT_EQ(bytes.front(), std::byte{'a'});
  EXPECT_EQ(bytes[3], std::byte{0});
  EXPECT_EQ(bytes.back(), std::byte{'d'});
}

TEST_F(PosixFileTest, HolesTakeNoDiskSpaceAndReserveLeavesThemAlone) {
  const auto file = Create(std::string(1 << 20, 'x'));
  ASSERT_TRUE(IsOk(file->Sync(SyncMode::kAll)));
  const int64_t before = *file->AllocatedSize();
  const absl::Status status = file->PunchHole(1 << 16, 1 << 19);
  if (absl::IsUnimplemented(status)) GTEST_SKIP() << "no holes here";
  ASSERT_TRUE(IsOk(status));
  EXPECT_LE(*file->AllocatedSize(), before - (1 << 18));
  ASSERT_TRUE(IsOk(file->Reserve((1 << 20) + 4096)));
  EXPECT_LE(*file->AllocatedSize(), before - (1 << 18));
}

TEST_F(PosixFileTest, ReadOnlyFileRefusesChanges) {
  Create("abc");
  const auto file = *PosixFileSystem()->Open(path_, FileMode::kRead);
  EXPECT_EQ(file->WriteAt(0, AsBytes("x")).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(file->Truncate(0).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(file->Reserve(100).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(file->Allocate(0, 100).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(file->PunchHole(0, 1).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(*file->Size(), 3);
}

TEST_F(PosixFileTest, FileShrunkByAnotherIsOutOfRangeToRead) {
  const auto file = Create("abcdef");
  const auto other = *PosixFileSystem()->Open(path_, FileMode::kReadWrite);
  ASSERT_TRUE(IsOk(other->Truncate(2)));
  std::vector<std::byte> sink(4);
  EXPECT_EQ(file->ReadAt(0, sink).code(), absl::StatusCode::kOutOfRange);
}

TEST_F(PosixFileTest, DescriptorDoesNotOutliveExec) {
  const auto file = Create("abc");
  for (int fd = 3; fd < 64; ++fd) {
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    char target[4096] = {};
    if (::readlink(link.c_str(), target, sizeof(target) - 1) < 0 || path_ != target) continue;
    EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
    return;
  }
  FAIL() << "descriptor of " << path_ << " not found";
}

// In a child: the limit would hold for the whole test program.
TEST_F(PosixFileTest, FullDiskIsResourceExhaustedAndNamesThePath) {
  constexpr rlim_t kLimit = 65536;
  const auto file = Create("");
  const std::vector<std::byte> bytes(100000, std::byte{'x'});
  const auto write = [&]() -> int {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {kLimit, kLimit};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    const absl::Status status = file->WriteAt(0, bytes);
    if (status.code() != absl::StatusCode::kResourceExhausted) return 2;
    if (status.message().find(path_) == absl::string_view::npos) return 3;
    if (file->Truncate(100000).code() != absl::StatusCode::kResourceExhausted) return 4;
    return file->Reserve(100000).code() == absl::StatusCode::kResourceExhausted ? 0 : 5;
  };
  EXPECT_EQ(test::ResultOfChild(write), 0);
  EXPECT_EQ(*file->Size(), int64_t{kLimit});  // what fitted was written before the failure
}

TEST(ErrnoStatusTest, GivesTheCanonicalCode) {
  const std::vector<std::pair<int, absl::StatusCode>> codes = {
      {ENOENT, absl::StatusCode::kNotFound},
      {EEXIST, absl::StatusCode::kAlreadyExists},
      {EACCES, absl::StatusCode::kPermissionDenied},
      {EPERM, absl::StatusCode::kPermissionDenied},
      {EROFS, absl::StatusCode::kPermissionDenied},
      {ENOSPC, absl::StatusCode::kResourceExhausted},
      {EDQUOT, absl::StatusCode::kResourceExhausted},
      {EFBIG, absl::StatusCode::kResourceExhausted},
      {EMFILE, absl::StatusCode::kResourceExhausted},
      {EISDIR, absl::StatusCode::kFailedPrecondition},
      {ENOTDIR, absl::StatusCode::kFailedPrecondition},
      {EBUSY, absl::StatusCode::kUnavailable},
      {EIO, absl::StatusCode::kInternal}};
  for (const auto& [error, code] : codes) {
    EXPECT_EQ(ErrnoStatus(error, "/f", "sync").code(), code) << error;
  }
}

TEST(ErrnoStatusTest, SaysWhereWhatAndWhy) {
  EXPECT_EQ(ErrnoStatus(EIO, "/f", "sync").message(), "/f: cannot sync: Input/output error");
  EXPECT_EQ(ErrnoStatus(EFBIG, "/f", "write").message(),
            "/f: cannot write: File size limit exceeded");
}

}  // namespace
}  // namespace cairn::storage
