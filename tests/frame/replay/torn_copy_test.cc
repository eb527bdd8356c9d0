// Copies that a program makes of a frame's file while a writer is at work: their bytes are of
// different moments.
#include <algorithm>
#include <iostream>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/support/bytes.h"
#include "tests/support/dice.h"
#include "tests/support/frames.h"
#include "tests/support/simulated_disk.h"
#include "tests/support/status.h"
#include "tests/support/unowned.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::test {
namespace {

constexpr char kFrame[] = "frame";
constexpr char kCopy[] = "copy";
constexpr size_t kPiece = 512;

// Writes sector by sector, so that other processes see parts of a write.
class SectorFile final : public UnsyncedFile {
 public:
  using UnsyncedFile::UnsyncedFile;
  absl::Status WriteAt(int64_t offset, Bytes src) override {
    while (!src.empty()) {
      const size_t size = std::min(src.size(), kPiece - static_cast<size_t>(offset) % kPiece);
      const absl::Status status = UnsyncedFile::WriteAt(offset, src.first(size));
      if (!status.ok()) return status;
      src = src.subspan(size);
      offset += static_cast<int64_t>(size);
    }
    return absl::OkStatus();
  }
};

class SectorFiles final : public UnsyncedFileSystem {
 public:
  using UnsyncedFileSystem::UnsyncedFileSystem;
  absl::StatusOr<std::unique_ptr<File>> WrapFile(std::unique_ptr<File> file, const std::string&,
                                                 FileMode) override {
    return std::make_unique<SectorFile>(std::move(file));
  }
};

// Counts of the results of the copies.
struct Outcomes {
  int64_t committed = 0;  // a committed state, intact
  int64_t refused = 0;    // does not open
  int64_t damaged = 0;    // opens, and reports a chunk or a section as damaged
  int64_t wrong = 0;      // anything else
};

// A writer at work, and a program that copies its file piece by piece meanwhile.
class Copier {
 public:
  Copier(uint64_t seed, bool forwards) : dice_(seed), forwards_(forwards) {
    CreateOptions options = PlainCopies(600);
    options.file_system = Unowned(&files_);
    EXPECT_TRUE(IsOk(Frame::Create(kFrame, options)));
    frame_.emplace(*Frame::Open(kFrame, {.file_system = Unowned(&files_)}));
    writer_.emplace(*frame_->OpenWriter());
    Remember(*writer_->StagedSnapshot());
  }

  void Run(Outcomes& outcomes) {
    for (int i = 0; i < 12; ++i) Step();
    // The copy begins between two operations of the writer, and takes some pieces between others.
    rate_ = 1 + dice_.Below(3);
    copying_ = true;
    disk_.Judge([this](const DiskOperation&) {
      for (size_t n = dice_.Below(rate_ + 1); n > 0; --n) TakePiece();
      return Fate();
    });
    for (int i = 0; i < 120 && copying_; ++i) Step();
    disk_.Judge({});
    while (copying_) TakePiece();
    Look(outcomes);
  }

 private:
  void Remember(const Snapshot& snapshot) { contents_.insert(*snapshot.ContentHash()); }

  void Step() {
    const size_t what = dice_.Below(10);
    if (what < 5) {
      ASSERT_TRUE(IsOk(writer_->Append(MakeNoise(1 + dice_.Below(2500), seed_++))));
    } else if (what < 7 && writer_->StagedSnapshot()->info().nchunks > 1) {
      ASSERT_TRUE(IsOk(writer_->UpdateChunk(0, MakeNoise(600, seed_++))));
    } else if (what == 7) {
      ASSERT_TRUE(IsOk(writer_->SetVlmetalayer("v", MakeNoise(50, seed_++))));
    }
    // Its content may be seen before the call returns.
    Remember(*writer_->StagedSnapshot());
    if (what == 9) {
      ASSERT_TRUE(IsOk(writer_->Checkpoint()));
    }
    const auto committed =
        writer_->Commit(dice_.Percent(50) ? Durability::kProcess : Durability::kMachine);
    ASSERT_TRUE(IsOk(committed));
    end_ = static_cast<size_t>(committed->info().frame_size + committed->info().journal_size);
  }

  void TakePiece() {
    if (!copying_) return;
    const auto file = *disk_.root()->Open(kFrame, FileMode::kRead);
    // The bytes after the newest commit are reserved.
    constexpr size_t kMost = 16 << 10;
    const size_t size = std::min(static_cast<size_t>(*file->Size()), end_ + kMost);
    if (piece_ == 0) pieces_ = end_ / kPiece + 1;
    const size_t at = (forwards_ ? piece_ : pieces_ - 1 - piece_) * kPiece;
    if (at < size) {
      const size_t count = std::min(kPiece, size - at);
      if (copy_.size() < at + count) copy_.resize(at + count);
      EXPECT_TRUE(
          IsOk(file->ReadAt(static_cast<int64_t>(at), MutableBytes(copy_).subspan(at, count))));
    }
    ++piece_;
    copying_ = forwards_ ? at + kPiece < size : piece_ < pieces_;
  }

  void Look(Outcomes& outcomes) {
    {
      const auto file = *disk_.root()->Open(kCopy, FileMode::kCreateNew);
      ASSERT_TRUE(IsOk(file->WriteAt(0, copy_)));
    }
    const auto copy = Frame::Open(kCopy, {.file_system = disk_.root()});
    if (!copy.ok()) {
      ++outcomes.refused;
      return;
    }
    const bool intact = copy->snapshot().Verify()->ok() && !copy->snapshot().info().journal_damaged;
    const auto content = copy->snapshot().ContentHash();
    if (!intact) {
      ++outcomes.damaged;
    } else if (content.ok() && contents_.contains(*content)) {
      ++outcomes.committed;
    } else {
      ++outcomes.wrong;
    }
  }

  Dice dice_;
  const bool forwards_;
  SimulatedDisk disk_;
  SectorFiles files_{disk_.root()};
  std::optional<Frame> frame_;
  std::optional<Writer> writer_;
  std::set<uint64_t> contents_;
  uint64_t seed_ = 1;
  size_t rate_ = 1;
  size_t end_ = 0;  // of the newest commit
  Buffer copy_;
  bool copying_ = false;
  size_t piece_ = 0;
  size_t pieces_ = 0;
};

Outcomes CopyOften(bool forwards) {
  Outcomes outcomes;
  for (uint64_t seed = 1; seed <= 150; ++seed) Copier(seed, forwards).Run(outcomes);
  testing::Test::RecordProperty("committed", std::to_string(outcomes.committed));
  testing::Test::RecordProperty("refused", std::to_string(outcomes.refused));
  testing::Test::RecordProperty("damaged", std::to_string(outcomes.damaged));
  std::cout << "committed " << outcomes.committed << ", refused " << outcomes.refused
            << ", damaged " << outcomes.damaged << ", wrong " << outcomes.wrong << '\n';
  return outcomes;
}

TEST(TornCopyTest, CopyFromFrontToBackIsACommittedStateOrReportsDamage) {
  const Outcomes outcomes = CopyOften(true);
  EXPECT_EQ(outcomes.wrong, 0);
  EXPECT_GT(outcomes.committed, 0);
}

TEST(TornCopyTest, CopyFromBackToFrontIsNeverTakenForWhatItIsNot) {
  const Outcomes outcomes = CopyOften(false);
  EXPECT_EQ(outcomes.wrong, 0);
  EXPECT_GT(outcomes.refused + outcomes.damaged, 0);
}

}  // namespace
}  // namespace cairn::test
