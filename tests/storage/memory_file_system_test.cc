#include "engine/storage/memory_file_system.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "tests/support/status.h"

namespace cairn::storage {
namespace {

using absl::StatusCode;

class MemoryFileSystemTest : public testing::Test {
 protected:
  std::unique_ptr<File> Open(const std::string& name, FileMode mode) {
    auto file = files_.Open(name, mode);
    EXPECT_TRUE(IsOk(file.status()));
    return *std::move(file);
  }
  void Make(const std::string& name, std::string_view text) {
    EXPECT_TRUE(IsOk(Open(name, FileMode::kCreateNew)->WriteAt(0, AsBytes(text))));
  }
  std::string TextOf(const std::string& name) {
    const auto file = Open(name, FileMode::kRead);
    std::string text(static_cast<size_t>(*file->Size()), '?');
    EXPECT_TRUE(IsOk(file->ReadAt(0, std::as_writable_bytes(std::span(text)))));
    return text;
  }

  MemoryFileSystem files_;
};

TEST_F(MemoryFileSystemTest, FileKeepsItsBytesWhileItIsClosed) {
  Make("a", "abc");
  EXPECT_EQ(TextOf("a"), "abc");
}

TEST_F(MemoryFileSystemTest, NamesThatAreFreeOrTakenAreRefused) {
  Make("a", "abc");
  EXPECT_EQ(files_.Open("a", FileMode::kCreateNew).status().code(), StatusCode::kAlreadyExists);
  for (const FileMode mode : {FileMode::kRead, FileMode::kReadWrite}) {
    EXPECT_EQ(files_.Open("b", mode).status().code(), StatusCode::kNotFound);
  }
  EXPECT_EQ(files_.Rename("b", "a", true).code(), StatusCode::kNotFound);
  EXPECT_EQ(files_.Remove("b").code(), StatusCode::kNotFound);
  EXPECT_EQ(files_.Identity("b").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(TextOf("a"), "abc");
}

TEST_F(MemoryFileSystemTest, RenameReplacesOnlyWhereItMay) {
  Make("a", "abc");
  Make("b", "xyz");
  EXPECT_EQ(files_.Rename("a", "b", false).code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(TextOf("b"), "xyz");
  const FileIdentity moved = *files_.Identity("a");
  ASSERT_TRUE(IsOk(files_.Rename("a", "b", true)));
  EXPECT_EQ(TextOf("b"), "abc");
  EXPECT_EQ(*files_.Identity("b"), moved);
  EXPECT_EQ(files_.Identity("a").status().code(), StatusCode::kNotFound);
}

TEST_F(MemoryFileSystemTest, RemovedFileLivesWhileItIsOpen) {
  Make("a", "abc");
  const auto open = Open("a", FileMode::kRead);
  const FileIdentity old = *open->Identity();
  ASSERT_TRUE(IsOk(files_.Remove("a")));
  Make("a", "new");
  EXPECT_EQ(AsText((*open->Map(0, 3, 0))->bytes()), "abc");
  EXPECT_FALSE(*files_.Identity("a") == old);
}

TEST_F(MemoryFileSystemTest, LocksAreThoseOfEachOpenFile) {
  auto writer = Open("a", FileMode::kCreateNew);
  ASSERT_TRUE(IsOk(writer->LockByte(7, LockMode::kExclusive)));
  const auto other = Open("a", FileMode::kReadWrite);
  EXPECT_EQ(other->LockByte(7, LockMode::kExclusive).code(), StatusCode::kUnavailable);
  writer.reset();
  EXPECT_TRUE(IsOk(other->LockByte(7, LockMode::kExclusive)));
}

TEST_F(MemoryFileSystemTest, FileOpenedForReadingIsNotWritten) {
  Make("a", "abc");
  const auto file = Open("a", FileMode::kRead);
  EXPECT_EQ(file->WriteAt(0, AsBytes("x")).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(file->Truncate(0).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(file->LockByte(0, LockMode::kExclusive).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(TextOf("a"), "abc");
}

TEST_F(MemoryFileSystemTest, BytesOfTheCallerAreReadInPlaceAndNeverWritten) {
  const std::string text = "abc";
  MemoryFileSystem lent("buffer", AsBytes(text));
  EXPECT_EQ(lent.Open("buffer", FileMode::kReadWrite).status().code(),
            StatusCode::kFailedPrecondition);
  const auto file = *lent.Open("buffer", FileMode::kRead);
  EXPECT_EQ(static_cast<const void*>((*file->Map(0, 3, 0))->bytes().data()), text.data());
  EXPECT_EQ(file->WriteAt(0, AsBytes("x")).code(), StatusCode::kFailedPrecondition);
}

TEST_F(MemoryFileSystemTest, MappingDoesNotFollowItsFile) {
  Make("a", "abc");
  EXPECT_FALSE((*Open("a", FileMode::kRead)->Map(0, 3, 0))->follows_file());
}

}  // namespace
}  // namespace cairn::storage
