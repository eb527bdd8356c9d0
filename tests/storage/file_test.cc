// Tests the promises of every File, with each kind.
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include <gtest/gtest.h>

#include "cairn/file_system.h"
#include "engine/base/bytes.h"
#include "engine/storage/memory_file_system.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::storage {
namespace {

struct Kind {
  std::string name;
  std::function<std::unique_ptr<File>(const test::TempDir&)> make;
};

// The bytes of a short name are not all set, so they cannot be shown.
void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

std::unique_ptr<File> MakePosix(const test::TempDir& dir) {
  return *PosixFileSystem()->Open(dir.Path("file"), FileMode::kCreateNew);
}

std::unique_ptr<File> MakeMemory(const test::TempDir& /*dir*/) {
  return std::make_unique<MemoryFile>("file");
}

// Bytes that differ from their neighbours, so that a shifted one shows.
std::string Pattern(size_t size) {
  std::string text(size, '\0');
  for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 7 + (i >> 8));
  return text;
}

class FileTest : public testing::TestWithParam<Kind> {
 protected:
  std::string Read(int64_t offset, size_t size) const {
    std::string text(size, '?');
    const absl::Status status = file_->ReadAt(offset, std::as_writable_bytes(std::span(text)));
    return status.ok() ? text : std::string(status.message());
  }
  absl::StatusCode ReadCode(int64_t offset, size_t size) const {
    std::vector<std::byte> sink(size);
    return file_->ReadAt(offset, sink).code();
  }
  void Write(int64_t offset, std::string_view text) {
    ASSERT_TRUE(IsOk(file_->WriteAt(offset, AsBytes(text))));
  }

  test::TempDir dir_;
  std::unique_ptr<File> file_ = GetParam().make(dir_);
};

TEST_P(FileTest, NewFileIsEmpty) {
  EXPECT_EQ(*file_->Size(), 0);
  EXPECT_EQ(ReadCode(0, 1), absl::StatusCode::kOutOfRange);
}

TEST_P(FileTest, ReadsBackWhatWasWritten) {
  const std::string text = Pattern(100000);
  Write(0, text);
  EXPECT_EQ(*file_->Size(), 100000);
  EXPECT_EQ(Read(0, 100000), text);
  EXPECT_EQ(Read(4095, 3), text.substr(4095, 3));
}

TEST_P(FileTest, OverwritesInPlace) {
  Write(0, "abcdef");
  Write(2, "XY");
  EXPECT_EQ(Read(0, 6), "abXYef");
  EXPECT_EQ(*file_->Size(), 6);
}

TEST_P(FileTest, WriteAcrossTheEndExtends) {
  Write(0, "abc");
  Write(2, "CDE");
  EXPECT_EQ(Read(0, 5), "abCDE");
}

TEST_P(FileTest, GapAfterTheEndIsZero) {
  Write(0, "ab");
  Write(5, "c");
  EXPECT_EQ(Read(0, 6), std::string("ab\0\0\0c", 6));
}

TEST_P(FileTest, EmptyWritePastTheEndChangesNothing) {
  EXPECT_TRUE(IsOk(file_->WriteAt(100, {})));
  EXPECT_EQ(*file_->Size(), 0);
}

TEST_P(FileTest, ReadPastTheEndIsOutOfRangeAndNamesTheFile) {
  Write(0, "abc");
  EXPECT_EQ(ReadCode(1, 3), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(ReadCode(3, 1), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(ReadCode(1000, 1), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(ReadCode(-1, 1), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(ReadCode(INT64_MAX, 1), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(ReadCode(3, 0), absl::StatusCode::kOk);
  EXPECT_TRUE(absl::StrContains(Read(1, 3), "file: 3 bytes asked for at offset 1, the file has 3"));
}

TEST_P(FileTest, ReadSomeStopsAtTheEnd) {
  const std::string text = Pattern(10000);
  Write(0, text);
  std::string sink(20000, '?');
  const MutableBytes dst = std::as_writable_bytes(std::span(sink));
  EXPECT_EQ(*file_->ReadSome(0, dst.first(9000)), 9000);
  EXPECT_EQ(sink.substr(0, 9001), text.substr(0, 9000) + "?");
  EXPECT_EQ(*file_->ReadSome(4095, dst), 5905);
  EXPECT_EQ(sink.substr(0, 5905), text.substr(4095));
  EXPECT_EQ(*file_->ReadSome(10000, dst), 0);
  EXPECT_EQ(*file_->ReadSome(INT64_MAX, dst), 0);
  EXPECT_EQ(*file_->ReadSome(0, {}), 0);
  EXPECT_EQ(file_->ReadSome(-1, dst).status().code(), absl::StatusCode::kOutOfRange);
}

TEST_P(FileTest, ReserveKeepsTheBytesAndThoseItAddsAreZero) {
  Write(0, "abc");
  const absl::Status status = file_->Reserve(2);
  if (absl::IsUnimplemented(status)) GTEST_SKIP() << status;
  ASSERT_TRUE(IsOk(status));
  EXPECT_EQ(*file_->Size(), 3);
  ASSERT_TRUE(IsOk(file_->Reserve(100000)));
  ASSERT_TRUE(IsOk(file_->WriteAt(99999, AsBytes("z"))));
  EXPECT_EQ(Read(0, 100000), "abc" + std::string(99996, '\0') + "z");
  EXPECT_EQ(*file_->Size(), 100000);
}

TEST_P(FileTest, AllocatedSizeGrowsWithTheFile) {
  EXPECT_EQ(*file_->AllocatedSize(), 0);
  Write(0, Pattern(100000));
  ASSERT_TRUE(IsOk(file_->Sync(SyncMode::kAll)));
  EXPECT_GE(*file_->AllocatedSize(), 100000);
}

TEST_P(FileTest, PunchedBytesAreZeroAndTheSizeStays) {
  const std::string text = Pattern(20000);
  Write(0, text);
  const absl::Status status = file_->PunchHole(5000, 10000);
  EXPECT_EQ(*file_->Size(), 20000);
  if (absl::IsUnimplemented(status)) GTEST_SKIP() << status;
  ASSERT_TRUE(IsOk(status));
  EXPECT_EQ(Read(0, 20000), text.substr(0, 5000) + std::string(10000, '\0') + text.substr(15000));
  EXPECT_TRUE(IsOk(file_->PunchHole(0, 0)));
  EXPECT_EQ(Read(0, 1), text.substr(0, 1));
}

TEST_P(FileTest, ImpossibleRangesAreRefused) {
  const Bytes one = AsBytes("x");
  EXPECT_EQ(file_->WriteAt(-1, one).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(file_->WriteAt(INT64_MAX, one).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(file_->Truncate(-1).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(file_->Reserve(-1).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(file_->PunchHole(-1, 1).ok());
  EXPECT_EQ(file_->LockByte(-1, LockMode::kExclusive).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(file_->UnlockByte(-1).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(file_->IsLocked(-1, 1).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(file_->IsLocked(0, -1).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(file_->IsLocked(INT64_MAX, 2).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(*file_->Size(), 0);
}

TEST_P(FileTest, TruncateShrinksAndGrowsWithZeros) {
  Write(0, "abcdef");
  ASSERT_TRUE(IsOk(file_->Truncate(2)));
  EXPECT_EQ(*file_->Size(), 2);
  EXPECT_EQ(ReadCode(0, 3), absl::StatusCode::kOutOfRange);
  ASSERT_TRUE(IsOk(file_->Truncate(4)));
  EXPECT_EQ(Read(0, 4), std::string("ab\0\0", 4));
}

TEST_P(FileTest, SyncsInBothModes) {
  Write(0, "abc");
  EXPECT_TRUE(IsOk(file_->Sync(SyncMode::kData)));
  EXPECT_TRUE(IsOk(file_->Sync(SyncMode::kAll)));
}

TEST_P(FileTest, MapsAnyRangeInPlace) {
  const std::string text = Pattern(20000);
  Write(0, text);
  for (const int64_t offset : {0, 1, 4095, 4096, 4097, 19999}) {
    for (const int64_t size : {1, 100, 4096, 12000}) {
      if (offset + size > 20000) continue;
      const auto mapping = file_->Map(offset, size, 0);
      ASSERT_TRUE(IsOk(mapping));
      EXPECT_EQ(AsText((*mapping)->bytes()), text.substr(offset, size)) << offset << " " << size;
    }
  }
}

TEST_P(FileTest, MapOfNothingIsEmpty) {
  Write(0, "abc");
  for (const int64_t offset : {0, 3}) {
    const auto mapping = file_->Map(offset, 0, 0);
    ASSERT_TRUE(IsOk(mapping));
    EXPECT_TRUE((*mapping)->bytes().empty());
  }
}

TEST_P(FileTest, MapPastTheEndIsOutOfRange) {
  Write(0, "abc");
  EXPECT_EQ(file_->Map(0, 4, 0).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(file_->Map(4, 0, 0).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(file_->Map(-1, 1, 0).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(file_->Map(1, -1, 0).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(file_->Map(INT64_MAX, INT64_MAX, 0).status().code(), absl::StatusCode::kOutOfRange);
}

TEST_P(FileTest, MappingSeesLaterWrites) {
  Write(0, "abc");
  const auto mapping = *file_->Map(0, 3, 0);
  Write(1, "X");
  EXPECT_EQ(AsText(mapping->bytes()), "aXc");
}

TEST_P(FileTest, MappingWithHeadroomShowsAtLeastWhatWasAskedFor) {
  Write(0, "abcdef");
  const auto mapping = *file_->Map(1, 4, 100000);
  ASSERT_GE(mapping->bytes().size(), 4);
  EXPECT_LE(mapping->bytes().size(), 100004);
  EXPECT_EQ(AsText(mapping->bytes().first(4)), "bcde");
  EXPECT_EQ(file_->Map(0, 7, 100).status().code(), absl::StatusCode::kOutOfRange);
}

TEST_P(FileTest, MappingOutlivesItsFile) {
  Write(0, "abcdef");
  const auto mapping = *file_->Map(1, 4, 0);
  file_.reset();
  EXPECT_EQ(AsText(mapping->bytes()), "bcde");
}

TEST_P(FileTest, MappingStaysWhileTheFileGrows) {
  const std::string text = Pattern(5000);
  Write(0, text);
  const auto mapping = *file_->Map(0, 5000, 0);
  const std::byte* const place = mapping->bytes().data();
  for (int64_t end = 5000; end < 4 << 20; end *= 2) Write(end, "tail");
  EXPECT_EQ(mapping->bytes().data(), place);
  EXPECT_EQ(AsText(mapping->bytes()), text);
}

TEST_P(FileTest, MappedBytesCanBeWrittenBackToTheirFile) {
  Write(0, "abcdef");
  const auto mapping = *file_->Map(0, 6, 0);
  ASSERT_TRUE(IsOk(file_->WriteAt(0, mapping->bytes())));
  ASSERT_TRUE(IsOk(file_->WriteAt(6, mapping->bytes())));
  EXPECT_EQ(Read(0, 12), "abcdefabcdef");
}

TEST_P(FileTest, ThreadsReadAndWriteAtTheSameTime) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 200;
  const std::string text = Pattern(1000);
  Write(0, text);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRounds; ++i) {
        const int64_t mine = 1000 + 1000 * (int64_t{i} * kThreads + t);
        EXPECT_TRUE(IsOk(file_->WriteAt(mine, AsBytes(text))));
        EXPECT_EQ(Read(mine, 1000), text);
        EXPECT_EQ(Read(0, 1000), text);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(*file_->Size(), 1000 + 1000 * kThreads * kRounds);
}

INSTANTIATE_TEST_SUITE_P(Storage, FileTest,
                         testing::Values(Kind{"Posix", MakePosix}, Kind{"Memory", MakeMemory}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace cairn::storage
