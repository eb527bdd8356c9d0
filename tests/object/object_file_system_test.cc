// A store as files and directories.
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/object_store.h"
#include "engine/object/object_fetcher.h"
#include "engine/object/page_cache.h"
#include "tests/object/rigged_store.h"
#include "tests/support/bytes.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

class ObjectFileSystemTest : public testing::Test {
 protected:
  const std::shared_ptr<RiggedStore> store_ = std::make_shared<RiggedStore>();
  const std::shared_ptr<FileSystem> files_ = MakeObjectFileSystem(store_);
};

TEST_F(ObjectFileSystemTest, FileGivesTheBytesOfAnyRange) {
  const Buffer data = MakeNoise(300'000);
  store_->Put("a/b", data);
  const auto file = files_->Open("a/b", FileMode::kRead);
  ASSERT_TRUE(IsOk(file));
  EXPECT_EQ((*file)->Size().value(), 300'000);
  for (const int64_t begin : {0, 1, 65'535, 65'536, 200'000, 299'999}) {
    for (const int64_t size : {0, 1, 2, 65'536, 100'000, 299'999}) {
      Buffer bytes(static_cast<size_t>(size));
      const auto got = (*file)->ReadSome(begin, bytes);
      ASSERT_TRUE(IsOk(got));
      const int64_t expected = std::min(size, 300'000 - begin);
      EXPECT_EQ(*got, static_cast<size_t>(expected));
      EXPECT_TRUE(std::ranges::equal(Bytes(bytes).first(*got),
                                     Bytes(data).subspan(static_cast<size_t>(begin), *got)));
      EXPECT_EQ((*file)->ReadAt(begin, bytes).ok(), expected == size);
    }
  }
  Buffer one(1);
  EXPECT_EQ((*file)->ReadAt(300'000, one).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ((*file)->ReadAt(-1, one).code(), absl::StatusCode::kOutOfRange);
}

TEST_F(ObjectFileSystemTest, EmptyObjectIsAnEmptyFile) {
  store_->Put("a", {});
  const auto file = files_->Open("a", FileMode::kRead);
  ASSERT_TRUE(IsOk(file));
  Buffer one(1);
  EXPECT_EQ((*file)->ReadSome(0, one).value(), 0u);
}

TEST_F(ObjectFileSystemTest, RangesBeyondTheEndAreNoHarm) {
  store_->Put("a", MakeNoise(300'000));
  const auto file = files_->Open("a", FileMode::kRead);
  const FileRange ranges[] = {{-5, 10}, {0, INT64_MAX}, {INT64_MAX, 5}, {299'999, 5}, {7, -7}};
  (*file)->WillRead(ranges);
  Buffer all(300'000);
  EXPECT_TRUE(IsOk((*file)->ReadAt(0, all)));
}

TEST_F(ObjectFileSystemTest, MemoryStaysWithinItsBound) {
  store_->Put("a", MakeNoise(20 << 20));
  const auto fetcher =
      std::make_shared<object::ObjectFetcher>(store_, ObjectFileOptions{.cache_bytes = 2 << 20});
  const auto object = fetcher->Open("a");
  ASSERT_TRUE(IsOk(object));
  for (const size_t size : {100'000u, 1'000'000u, 10'000'000u}) {
    Buffer bytes(size);
    for (int64_t at = 0; at + std::ssize(bytes) <= 20 << 20; at += std::ssize(bytes)) {
      const FileRange range = {.offset = at, .size = 4 << 20};
      fetcher->WillRead(*object, {&range, 1});
      ASSERT_TRUE(IsOk(fetcher->Read(*object, at, bytes)));
      EXPECT_LE(fetcher->kept_bytes(), 2 << 20);
    }
  }
}

TEST_F(ObjectFileSystemTest, IdentityIsThatOfTheContent) {
  store_->Put("a", MakeNoise(10));
  const auto file = files_->Open("a", FileMode::kRead);
  EXPECT_EQ((*file)->Identity().value(), files_->Identity("a").value());
  store_->Put("a", MakeNoise(10, 2));
  EXPECT_FALSE((*file)->Identity().value() == files_->Identity("a").value());
  EXPECT_EQ(files_->Identity("b").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(ObjectFileSystemTest, DirectoryIsWhereNamesBegin) {
  store_->Put("d/x", MakeNoise(10));
  store_->Put("d/sub/y", MakeNoise(10));
  store_->Put("d/sub/z", MakeNoise(10));
  store_->Put("e", MakeNoise(10));
  EXPECT_TRUE(Fails(files_->OpenDirectory("e"), absl::StatusCode::kFailedPrecondition, "e: is an"));
  EXPECT_EQ(files_->OpenDirectory("f").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(files_->OpenDirectory("d/s").status().code(), absl::StatusCode::kNotFound);
  for (const char* path : {"d", "d/"}) {
    const auto directory = files_->OpenDirectory(path);
    ASSERT_TRUE(IsOk(directory));
    EXPECT_EQ((*directory)->List(".").value(), (std::vector<std::string>{"sub", "x"}));
    EXPECT_TRUE(IsOk((*directory)->Open("x", FileMode::kRead)));
    EXPECT_EQ((*directory)->Open("sub/y", FileMode::kRead).status().code(),
              absl::StatusCode::kInvalidArgument);
    EXPECT_EQ((*directory)->Open("no", FileMode::kRead).status().code(),
              absl::StatusCode::kNotFound);
  }
  EXPECT_EQ(files_->List("").value(), (std::vector<std::string>{"d", "e"}));
  EXPECT_EQ(files_->ListSome("d", "s", 10).value(), (std::vector<std::string>{"sub"}));
}

TEST_F(ObjectFileSystemTest, ListGoesOnAfterThousandNames) {
  for (int i = 0; i < 2500; ++i) store_->Put("d/" + std::to_string(i), {});
  EXPECT_EQ(files_->List("d").value().size(), 2500u);
  EXPECT_EQ(files_->ListSome("d", "1", 7).value().size(), 7u);
}

TEST_F(ObjectFileSystemTest, DirectoryShowsItsPartOfTheStore) {
  store_->Put("d/x", MakeNoise(10));
  const auto directory = files_->OpenDirectory("d");
  ASSERT_TRUE(IsOk(directory));
  const std::shared_ptr<ObjectStore> part = (*directory)->ObjectsIn(".").store;
  ASSERT_NE(part, nullptr);
  EXPECT_EQ(part->Describe(), "rigged/d");
  EXPECT_EQ(part->Head("x").value().name, "x");
  EXPECT_EQ(part->Get("x").value().object.name, "x");
  const Buffer bytes = MakeNoise(20);
  const auto put = part->PutIfAbsent("y", bytes);
  ASSERT_TRUE(IsOk(put));
  EXPECT_EQ(put->name, "y");
  EXPECT_TRUE(IsOk(store_->Head("d/y")));
  EXPECT_TRUE(IsOk(part->PutIfMatch("y", put->etag, MakeNoise(5))));
  const auto listing = part->List("", "x", 10);
  ASSERT_TRUE(IsOk(listing));
  ASSERT_EQ(listing->objects.size(), 1u);
  EXPECT_EQ(listing->objects[0].name, "y");
  const std::string names[] = {"x", "y"};
  ASSERT_TRUE(IsOk(part->Delete(names)));
  EXPECT_TRUE(store_->List("", "", 10).value().objects.empty());
}

TEST_F(ObjectFileSystemTest, NothingIsWrittenThroughIt) {
  store_->Put("a", MakeNoise(10));
  for (const FileMode mode : {FileMode::kReadWrite, FileMode::kCreateNew}) {
    EXPECT_TRUE(Fails(files_->Open("a", mode), absl::StatusCode::kUnimplemented, "a: "));
  }
  EXPECT_TRUE(Fails(files_->Remove("a"), absl::StatusCode::kUnimplemented, "a: "));
  EXPECT_TRUE(Fails(files_->Rename("a", "b", true), absl::StatusCode::kUnimplemented, "a: "));
  const auto file = files_->Open("a", FileMode::kRead);
  ASSERT_TRUE(IsOk(file));
  EXPECT_TRUE(Fails((*file)->WriteAt(0, {}), absl::StatusCode::kUnimplemented, "in place"));
  EXPECT_TRUE(Fails((*file)->Map(0, 1, 0), absl::StatusCode::kUnimplemented, "in place"));
  EXPECT_TRUE(IsOk((*file)->LockByte(5, LockMode::kShared)));
  EXPECT_FALSE((*file)->IsLocked(5, 1).value());
}

TEST_F(ObjectFileSystemTest, AnnouncedFilesAreOpenedWithoutAnotherRequest) {
  for (int i = 0; i < 10; ++i) store_->Put("d/" + std::to_string(i), MakeNoise(100'000));
  const auto directory = files_->OpenDirectory("d");
  ASSERT_TRUE(IsOk(directory));
  std::vector<FileHint> hints;
  for (int i = 0; i < 10; ++i) hints.push_back({std::to_string(i), 100'000});
  hints.push_back({"missing", 10});
  store_->TakeGets();
  (*directory)->WillOpen(hints);
  EXPECT_EQ(store_->TakeGets().size(), 11u);
  Buffer bytes(100'000);
  for (int i = 0; i < 10; ++i) {
    const auto file = (*directory)->Open(std::to_string(i), FileMode::kRead);
    ASSERT_TRUE(IsOk(file));
    ASSERT_TRUE(IsOk((*file)->ReadAt(0, bytes)));
  }
  EXPECT_EQ(store_->TakeGets().size(), 0u);
  store_->Put("d/missing", MakeNoise(10));
  EXPECT_TRUE(IsOk((*directory)->Open("missing", FileMode::kRead)));
}

TEST_F(ObjectFileSystemTest, EndsWithRequestsInFlight) {
  store_->Put("a", MakeNoise(10 << 20));
  {
    const std::shared_ptr<FileSystem> files = MakeObjectFileSystem(store_, {.parallel = 1});
    const auto file = files->Open("a", FileMode::kRead);
    ASSERT_TRUE(IsOk(file));
    std::vector<FileRange> ranges;
    for (int64_t i = 0; i < 8; ++i) ranges.push_back({i << 20, 1 << 20});
    store_->delay = std::chrono::seconds(1);
    (*file)->WillRead(ranges);
  }
  EXPECT_LT(store_->TakeGets().size(), 9u);
}

}  // namespace
}  // namespace cairn::test
