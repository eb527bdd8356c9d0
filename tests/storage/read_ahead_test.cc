#include "engine/storage/read_ahead.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <fcntl.h>
#include <span>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/temp_dir.h"

namespace cairn::storage {
namespace {

constexpr size_t kSize = 4 << 20;
constexpr size_t kPage = 4096;

int64_t PagesInMemory(std::span<std::byte> pages) {
  std::vector<unsigned char> resident(pages.size() / kPage);
  ::mincore(pages.data(), pages.size(), resident.data());
  return std::ranges::count_if(resident, [](unsigned char page) { return (page & 1) != 0; });
}

TEST(ReadAhead, BringsThePagesOfItsBytesIntoMemory) {
  const test::TempDir temp;
  const int fd = ::open(temp.Path("file").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(fd, 0);
  const std::vector<std::byte> content(kSize, std::byte{7});
  ASSERT_EQ(::pwrite(fd, content.data(), kSize, 0), static_cast<ssize_t>(kSize));
  ASSERT_EQ(::fsync(fd), 0);
  ASSERT_EQ(::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
  void* const map = ::mmap(nullptr, kSize, PROT_READ, MAP_SHARED, fd, 0);
  ASSERT_NE(map, MAP_FAILED);
  const std::span all(static_cast<std::byte*>(map), kSize);
  const bool keeps = PagesInMemory(all) > 0 || ::sysconf(_SC_PAGESIZE) != kPage;
  if (!keeps) {
    const auto wanted = all.subspan(256 * kPage, 200 * kPage);
    ReadAhead(wanted.subspan(100, wanted.size() - 200));
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (PagesInMemory(wanted) < 200 && std::chrono::steady_clock::now() < give_up) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(PagesInMemory(wanted), 200);
    EXPECT_LT(PagesInMemory(all), 1024) << "all of the file";
  }
  ::munmap(map, kSize);
  ::close(fd);
  if (keeps) GTEST_SKIP() << "this file system keeps what it holds in memory";
}

}  // namespace
}  // namespace cairn::storage
