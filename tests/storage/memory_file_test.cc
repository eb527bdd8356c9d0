#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "engine/storage/memory_file_system.h"
#include "tests/support/status.h"

namespace cairn::storage {
namespace {

TEST(MemoryFileTest, SizeWithoutBoundIsResourceExhausted) {
  MemoryFile file("scratch");
  ASSERT_TRUE(IsOk(file.WriteAt(0, AsBytes("abc"))));
  const absl::Status status = file.Truncate(int64_t{1} << 50);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message().substr(0, 7), "scratch");
  EXPECT_EQ(*file.Size(), 3);
}

TEST(MemoryFileTest, GrowthMovesTheBytesRarely) {
  MemoryFile file;
  int moves = 0;
  const std::byte* place = nullptr;
  for (int64_t at = 0; at < 1 << 20; at += 64) {
    ASSERT_TRUE(IsOk(file.WriteAt(at, std::vector<std::byte>(64))));
    const std::byte* const now = (*file.Map(0, 1, 0))->bytes().data();
    moves += now != place ? 1 : 0;
    place = now;
  }
  EXPECT_LE(moves, 10);
}

TEST(MemoryFileTest, MappedBytesCanBeWrittenOverThemselves) {
  MemoryFile file;
  ASSERT_TRUE(IsOk(file.WriteAt(0, AsBytes("abcdef"))));
  ASSERT_TRUE(IsOk(file.WriteAt(2, (*file.Map(0, 6, 0))->bytes())));
  EXPECT_EQ(AsText((*file.Map(0, 8, 0))->bytes()), "ababcdef");
}

// The thread sanitizer reports when this fails.
TEST(MemoryFileTest, BytesMayBeReadWhileTheyAreWrittenASecondTime) {
  MemoryFile file;
  const std::vector<std::byte> bytes(1 << 16, std::byte{7});
  ASSERT_TRUE(IsOk(file.WriteAt(0, bytes)));
  const auto mapping = *file.Map(0, 1 << 16, 0);
  std::thread reader([&] {
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(std::ranges::equal(mapping->bytes(), bytes));
  });
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(IsOk(file.WriteAt(0, bytes)));
  reader.join();
}

TEST(MemoryFileTest, ReopenedFileHasTheSameBytesAndIdentity) {
  auto file = std::make_unique<MemoryFile>();
  const auto again = file->Reopen();
  ASSERT_TRUE(IsOk(file->WriteAt(0, AsBytes("abc"))));
  EXPECT_EQ(*file->Identity(), *again->Identity());
  EXPECT_FALSE(*file->Identity() == *MemoryFile().Identity());
  file.reset();
  EXPECT_EQ(AsText((*again->Map(0, 3, 0))->bytes()), "abc");
}

TEST(MemoryFileTest, MappedBytesLiveAsLongAsTheMapping) {
  auto file = std::make_unique<MemoryFile>();
  ASSERT_TRUE(IsOk(file->WriteAt(0, AsBytes("abc"))));
  const auto mapping = *file->Map(0, 3, 0);
  ASSERT_TRUE(IsOk(file->WriteAt(0, std::vector<std::byte>(1 << 20))));
  file.reset();
  EXPECT_EQ(AsText(mapping->bytes()), "abc");
}

TEST(MemoryFileTest, BytesOfTheCallerAreNotCopied) {
  const std::string text = "abc";
  const MemoryFile file("buffer", AsBytes(text));
  EXPECT_EQ(static_cast<const void*>((*file.Map(0, 3, 0))->bytes().data()), text.data());
}

TEST(MemoryFileTest, BytesOfTheCallerAreNeverWritten) {
  const std::string text = "abc";
  const MemoryFile file("buffer", AsBytes(text));
  const auto again = file.Reopen();
  EXPECT_EQ(again->WriteAt(0, AsBytes("x")).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(again->Truncate(0).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(text, "abc");
}

TEST(MemoryFileTest, EachByteIsItsOwnLock) {
  MemoryFile file;
  const auto other = file.Reopen();
  ASSERT_TRUE(IsOk(file.LockByte(int64_t{1} << 62, LockMode::kExclusive)));
  EXPECT_EQ(other->LockByte(int64_t{1} << 62, LockMode::kExclusive).code(),
            absl::StatusCode::kUnavailable);
  EXPECT_TRUE(IsOk(other->LockByte((int64_t{1} << 62) + 1, LockMode::kExclusive)));
  EXPECT_TRUE(IsOk(other->LockByte((int64_t{1} << 62) - 1, LockMode::kExclusive)));
}

TEST(MemoryFileTest, OnlySharedLocksGoTogether) {
  for (const LockMode held : {LockMode::kShared, LockMode::kExclusive}) {
    for (const LockMode wanted : {LockMode::kShared, LockMode::kExclusive}) {
      MemoryFile file;
      ASSERT_TRUE(IsOk(file.LockByte(7, held)));
      const bool together = held == LockMode::kShared && wanted == LockMode::kShared;
      EXPECT_EQ(file.Reopen()->LockByte(7, wanted).ok(), together);
    }
  }
}

TEST(MemoryFileTest, HolderMayChangeTheModeOfItsLock) {
  MemoryFile file;
  const auto other = file.Reopen();
  ASSERT_TRUE(IsOk(file.LockByte(7, LockMode::kShared)));
  ASSERT_TRUE(IsOk(file.LockByte(7, LockMode::kExclusive)));
  EXPECT_EQ(other->LockByte(7, LockMode::kShared).code(), absl::StatusCode::kUnavailable);
  ASSERT_TRUE(IsOk(file.LockByte(7, LockMode::kShared)));
  EXPECT_TRUE(IsOk(other->LockByte(7, LockMode::kShared)));
  EXPECT_EQ(file.LockByte(7, LockMode::kExclusive).code(), absl::StatusCode::kUnavailable);
}

TEST(MemoryFileTest, UnlockedByteIsFree) {
  MemoryFile file;
  const auto other = file.Reopen();
  ASSERT_TRUE(IsOk(file.LockByte(7, LockMode::kExclusive)));
  ASSERT_TRUE(IsOk(other->UnlockByte(7)));
  EXPECT_FALSE(other->LockByte(7, LockMode::kExclusive).ok());
  ASSERT_TRUE(IsOk(file.UnlockByte(7)));
  EXPECT_TRUE(IsOk(other->LockByte(7, LockMode::kExclusive)));
}

TEST(MemoryFileTest, LocksOfOthersAreSeenAnywhereInTheRange) {
  MemoryFile file;
  const auto other = file.Reopen();
  ASSERT_TRUE(IsOk(file.LockByte(7, LockMode::kShared)));
  EXPECT_TRUE(*other->IsLocked(0, 8));
  EXPECT_TRUE(*other->IsLocked(7, INT64_MAX - 6));
  EXPECT_FALSE(*other->IsLocked(0, 7));
  EXPECT_FALSE(*other->IsLocked(8, 100));
  EXPECT_FALSE(*file.IsLocked(0, 100));
}

TEST(MemoryFileTest, OnlyOneFileLocksTheWholeUntilItEnds) {
  MemoryFile file;
  auto holder = file.Reopen();
  ASSERT_TRUE(IsOk(holder->LockWhole()));
  EXPECT_TRUE(IsOk(holder->LockWhole()));
  EXPECT_EQ(file.LockWhole().code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(IsOk(file.LockByte(0, LockMode::kExclusive)));
  holder.reset();
  EXPECT_TRUE(IsOk(file.LockWhole()));
}

TEST(MemoryFileTest, HasNoHoles) {
  MemoryFile file("scratch");
  ASSERT_TRUE(IsOk(file.WriteAt(0, AsBytes("abc"))));
  const absl::Status status = file.PunchHole(0, 3);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(status.message().substr(0, 7), "scratch");
}

TEST(MemoryFileTest, LockEndsWithTheFileThatTookIt) {
  MemoryFile file;
  auto writer = file.Reopen();
  ASSERT_TRUE(IsOk(writer->LockByte(7, LockMode::kExclusive)));
  EXPECT_EQ(file.Reopen()->LockByte(7, LockMode::kExclusive).code(),
            absl::StatusCode::kUnavailable);
  writer.reset();
  EXPECT_TRUE(IsOk(file.LockByte(7, LockMode::kExclusive)));
}

}  // namespace
}  // namespace cairn::storage
