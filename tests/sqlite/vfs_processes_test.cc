// Processes that read and write one database at the same time.
#include <string>
#include <unistd.h>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "engine/base/status.h"
#include "tests/sqlite/bank.h"
#include "tests/sqlite/children.h"
#include "tests/sqlite/database.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

class VfsProcessesTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(EndsWell(Begin("creator", [&]() -> absl::Status {
      CAIRN_ASSIGN_OR_RETURN(Database database, Open());
      CAIRN_RETURN_IF_ERROR(Bank(database).Create(4096));
      return database.Execute(
          "CREATE TABLE counters(id INTEGER PRIMARY KEY, value INTEGER);"
          "INSERT INTO counters VALUES(1, 0)");
    })));
  }

  absl::StatusOr<Database> Open() const {
    CAIRN_RETURN_IF_ERROR(LoadSqliteExtension());
    return Database::Open(path_);
  }

  // No busy_timeout: a reader never waits. What it sees never goes back.
  absl::Status ReadUntilDone() {
    CAIRN_ASSIGN_OR_RETURN(Database database, Open());
    Bank bank(database);
    ++told_->started;
    int64_t before = 0;
    while (!told_->done) {
      const int64_t committed = told_->committed;
      CAIRN_ASSIGN_OR_RETURN(const int64_t newest, bank.Check());
      if (newest < committed || newest < before) {
        return absl::DataLossError(absl::StrCat("transaction ", newest, " is the newest after ",
                                                committed, " was acknowledged"));
      }
      before = newest;
      ++told_->reads;
    }
    return absl::OkStatus();
  }

  absl::Status CountUp(int times) {
    CAIRN_ASSIGN_OR_RETURN(Database database, Open());
    CAIRN_RETURN_IF_ERROR(database.Execute("PRAGMA busy_timeout=20000"));
    for (int i = 0; i < times; ++i) {
      CAIRN_RETURN_IF_ERROR(database.Execute(
          "BEGIN IMMEDIATE; UPDATE counters SET value = value + 1 WHERE id = 1; COMMIT"));
    }
    return absl::OkStatus();
  }

  TempDir directory_;
  const std::string path_ = directory_.Path("bank.db");
  ToldByChildren told_;
};

TEST_F(VfsProcessesTest, ReadersSeeWholeTransactionsAndAreNeverBusy) {
  constexpr int kReaders = 4;
  std::vector<pid_t> readers;
  for (int i = 0; i < kReaders; ++i) {
    readers.push_back(Begin("reader", [&] { return ReadUntilDone(); }));
  }
  const bool wrote = EndsWell(Begin("writer", [&]() -> absl::Status {
    CAIRN_ASSIGN_OR_RETURN(Database database, Open());
    CAIRN_RETURN_IF_ERROR(database.Execute("PRAGMA synchronous=OFF"));
    std::mt19937_64 random(1);
    // Until readers have seen much of it, too.
    for (int64_t number = 1; number <= 500 || (told_->reads < 100 && number < 10000); ++number) {
      CAIRN_RETURN_IF_ERROR(Bank(database).Transact(number, random));
      told_->committed = number;
    }
    return absl::OkStatus();
  }));
  told_->done = true;
  EXPECT_TRUE(wrote);
  for (const pid_t reader : readers) EXPECT_TRUE(EndsWell(reader));
  EXPECT_EQ(told_->started, kReaders);
  EXPECT_GE(told_->reads, 100);
}

TEST_F(VfsProcessesTest, WritersWaitForEachOther) {
  constexpr int kWriters = 4;
  constexpr int kTimes = 100;
  std::vector<pid_t> writers;
  for (int i = 0; i < kWriters; ++i) {
    writers.push_back(Begin("writer", [&] { return CountUp(kTimes); }));
  }
  for (const pid_t writer : writers) EXPECT_TRUE(EndsWell(writer));
  const bool all_there = EndsWell(Begin("examiner", [&]() -> absl::Status {
    CAIRN_ASSIGN_OR_RETURN(Database database, Open());
    CAIRN_ASSIGN_OR_RETURN(const int64_t value, database.Number("SELECT value FROM counters"));
    if (value == kWriters * kTimes) return absl::OkStatus();
    return absl::DataLossError(absl::StrCat("counted to ", value));
  }));
  EXPECT_TRUE(all_there);
}

TEST_F(VfsProcessesTest, AReaderKeepsItsStateWhileAnotherProcessCommits) {
  const pid_t reader = Begin("reader", [&]() -> absl::Status {
    CAIRN_ASSIGN_OR_RETURN(Database database, Open());
    CAIRN_RETURN_IF_ERROR(database.Execute("BEGIN"));
    CAIRN_ASSIGN_OR_RETURN(const int64_t before, database.Number("SELECT value FROM counters"));
    ++told_->started;
    while (!told_->done) usleep(1000);
    CAIRN_ASSIGN_OR_RETURN(const int64_t meanwhile, database.Number("SELECT value FROM counters"));
    // A transaction whose state is old may not write.
    const absl::Status write = database.Execute("UPDATE counters SET value = 0");
    CAIRN_RETURN_IF_ERROR(database.Execute("COMMIT"));
    CAIRN_ASSIGN_OR_RETURN(const int64_t after, database.Number("SELECT value FROM counters"));
    if (before == 0 && meanwhile == 0 && after == 20 && absl::IsUnavailable(write)) {
      return absl::OkStatus();
    }
    return absl::DataLossError(absl::StrCat("read ", before, ", ", meanwhile, " and ", after,
                                            "; then a write: ", write.ToString()));
  });
  const bool wrote = EndsWell(Begin("writer", [&] {
    while (told_->started == 0) usleep(1000);
    return CountUp(20);
  }));
  told_->done = true;
  EXPECT_TRUE(wrote);
  EXPECT_TRUE(EndsWell(reader));
}

}  // namespace
}  // namespace cairn::test
