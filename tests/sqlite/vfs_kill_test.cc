// Processes that write transactions are killed, again and again, and nothing is lost or half done.
#include <chrono>
#include <string>
#include <thread>
#include <tuple>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "engine/base/status.h"
#include "tests/sqlite/bank.h"
#include "tests/sqlite/children.h"
#include "tests/sqlite/database.h"
#include "tests/support/search.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

constexpr int64_t kKills = 1000;  // of all page sizes and kinds of `synchronous` together

// Page size, PRAGMA synchronous.
class VfsKillTest : public testing::TestWithParam<std::tuple<int, const char*>> {
 protected:
  int page_size() const { return std::get<0>(GetParam()); }

  absl::StatusOr<Database> Open() const {
    CAIRN_RETURN_IF_ERROR(LoadSqliteExtension());
    CAIRN_ASSIGN_OR_RETURN(Database database, Database::Open(path_));
    CAIRN_RETURN_IF_ERROR(database.Execute("PRAGMA busy_timeout=10000"));
    CAIRN_RETURN_IF_ERROR(
        database.Execute(absl::StrCat("PRAGMA synchronous=", std::get<1>(GetParam()))));
    return database;
  }

  // Until it is killed.
  absl::Status Write(uint64_t seed) {
    CAIRN_ASSIGN_OR_RETURN(Database database, Open());
    Bank bank(database);
    std::mt19937_64 random(seed);
    ++told_->started;
    for (;;) {
      const int64_t number = told_->committed + 1;
      CAIRN_RETURN_IF_ERROR(bank.Transact(number, random));
      told_->committed = number;
      if (random() % 16 == 0) CAIRN_RETURN_IF_ERROR(database.Execute("VACUUM"));
      // So that the database stays small.
      if (number % 64 == 0) {
        CAIRN_RETURN_IF_ERROR(database.Execute("UPDATE ledger SET note = ''"));
      }
    }
  }

  // All that was acknowledged is there, perhaps the transaction that was about to be as well.
  absl::Status Examine() {
    CAIRN_ASSIGN_OR_RETURN(Database database, Open());
    CAIRN_ASSIGN_OR_RETURN(const std::string verdict, database.Text("PRAGMA integrity_check"));
    if (verdict != "ok") return absl::DataLossError(verdict);
    CAIRN_ASSIGN_OR_RETURN(const int64_t newest, Bank(database).Check());
    const int64_t committed = told_->committed;
    if (newest != committed && newest != committed + 1) {
      return absl::DataLossError(absl::StrCat(newest, " is the newest transaction, but COMMIT of ",
                                              committed, " returned"));
    }
    told_->committed = newest;
    return absl::OkStatus();
  }

  TempDir directory_;
  const std::string path_ = directory_.Path("bank.db");
  ToldByChildren told_;
};

TEST_P(VfsKillTest, LosesNoTransactionAndLeavesNoneHalfDone) {
  ASSERT_TRUE(EndsWell(Begin("creator", [&]() -> absl::Status {
    CAIRN_ASSIGN_OR_RETURN(Database database, Open());
    return Bank(database).Create(page_size());
  })));
  std::mt19937_64 random(page_size());
  for (int64_t kill_number = 0; kill_number < SearchRuns(kKills) / 6 + 1; ++kill_number) {
    const int64_t started = told_->started;
    const pid_t writer = Begin("writer", [&] { return Write(random()); });
    // Every second one is killed after a transaction, however slow it is.
    const int64_t committed = told_->committed;
    while ((told_->started == started || (kill_number % 2 == 0 && told_->committed == committed)) &&
           waitpid(writer, nullptr, WNOHANG) == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20000));
    ASSERT_EQ(kill(writer, SIGKILL), 0) << "the writer ended by itself";
    ASSERT_EQ(waitpid(writer, nullptr, 0), writer);
    ASSERT_TRUE(EndsWell(Begin("examiner", [&] { return Examine(); })))
        << "after kill " << kill_number;
    random();
  }
  EXPECT_GT(told_->committed, 0);
}

INSTANTIATE_TEST_SUITE_P(All, VfsKillTest,
                         testing::Combine(testing::Values(1024, 4096, 16384),
                                          testing::Values("FULL", "OFF")),
                         [](const auto& parameters) {
                           return absl::StrCat("Pages", std::get<0>(parameters.param), "Sync",
                                               std::get<1>(parameters.param));
                         });

}  // namespace
}  // namespace cairn::test
