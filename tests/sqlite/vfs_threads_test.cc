// Threads of one process, each with connections of its own, write and read one database.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "engine/base/status.h"
#include "tests/sqlite/bank.h"
#include "tests/sqlite/database.h"
#include "tests/support/search.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tools/sqlite/vfs/vfs.h"

namespace cairn::test {
namespace {

constexpr int kWriters = 4;
constexpr int kReaders = 2;

// Milliseconds that a writer is kept, PRAGMA synchronous of each second writer and of the others.
class VfsThreadsTest : public testing::TestWithParam<std::tuple<int, const char*, const char*>> {
 protected:
  VfsThreadsTest() {
    const int keep = std::get<0>(GetParam());
    vfs_ = keep == 0 ? "kept 0 ms" : keep == 1 ? "kept 1 ms" : "kept 10 ms";
    EXPECT_EQ(sqlite::RegisterVfs(vfs_, {.keep = std::chrono::milliseconds(keep)}), SQLITE_OK);
  }

  absl::StatusOr<Database> Open() const {
    CAIRN_ASSIGN_OR_RETURN(Database database, Database::OpenBy(vfs_, path_));
    CAIRN_RETURN_IF_ERROR(database.Execute("PRAGMA busy_timeout=100000"));
    return database;
  }

  // Each transaction gets the number after the newest one.
  absl::Status Write(int writer) {
    std::mt19937_64 random(static_cast<uint64_t>(writer));
    int64_t last_round = 0;
    for (int left = times_; left > 0;) {
      CAIRN_ASSIGN_OR_RETURN(Database database, Open());
      CAIRN_RETURN_IF_ERROR(database.Execute(
          absl::StrCat("PRAGMA synchronous=",
                       writer % 2 == 0 ? std::get<1>(GetParam()) : std::get<2>(GetParam()))));
      for (int i = 0; i < 7 && left > 0; ++i, --left) {
        CAIRN_RETURN_IF_ERROR(database.Execute("BEGIN IMMEDIATE"));
        CAIRN_ASSIGN_OR_RETURN(const int64_t before,
                               database.Number("SELECT count(*) FROM ledger"));
        CAIRN_RETURN_IF_ERROR(Bank(database).Move(before + 1, random));
        CAIRN_RETURN_IF_ERROR(database.Execute("COMMIT"));
        ++committed_;
        // After some transactions all have nothing to do for a while.
        const int64_t round = committed_ / 10;
        if (round != last_round) std::this_thread::sleep_for(std::chrono::milliseconds(3));
        last_round = round;
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadUntilDone() {
    int64_t newest = 0;
    while (!done_) {
      CAIRN_ASSIGN_OR_RETURN(Database database, Open());
      for (int i = 0; i < 5; ++i) {
        CAIRN_ASSIGN_OR_RETURN(const int64_t found, Bank(database).Check());
        if (found < newest) return absl::DataLossError("a reader goes back");
        newest = found;
      }
    }
    return absl::OkStatus();
  }

  TempDir directory_;
  const std::string path_ = directory_.Path("bank.db");
  const char* vfs_ = nullptr;
  const int times_ = static_cast<int>(SearchRuns(60));
  std::atomic<int64_t> committed_ = 0;
  std::atomic<bool> done_ = false;
};

TEST_P(VfsThreadsTest, WriteInTurnWhileOthersRead) {
  {
    absl::StatusOr<Database> database = Open();
    ASSERT_TRUE(IsOk(database));
    ASSERT_TRUE(IsOk(Bank(*database).Create(4096)));
  }
  std::vector<absl::Status> ends(kWriters + kReaders);
  std::vector<std::thread> readers, writers;
  for (int i = 0; i < kReaders; ++i) {
    readers.emplace_back([&, i] { ends[static_cast<size_t>(kWriters + i)] = ReadUntilDone(); });
  }
  for (int i = 0; i < kWriters; ++i) {
    writers.emplace_back([&, i] { ends[static_cast<size_t>(i)] = Write(i); });
  }
  for (std::thread& writer : writers) writer.join();
  done_ = true;
  for (std::thread& reader : readers) reader.join();
  for (const absl::Status& end : ends) EXPECT_TRUE(IsOk(end));
  absl::StatusOr<Database> database = Open();
  ASSERT_TRUE(IsOk(database));
  const absl::StatusOr<int64_t> newest = Bank(*database).Check();
  ASSERT_TRUE(IsOk(newest));
  EXPECT_EQ(*newest, kWriters * times_);
  EXPECT_EQ(committed_, *newest);
}

INSTANTIATE_TEST_SUITE_P(All, VfsThreadsTest,
                         testing::Values(std::tuple(0, "FULL", "OFF"),
                                         std::tuple(1, "FULL", "FULL"),
                                         std::tuple(1, "FULL", "OFF"), std::tuple(1, "OFF", "OFF"),
                                         std::tuple(10, "OFF", "OFF")),
                         [](const auto& parameters) {
                           return absl::StrCat("Kept", std::get<0>(parameters.param),
                                               std::get<1>(parameters.param),
                                               std::get<2>(parameters.param));
                         });

}  // namespace
}  // namespace cairn::test
