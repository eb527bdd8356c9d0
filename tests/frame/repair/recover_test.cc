// Recover finds and mends what a crash or damage left.
#include "cairn/recover.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "tests/support/bytes.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/files.h"
#include "tests/support/frame_parts.h"
#include "tests/support/frames.h"
#include "tests/support/search.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::test {
namespace {

class RecoverTest : public testing::Test {
 protected:
  // A checkpoint of 100 bytes, two commits of 10 more, and what a dead writer left.
  void SetUp() override {
    ASSERT_TRUE(IsOk(WriteFrame(path_, PlainCopies(64), MakeNoise(100, 1))));
    data_ = MakeNoise(100, 1);
    {
      auto writer = Frame::Open(path_)->OpenWriter();
      for (uint64_t i = 2; i < 4; ++i) {
        ASSERT_TRUE(IsOk(writer->Append(MakeNoise(10, i))));
        ASSERT_TRUE(IsOk(writer->Commit()));
        const Buffer more = MakeNoise(10, i);
        data_.insert(data_.end(), more.begin(), more.end());
      }
    }
    bytes_ = FileBytes(path_);
    bytes_.resize(bytes_.size() + 777, std::byte{0x55});
    PutFileBytes(path_, bytes_);
  }
  void ExpectFolded() const {
    const auto frame = Frame::Open(path_);
    ASSERT_TRUE(IsOk(frame));
    EXPECT_EQ(DataOf(frame->snapshot()).value(), data_);
    EXPECT_EQ(frame->snapshot().info().journal_size, 0);
    EXPECT_EQ(frame->snapshot().info().frame_size, std::ssize(FileBytes(path_)));
    EXPECT_TRUE(frame->snapshot().Verify()->ok());
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
  Buffer data_;
  Buffer bytes_;
};

TEST_F(RecoverTest, CheckpointsTheJournalAndCutsTheRest) {
  const auto report = Recover(path_);
  ASSERT_TRUE(IsOk(report));
  EXPECT_FALSE(report->header_restored);
  EXPECT_EQ(report->commits, 2);
  EXPECT_EQ(report->generation, report->checkpoint_generation + 2);
  EXPECT_EQ(report->cut, 777);
  EXPECT_EQ(report->size_before, std::ssize(bytes_));
  EXPECT_EQ(report->size_after, std::ssize(FileBytes(path_)));
  ExpectFolded();
}

TEST_F(RecoverTest, DryRunReportsTheSameAndWritesNothing) {
  FaultFileSystem files;
  const auto report = Recover(path_, {.dry_run = true, .file_system = Unowned(&files)});
  ASSERT_TRUE(IsOk(report));
  EXPECT_EQ(report->commits, 2);
  EXPECT_EQ(report->cut, 777);
  EXPECT_EQ(files.operations(), 0);
  EXPECT_EQ(FileBytes(path_), bytes_);
}

TEST_F(RecoverTest, DamageThatItCannotMendIsReportedAlsoByADryRun) {
  const auto expect_told = [&](Buffer bytes) {
    PutFileBytes(path_, bytes);
    EXPECT_TRUE(absl::IsDataLoss(Recover(path_).status()));
    EXPECT_TRUE(absl::IsDataLoss(Recover(path_, {.dry_run = true}).status()));
    EXPECT_EQ(FileBytes(path_), bytes);
  };
  // The trailer's fingerprint.
  Buffer bytes = bytes_;
  bytes[static_cast<size_t>(PartsOf(bytes_).frame_size) - 1] ^= std::byte{1};
  expect_told(bytes);
  // The first commit after it.
  bytes = bytes_;
  bytes[static_cast<size_t>(PartsOf(bytes_).frame_size) + 60] ^= std::byte{1};
  expect_told(bytes);
}

TEST_F(RecoverTest, FrameThatFollowsIsNotCut) {
  ASSERT_TRUE(IsOk(Recover(path_)));
  Buffer twice = FileBytes(path_);
  twice.insert(twice.end(), twice.begin(), twice.begin() + std::ssize(twice));
  PutFileBytes(path_, twice);
  EXPECT_TRUE(absl::IsFailedPrecondition(Recover(path_).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(Recover(path_, {.dry_run = true}).status()));
  EXPECT_EQ(FileBytes(path_), twice);
}

TEST_F(RecoverTest, IntactFrameIsLeftAlone) {
  ASSERT_TRUE(IsOk(Recover(path_)));
  const Buffer well = FileBytes(path_);
  FaultFileSystem files;
  const auto report = Recover(path_, {.file_system = Unowned(&files)});
  ASSERT_TRUE(IsOk(report));
  EXPECT_EQ(report->commits, 0);
  EXPECT_EQ(report->cut, 0);
  EXPECT_EQ(files.operations(), 0);
  EXPECT_EQ(FileBytes(path_), well);
}

TEST_F(RecoverTest, RestoresALostHeaderAndReplaysTheJournal) {
  std::fill(bytes_.begin(), bytes_.begin() + 64, std::byte{0});
  PutFileBytes(path_, bytes_);
  EXPECT_TRUE(absl::IsInvalidArgument(Frame::Open(path_).status()));
  const auto dry = Recover(path_, {.dry_run = true});
  ASSERT_TRUE(IsOk(dry));
  EXPECT_TRUE(dry->header_restored);
  EXPECT_EQ(dry->commits, 2);
  EXPECT_EQ(FileBytes(path_), bytes_);
  const auto report = Recover(path_);
  ASSERT_TRUE(IsOk(report));
  EXPECT_TRUE(report->header_restored);
  ExpectFolded();
}

TEST_F(RecoverTest, EveryBitOfTheHeaderCanBeRestored) {
  const auto header_len = static_cast<size_t>(PartsOf(bytes_).header_len);
  UnsyncedFileSystem files;
  for (size_t bit = 0; bit < 8 * header_len; bit += kTryEach) {
    Buffer damaged = bytes_;
    damaged[bit / 8] ^= std::byte{1} << (bit % 8);
    PutFileBytes(path_, damaged);
    const auto report = Recover(path_, {.file_system = Unowned(&files)});
    ASSERT_TRUE(IsOk(report)) << bit;
    ExpectFolded();
  }
}

TEST_F(RecoverTest, HeaderThatLeadsToItsOwnTrailerIsNotReplacedByAnother) {
  // The index is damaged; an older checkpoint in the file is intact.
  ASSERT_TRUE(IsOk(Recover(path_)));
  Buffer damaged = FileBytes(path_);
  const FrameParts parts = PartsOf(damaged);
  std::fill_n(damaged.begin() + parts.index_begin, 16, std::byte{0});
  PutFileBytes(path_, damaged);
  EXPECT_TRUE(absl::IsDataLoss(Recover(path_).status()));
  EXPECT_EQ(FileBytes(path_), damaged);
}

TEST_F(RecoverTest, HeaderIsNotReplacedByAnOlderOneAlthoughItsOwnTrailerIsDamaged) {
  ASSERT_TRUE(IsOk(Recover(path_)));
  Buffer damaged = FileBytes(path_);
  const FrameParts parts = PartsOf(damaged);
  damaged[static_cast<size_t>(parts.frame_size) - 1] ^= std::byte{1};  // the fingerprint
  damaged[0x1e] ^= std::byte{0x80};                                    // the sign of nbytes
  PutFileBytes(path_, damaged);
  EXPECT_TRUE(absl::IsDataLoss(Recover(path_).status()));
  EXPECT_EQ(FileBytes(path_), damaged);
}

TEST_F(RecoverTest, WaitsForNoWriter) {
  auto frame = Frame::Open(path_);
  const auto writer = frame->OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  EXPECT_TRUE(absl::IsUnavailable(Recover(path_).status()));
  EXPECT_TRUE(IsOk(Recover(path_, {.dry_run = true})));
}

// Puts another file in place of the one that is opened for writing first.
class ReplacedFiles final : public UnsyncedFileSystem {
 public:
  explicit ReplacedFiles(std::string next) : next_(std::move(next)) {}
  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, FileMode mode) override {
    auto file = UnsyncedFileSystem::Open(path, mode);
    if (mode == FileMode::kReadWrite && !next_.empty()) {
      std::filesystem::rename(path, path + ".old");
      std::filesystem::rename(std::exchange(next_, {}), path);
    }
    return file;
  }

 private:
  std::string next_;
};

TEST_F(RecoverTest, RestoresTheHeaderOfTheFileThatHasTheNameWhenItIsLocked) {
  std::fill(bytes_.begin(), bytes_.begin() + 64, std::byte{0});
  PutFileBytes(path_, bytes_);
  PutFileBytes(dir_.Path("next"), bytes_);
  ReplacedFiles files(dir_.Path("next"));
  const auto report = Recover(path_, {.file_system = Unowned(&files)});
  ASSERT_TRUE(IsOk(report));
  EXPECT_TRUE(report->header_restored);
  ExpectFolded();
  EXPECT_EQ(FileBytes(path_ + ".old"), bytes_);
}

TEST_F(RecoverTest, WhatIsNoFrameStaysWhatItIs) {
  PutFileBytes(path_, MakeNoise(5000, 9));
  EXPECT_TRUE(absl::IsInvalidArgument(Recover(path_).status()));
  EXPECT_EQ(FileBytes(path_), MakeNoise(5000, 9));
  EXPECT_TRUE(absl::IsNotFound(Recover(dir_.Path("nothing")).status()));
}

}  // namespace
}  // namespace cairn::test
