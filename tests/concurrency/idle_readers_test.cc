// Readers that stay with the state that they opened, while a writer works at full speed and uses
// the space again of all that none of them sees.
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/status.h"
#include "tests/concurrency/ledger.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::test {
namespace {

constexpr int kRounds = 300;
constexpr int kIdleReaders = 3;
constexpr int kLooks = 4;
constexpr int64_t kChunks = 20;

class IdleReadersTest : public testing::TestWithParam<Layout> {
 protected:
  // No chunk stays mapped: each look opens the files by name.
  absl::StatusOr<Frame> Open() {
    return Frame::Open(path_, {.verify = VerifyPolicy::kAlways,
                               .max_mapped_files = 1,
                               .file_system = Unowned(&files_),
                               .cache_memory = 0});
  }
  // Looks at one state several times.
  absl::Status StayWithOne() {
    CAIRN_ASSIGN_OR_RETURN(const Frame frame, Open());
    const Snapshot snapshot = frame.snapshot();
    CAIRN_ASSIGN_OR_RETURN(const Ledger seen, CheckWholeLedger(snapshot));
    for (int i = 0; i < kLooks; ++i) {
      std::this_thread::yield();
      CAIRN_ASSIGN_OR_RETURN(const Ledger again, CheckWholeLedger(snapshot));
      if (again != seen) return absl::InternalError("the state of an idle reader changed");
    }
    return absl::OkStatus();
  }
  absl::Status Write(LedgerKeeper& keeper);
  absl::Status WriteRound(Writer& writer, LedgerKeeper& keeper, int round);
  int64_t Files() const {
    int64_t count = 1;
    if (GetParam() == Layout::kSparse) {
      count = std::distance(std::filesystem::directory_iterator(path_), {});
    }
    return count;
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("frame");
  UnsyncedFileSystem files_;
  std::mt19937_64 random_{1 +
                          static_cast<uint64_t>(testing::UnitTest::GetInstance()->random_seed())};
};

absl::Status IdleReadersTest::WriteRound(Writer& writer, LedgerKeeper& keeper, int round) {
  for (int i = 0; i < 3; ++i) {
    const auto nchunk = 1 + static_cast<int64_t>(random_() % (kChunks - 1));
    CAIRN_RETURN_IF_ERROR(keeper.Rewrite(writer, nchunk));
    CAIRN_RETURN_IF_ERROR(keeper.Commit(writer, Durability::kProcess));
  }
  return round % 2 == 0 ? writer.Checkpoint() : absl::OkStatus();
}

// Another writer opens the frame now and then.
absl::Status IdleReadersTest::Write(LedgerKeeper& keeper) {
  std::optional<Writer> writer;
  for (int round = 0; round < kRounds; ++round) {
    if (round % 50 == 0) {
      writer.reset();
      CAIRN_ASSIGN_OR_RETURN(Frame frame, Open());
      CAIRN_ASSIGN_OR_RETURN(writer, frame.OpenWriter());
    }
    CAIRN_RETURN_IF_ERROR(WriteRound(*writer, keeper, round));
  }
  return writer->Close();
}

TEST_P(IdleReadersTest, SeeWhatTheyOpenedWhileAllElseIsUsedAgain) {
  CreateOptions options = LedgerOptions(GetParam());
  options.file_system = Unowned(&files_);
  auto frame = Frame::Create(path_, options);
  ASSERT_TRUE(IsOk(frame));
  LedgerKeeper keeper;
  {
    auto writer = frame->OpenWriter();
    ASSERT_TRUE(IsOk(writer));
    ASSERT_TRUE(IsOk(keeper.Begin(*writer)));
    ASSERT_TRUE(IsOk(keeper.Append(*writer, kChunks * kChunkItems - keeper.committed().nitems)));
    ASSERT_TRUE(IsOk(keeper.Commit(*writer, Durability::kProcess)));
    ASSERT_TRUE(IsOk(writer->Close()));
  }
  const auto oldest = Open();
  ASSERT_TRUE(IsOk(oldest));
  const auto first = CheckWholeLedger(oldest->snapshot());
  ASSERT_TRUE(IsOk(first));
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < kIdleReaders; ++i) {
    threads.emplace_back([&] {
      while (!done) {
        const absl::Status status = StayWithOne();
        EXPECT_TRUE(IsOk(status));
        if (!status.ok()) return;
      }
    });
  }
  EXPECT_TRUE(IsOk(Write(keeper)));
  done = true;
  for (std::thread& thread : threads) thread.join();
  const auto again = CheckWholeLedger(oldest->snapshot());
  ASSERT_TRUE(IsOk(again));
  EXPECT_EQ(*again, *first);
  // The first reader is left. A commit that changes nothing of the rest looks again.
  frame = Open();
  ASSERT_TRUE(IsOk(frame));
  auto writer = frame->OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(WriteRound(*writer, keeper, 0)));
  EXPECT_LE(Files(), 3 * kChunks + 3);
}

INSTANTIATE_TEST_SUITE_P(Layouts, IdleReadersTest,
                         testing::Values(Layout::kContiguous, Layout::kSparse),
                         [](const auto& info) {
                           return info.param == Layout::kSparse ? "Sparse" : "Contiguous";
                         });

}  // namespace
}  // namespace cairn::test
