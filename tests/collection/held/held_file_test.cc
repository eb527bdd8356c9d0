#include "engine/collection/held/held_file.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "cairn/file_system.h"
#include "engine/frame/files/frame_locks.h"
#include "tests/support/status.h"

namespace cairn::collection {
namespace {

class HeldFileTest : public testing::Test {
 protected:
  void SetUp() override {
    ledger_ = files_->Open("ledger", FileMode::kCreateNew).value();
    ASSERT_TRUE(IsOk(files_->Open("f", FileMode::kCreateNew).value()->WriteAt(0, Text("12345"))));
    retention_ = std::make_shared<Retention>(
        ledger_, std::vector<ListedGeneration>{{.number = 3, .generation = 10}});
    held_ = std::make_shared<HeldFile>(files_->Open("f", FileMode::kReadWrite).value(), retention_);
    file_ = HoldFile(files_, "f", held_)->Open("f", FileMode::kReadWrite).value();
  }

  static Bytes Text(std::string_view text) { return std::as_bytes(std::span(text)); }
  static std::string TextOf(const File& file) {
    std::string text(static_cast<size_t>(file.Size().value()), '-');
    EXPECT_TRUE(IsOk(file.ReadAt(0, std::as_writable_bytes(std::span(text)))));
    return text;
  }
  std::string OnDisk() const { return TextOf(*files_->Open("f", FileMode::kRead).value()); }

  const std::shared_ptr<FileSystem> files_ = MakeMemoryFileSystem();
  std::shared_ptr<File> ledger_;
  std::shared_ptr<Retention> retention_;
  std::shared_ptr<HeldFile> held_;
  std::unique_ptr<File> file_;
};

TEST_F(HeldFileTest, HeldWritesReachTheFileWithRelease) {
  ASSERT_TRUE(IsOk(file_->WriteAt(5, Text("67"))));
  ASSERT_TRUE(IsOk(held_->Hold()));
  ASSERT_TRUE(IsOk(file_->WriteAt(6, Text("xyz"))));
  ASSERT_TRUE(IsOk(file_->Sync(SyncMode::kData)));
  ASSERT_TRUE(IsOk(file_->WriteAt(0, Text("A"))));
  EXPECT_EQ(OnDisk(), "1234567") << "what is staged goes through";
  EXPECT_EQ(TextOf(*file_), "A23456xyz") << "the writer sees what it has written";
  const std::vector<FilePatch> patches = held_->Patches();
  ASSERT_EQ(patches.size(), 3u) << "the staged bytes are copied, too";
  EXPECT_EQ(patches[0].offset, 5);
  EXPECT_EQ(patches[2].offset, 0);
  ASSERT_TRUE(IsOk(held_->Release()));
  EXPECT_EQ(OnDisk(), "A23456xyz");
  EXPECT_TRUE(held_->Patches().empty());
}

TEST_F(HeldFileTest, AbandonedWritesAreDropped) {
  ASSERT_TRUE(IsOk(held_->Hold()));
  ASSERT_TRUE(IsOk(file_->WriteAt(0, Text("A"))));
  held_->Abandon();
  ASSERT_TRUE(IsOk(file_->WriteAt(1, Text("B"))));
  ASSERT_TRUE(IsOk(file_->Truncate(2)));
  EXPECT_EQ(OnDisk(), "12345");
}

TEST_F(HeldFileTest, TruncationsWaitForTheirTurn) {
  ASSERT_TRUE(IsOk(held_->Hold()));
  ASSERT_TRUE(IsOk(file_->WriteAt(0, Text("A"))));
  ASSERT_TRUE(IsOk(file_->Truncate(3)));
  EXPECT_EQ(OnDisk(), "12345");
  EXPECT_EQ(TextOf(*file_), "A23");
  ASSERT_TRUE(IsOk(held_->Release()));
  EXPECT_EQ(OnDisk(), "A23");
}

TEST_F(HeldFileTest, LargePartsMustBeSynced) {
  const std::string large(kMaxCopied, 'x');
  ASSERT_TRUE(IsOk(file_->WriteAt(0, Text(large))));
  EXPECT_FALSE(held_->needs_sync());
  EXPECT_EQ(held_->Patches().size(), 1u);
  ASSERT_TRUE(IsOk(file_->WriteAt(0, Text("y"))));
  EXPECT_TRUE(held_->needs_sync());
  EXPECT_TRUE(held_->Patches().empty());
  held_->ForgetStaged();
  EXPECT_FALSE(held_->needs_sync());
}

// Asks as the writer of a frame does before it uses bytes again.
bool IsNeeded(const File& file, uint64_t born, uint64_t died) {
  return file.IsLocked(frame::ReaderLockByte(born), static_cast<int64_t>(died - born)).value();
}

TEST_F(HeldFileTest, BytesAreNeededUntilTheLedgerListsANewerState) {
  EXPECT_FALSE(IsNeeded(*file_, 4, 10));
  EXPECT_TRUE(IsNeeded(*file_, 4, 11));
  retention_->NoteListed(5, 12);
  EXPECT_FALSE(IsNeeded(*file_, 4, 11));
}

TEST_F(HeldFileTest, BytesAreNeededByReadersOfOlderCommits) {
  retention_->NoteListed(5, 12);
  const std::unique_ptr<File> reader = files_->Open("ledger", FileMode::kRead).value();
  ASSERT_TRUE(IsOk(reader->LockByte(CommitByte(4), LockMode::kShared)));
  EXPECT_TRUE(IsNeeded(*file_, 11, 12)) << "also those that were born after it: of a checkpoint";
  EXPECT_FALSE(IsNeeded(*file_, 4, 10));
  ASSERT_TRUE(IsOk(reader->UnlockByte(CommitByte(4))));
  ASSERT_TRUE(IsOk(reader->LockByte(CommitByte(5), LockMode::kShared)));
  EXPECT_FALSE(IsNeeded(*file_, 4, 12));
  ASSERT_TRUE(IsOk(reader->LockByte(kEntryByte, LockMode::kShared)));
  EXPECT_TRUE(IsNeeded(*file_, 4, 12)) << "a reader is coming";
}

TEST_F(HeldFileTest, ReadersOfTheFrameCountAsBefore) {
  const std::unique_ptr<File> reader = files_->Open("f", FileMode::kRead).value();
  ASSERT_TRUE(IsOk(reader->LockByte(frame::ReaderLockByte(7), LockMode::kShared)));
  EXPECT_TRUE(IsNeeded(*file_, 4, 10));
  EXPECT_FALSE(IsNeeded(*file_, 8, 10));
}

}  // namespace
}  // namespace cairn::collection
