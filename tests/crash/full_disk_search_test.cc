// Random calls on a disk that other files fill again and again. Chunks can be deleted and their
// space reclaimed at any time, what was freed takes new data, and no refusal ends a writer.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/crash/filler.h"
#include "tests/support/bytes.h"
#include "tests/support/dice.h"
#include "tests/support/frames.h"
#include "tests/support/search.h"
#include "tests/support/simulated_disk.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

constexpr int64_t kDiskBytes = 2 << 20;
constexpr int64_t kDiskBlock = 4096;
constexpr int kSteps = 60;

// A frame, what it should hold, and the disk that it shares with a file of others.
class CrowdedDisk {
 public:
  CrowdedDisk(Layout layout, uint64_t seed) : dice_(seed) {
    disk_.SetCapacity(kDiskBytes);
    if (NumberIn("CAIRN_CRASH_RUN", 0) != 0) {
      disk_.Judge([this](const DiskOperation& operation) {
        std::printf("  %s, %lld free\n", ToString(operation).c_str(),
                    static_cast<long long>(disk_.Free()));
        return Fate();
      });
    }
    chunksize_ = static_cast<int32_t>(500 + dice_.Below(12'000));
    CreateOptions options = Cut(1, chunksize_);
    options.layout = layout;
    options.file_system = disk_.root();
    writer_ = Frame::BeginCreate("f", options);
    EXPECT_TRUE(IsOk(writer_));
    EXPECT_TRUE(IsOk(writer_->SetVlmetalayer("layer", MakeNoise(60, 1))));
    EXPECT_TRUE(IsOk(Append(20 * int64_t{chunksize_})));
    Reopen();
  }

  void Run() {
    for (int i = 0; i < kSteps && !testing::Test::HasFailure(); ++i) Step();
    if (testing::Test::HasFailure()) return;
    ExpectFreedSpaceIsUsed();
  }

  // Returns how many calls the full disk refused.
  int refused() const { return refused_; }

 private:
  void Say(const char* what, int64_t size = 0) {
    if (NumberIn("CAIRN_CRASH_RUN", 0) == 0) return;
    std::printf("%s %lld: %lld chunks, %lld free\n", what, static_cast<long long>(size),
                static_cast<long long>(Chunks()), static_cast<long long>(disk_.Free()));
  }
  int64_t Chunks() const { return std::ssize(expected_) / chunksize_; }
  Durability AnyDurability() {
    return dice_.Percent(50) ? Durability::kMachine : Durability::kProcess;
  }

  void Step() {
    if (dice_.Percent(70)) LeaveFree(disk_, static_cast<int64_t>(dice_.Below(3)) * 2 * kDiskBlock);
    if (dice_.Percent(5)) LeaveFree(disk_, static_cast<int64_t>(dice_.Below(100)) * kDiskBlock);
    switch (dice_.Below(9)) {
      case 0:
      case 1:
      case 2:
        Append();
        break;
      case 3:
        Update();
        break;
      case 4:
      case 5:
        Delete();
        break;
      case 6:
        Reclaim();
        break;
      case 7:
        SetLayer();
        break;
      default:
        dice_.Percent(50) ? Reopen() : Checkpoint();
    }
    const absl::StatusOr<Frame> frame = Frame::Open("f", {.file_system = disk_.root()});
    ASSERT_TRUE(IsOk(frame));
    ExpectHolds(frame->snapshot(), expected_);
  }

  // Half of the bytes cannot be compressed, or all.
  Buffer Items(int64_t size) {
    Buffer items = MakeNoise(static_cast<size_t>(size), dice_.Next());
    if (dice_.Percent(50)) std::fill(items.begin() + size / 2, items.end(), std::byte{0});
    return items;
  }

  // A refused call leaves everything as it was, and the writer goes on.
  void Take(const absl::Status& status, Buffer after) {
    if (status.ok()) {
      expected_ = std::move(after);
      return;
    }
    ++refused_;
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
    writer_->Rollback();
    EXPECT_TRUE(IsOk(writer_->Commit(Durability::kProcess)));
  }

  absl::Status Append(int64_t size) {
    const Buffer items = Items(size);
    absl::Status status = writer_->Append(items);
    if (status.ok()) status = writer_->Commit(AnyDurability()).status();
    Buffer after = expected_;
    AddTo(after, items);
    Take(status, std::move(after));
    return status;
  }
  void Append() {
    const int64_t chunks = dice_.Percent(30) ? 20 : 3;
    auto size = 1 + static_cast<int64_t>(dice_.Below(static_cast<size_t>(chunks * chunksize_)));
    if (dice_.Percent(50)) size += chunksize_ - (std::ssize(expected_) + size) % chunksize_;
    const absl::Status status = Append(size);
    Say(status.ok() ? "append" : "append refused", size);
  }
  void Update() {
    // An update encodes pending items first, which makes the frame smaller and may use the reserve.
    if (Chunks() == 0 || std::ssize(expected_) % chunksize_ != 0) return;
    const auto first = static_cast<int64_t>(dice_.Below(static_cast<size_t>(Chunks())));
    const int64_t end = std::min(Chunks(), first + 1 + static_cast<int64_t>(dice_.Below(10)));
    Buffer after = expected_;
    absl::Status status;
    for (int64_t i = first; i < end && status.ok(); ++i) {
      // Smaller chunks might use the reserve, as deletions do.
      const Buffer items = MakeNoise(static_cast<size_t>(chunksize_), dice_.Next());
      status = writer_->UpdateChunk(i, items);
      std::ranges::copy(items, after.begin() + i * chunksize_);
    }
    if (status.ok()) status = writer_->Commit(AnyDurability()).status();
    Take(status, std::move(after));
    Say(status.ok() ? "update" : "update refused", end - first);
  }
  void Delete() {
    if (Chunks() == 0) return;
    const auto first = static_cast<int64_t>(dice_.Below(static_cast<size_t>(Chunks())));
    Delete(first, std::min(Chunks(), first + 1 + static_cast<int64_t>(dice_.Below(8))));
  }
  void Delete(int64_t first, int64_t end) {
    const absl::Status staged = writer_->DeleteChunks(first, end - first);
    ASSERT_TRUE(IsOk(staged));
    const absl::Status status = writer_->Commit(AnyDurability()).status();
    EXPECT_TRUE(IsOk(status));
    Buffer after = expected_;
    after.erase(after.begin() + first * chunksize_, after.begin() + end * chunksize_);
    Take(status, std::move(after));
    Say("delete", end - first);
  }
  // Sets a layer of the same size, such as the limits of a log.
  void SetLayer() {
    if (expected_.empty()) return;  // a frame without items needs a new file
    ASSERT_TRUE(IsOk(writer_->SetVlmetalayer("layer", MakeNoise(60, dice_.Next()))));
    EXPECT_TRUE(IsOk(writer_->Commit(AnyDurability())));
    Say("layer");
  }
  void Reclaim() {
    EXPECT_TRUE(IsOk(writer_->Reclaim()));
    Say("reclaim");
  }
  void Checkpoint() {
    EXPECT_TRUE(IsOk(writer_->Checkpoint()));
    Say("checkpoint");
  }
  void Reopen() {
    if (dice_.Percent(50)) {
      EXPECT_TRUE(IsOk(writer_->Close()));
    }
    writer_ = absl::CancelledError();
    absl::StatusOr<Frame> frame = Frame::Open("f", {.file_system = disk_.root()});
    ASSERT_TRUE(IsOk(frame));
    writer_ = frame->OpenWriter({.staged_memory = dice_.Percent(50) ? 0 : 1 << 20});
    ASSERT_TRUE(IsOk(writer_));
    Say("reopen");
  }

  // The disk is full, chunks go, and new ones take their place.
  void ExpectFreedSpaceIsUsed() {
    LeaveFree(disk_, 0);
    const int64_t deleted = Chunks() / 2;
    if (deleted == 0) return;
    Delete(0, deleted);
    Reclaim();
    const int64_t most = deleted * chunksize_ / 3 - 8 * kDiskBlock - 2 * chunksize_;
    for (int64_t size = 0; size < most && !testing::Test::HasFailure(); size += chunksize_) {
      EXPECT_TRUE(IsOk(Append(chunksize_))) << size << " of " << most << " bytes";
    }
  }

  Dice dice_;
  SimulatedDisk disk_;
  int32_t chunksize_ = 0;
  absl::StatusOr<Writer> writer_;
  Buffer expected_;
  int refused_ = 0;
};

class FullDiskSearchTest : public testing::TestWithParam<Layout> {};

TEST_P(FullDiskSearchTest, DeletingAndReclaimingAlwaysWorkAndNoRefusalEndsAWriter) {
  int refused = 0;
  ForEachSeed(300, [&](uint64_t seed) {
    if (HasFailure()) return;
    SCOPED_TRACE(testing::Message() << "CAIRN_CRASH_RUN=" << seed);
    CrowdedDisk disk(GetParam(), seed);
    disk.Run();
    refused += disk.refused();
  });
  EXPECT_TRUE(refused > 0 || NumberIn("CAIRN_CRASH_RUN", 0) != 0);
}

INSTANTIATE_TEST_SUITE_P(Layouts, FullDiskSearchTest,
                         testing::Values(Layout::kContiguous, Layout::kSparse),
                         [](const auto& info) {
                           return info.param == Layout::kSparse ? "Sparse" : "Contiguous";
                         });

}  // namespace
}  // namespace cairn::test
