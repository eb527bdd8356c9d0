// Pages of objects in a directory that processes share.
#include "engine/object/disk_cache.h"

#include <filesystem>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/object_store.h"
#include "engine/object/page_cache.h"
#include "tests/object/rigged_store.h"
#include "tests/support/bytes.h"
#include "tests/support/files.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::object {
namespace {

namespace fs = std::filesystem;
using test::Buffer;
using test::MakeNoise;

std::vector<std::string> FilesUnder(const std::string& directory) {
  std::vector<std::string> files;
  for (const auto& file : fs::recursive_directory_iterator(directory)) {
    if (file.is_regular_file()) files.push_back(file.path());
  }
  return files;
}

int64_t SizeUnder(const std::string& directory) {
  int64_t size = 0;
  for (const std::string& file : FilesUnder(directory)) size += test::SizeOnDisk(file);
  return size;
}

class DiskCacheTest : public testing::Test {
 protected:
  const test::TempDir dir_;
};

TEST_F(DiskCacheTest, IsSharedAndTellsPagesApart) {
  DiskCache one(dir_.path(), 1 << 20, "s");
  DiskCache two(dir_.path(), 1 << 20, "s");
  DiskCache other_store(dir_.path(), 1 << 20, "t");
  const Buffer bytes = MakeNoise(1000);
  one.Put("a", 3, bytes);
  EXPECT_EQ(two.Get("a", 3, 1000), bytes);
  EXPECT_EQ(two.Get("a", 3, 999), std::nullopt);
  EXPECT_EQ(two.Get("a", 4, 1000), std::nullopt);
  EXPECT_EQ(two.Get("b", 3, 1000), std::nullopt);
  EXPECT_EQ(other_store.Get("a", 3, 1000), std::nullopt);
}

TEST_F(DiskCacheTest, AnyFlippedByteIsAMiss) {
  DiskCache cache(dir_.path(), 1 << 20, "s");
  cache.Put("a", 3, MakeNoise(50));
  const std::string file = FilesUnder(dir_.path()).at(0);
  const Buffer good = test::FileBytes(file);
  for (size_t i = 0; i < good.size(); ++i) {
    Buffer bad = good;
    bad[i] ^= std::byte{4};
    test::PutFileBytes(file, bad);
    EXPECT_EQ(cache.Get("a", 3, 50), std::nullopt) << i;
  }
  test::PutFileBytes(file, good);
  EXPECT_TRUE(cache.Get("a", 3, 50).has_value());
}

TEST_F(DiskCacheTest, StaysWithinItsBoundAndKeepsWhatIsUsed) {
  constexpr int64_t kCapacity = 200'000;
  DiskCache cache(dir_.path(), kCapacity, "s");
  const Buffer bytes = MakeNoise(1000);
  for (int64_t page = 0; page < 1000; ++page) {
    cache.Put("a", page, bytes);
    EXPECT_TRUE(cache.Get("a", 0, 1000).has_value()) << page;
  }
  EXPECT_LE(SizeUnder(dir_.path()), kCapacity);
  EXPECT_GE(FilesUnder(dir_.path()).size(), 100u);
}

TEST_F(DiskCacheTest, OtherFilesThereStay) {
  test::PutFileBytes(dir_.Path("precious"), MakeNoise(300'000));
  DiskCache cache(dir_.path(), 100'000, "s");
  for (int64_t page = 0; page < 200; ++page) cache.Put("a", page, MakeNoise(1000));
  EXPECT_TRUE(fs::exists(dir_.Path("precious")));
}

TEST_F(DiskCacheTest, DirectoryThatCannotBeMadeCostsNoData) {
  test::PutFileBytes(dir_.Path("file"), MakeNoise(10));
  DiskCache cache(dir_.Path("file"), 1 << 20, "s");
  cache.Put("a", 0, MakeNoise(10));
  EXPECT_EQ(cache.Get("a", 0, 10), std::nullopt);
}

// Names that only look like those of the cache, and those of other folders.
TEST_F(DiskCacheTest, FilesOfOthersAreNotRemoved) {
  const std::vector<std::string> others = {"mine.page", "mine.tmp", "ab/mine.page", "ab/notes.tmp",
                                           "photos/0123456789abcd.page"};
  for (const std::string& name : others) {
    fs::create_directories(fs::path(dir_.Path(name)).parent_path());
    test::PutFileBytes(dir_.Path(name), MakeNoise(300'000));
  }
  DiskCache cache(dir_.path(), 100'000, "s");
  for (int64_t page = 0; page < 200; ++page) cache.Put("a", page, MakeNoise(1000));
  for (const std::string& name : others) EXPECT_TRUE(fs::exists(dir_.Path(name))) << name;
}

TEST_F(DiskCacheTest, WhatIsNoFileCostsNoDataAndLeavesNothing) {
  DiskCache cache(dir_.path(), 1 << 20, "s");
  cache.Put("a", 0, MakeNoise(10));
  const std::string file = FilesUnder(dir_.path()).at(0);
  const auto expect_miss = [&](const char* what) {
    EXPECT_EQ(cache.Get("a", 0, 10), std::nullopt) << what;
    cache.Put("a", 0, MakeNoise(10));
  };
  fs::remove(file);
  fs::create_directory(file);
  expect_miss("directory");
  EXPECT_TRUE(FilesUnder(dir_.path()).empty());
  fs::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  expect_miss("FIFO");
  EXPECT_TRUE(cache.Get("a", 0, 10).has_value());
  // Links lead to files of others.
  test::PutFileBytes(dir_.Path("victim"), MakeNoise(5));
  fs::remove(file);
  fs::create_symlink(dir_.Path("victim"), file);
  expect_miss("link");
  EXPECT_EQ(test::FileBytes(dir_.Path("victim")), MakeNoise(5));
}

TEST_F(DiskCacheTest, IsOpenOnlyToThoseWhoMayWriteIt) {
  const auto open_to = [&](const std::string& directory) {
    DiskCache(directory, 1 << 20, "s").Put("a", 0, MakeNoise(10));
    const std::string file = FilesUnder(directory).at(0);
    const auto may =
        fs::status(file).permissions() | fs::status(fs::path(file).parent_path()).permissions();
    return may & (fs::perms::group_all | fs::perms::others_all);
  };
  EXPECT_EQ(open_to(dir_.Path("new")), fs::perms::none);
  EXPECT_EQ(fs::status(dir_.Path("new")).permissions(), fs::perms::owner_all);
  fs::create_directory(dir_.Path("readable"));
  fs::permissions(dir_.Path("readable"), fs::perms(0755));
  EXPECT_EQ(open_to(dir_.Path("readable")), fs::perms::none);
  fs::create_directory(dir_.Path("shared"));
  fs::permissions(dir_.Path("shared"), fs::perms(0770));
  EXPECT_EQ(open_to(dir_.Path("shared")), fs::perms::group_all);
  fs::create_directory(dir_.Path("sticky"));
  fs::permissions(dir_.Path("sticky"), fs::perms(01777));
  EXPECT_EQ(open_to(dir_.Path("sticky")), fs::perms::none);
}

// Through the file system: what one has read costs the other no bytes, except for the first page.
class SharedDiskCacheTest : public DiskCacheTest {
 protected:
  SharedDiskCacheTest() { store_->Put("object", data_); }

  int64_t CostOfReadingAll() {
    const std::shared_ptr<FileSystem> files =
        MakeObjectFileSystem(store_, {.disk_cache = dir_.path()});
    store_->TakeGets();
    const auto file = files->Open("object", FileMode::kRead);
    EXPECT_TRUE(IsOk(file));
    Buffer bytes(data_.size());
    EXPECT_TRUE(IsOk((*file)->ReadAt(0, bytes)));
    EXPECT_EQ(bytes, data_);
    return std::ssize(store_->TakeGets());
  }

  Buffer data_ = MakeNoise(10 * kPageBytes + 100);
  const std::shared_ptr<test::RiggedStore> store_ = std::make_shared<test::RiggedStore>();
};

TEST_F(SharedDiskCacheTest, AnotherFileSystemReadsWhatWasReadBefore) {
  EXPECT_EQ(CostOfReadingAll(), 2);
  EXPECT_EQ(CostOfReadingAll(), 1);
}

TEST_F(SharedDiskCacheTest, DamagedPageIsReadAgain) {
  CostOfReadingAll();
  for (const std::string& file : FilesUnder(dir_.path())) {
    Buffer bytes = test::FileBytes(file);
    bytes.back() ^= std::byte{1};
    test::PutFileBytes(file, bytes);
  }
  EXPECT_EQ(CostOfReadingAll(), 2);
  EXPECT_EQ(CostOfReadingAll(), 1);
}

TEST_F(SharedDiskCacheTest, AnotherContentOfTheObjectIsAMiss) {
  CostOfReadingAll();
  data_ = MakeNoise(data_.size(), 2);
  store_->Put("object", data_);
  EXPECT_EQ(CostOfReadingAll(), 2);
}

}  // namespace
}  // namespace cairn::object
