// Connections of a process and of what it forks.
#include <memory>
#include <string>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "engine/base/status.h"
#include "tests/sqlite/children.h"
#include "tests/sqlite/database.h"
#include "tests/sqlite/expect.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

constexpr unsigned kMostSeconds = 120;  // then a child that hangs is ended

class VfsForkTest : public testing::Test {
 protected:
  // A counter. The process keeps the writer for a while, and has a thread for that.
  absl::StatusOr<Database> Create() const {
    CAIRN_RETURN_IF_ERROR(LoadSqliteExtension());
    CAIRN_ASSIGN_OR_RETURN(Database database, Open());
    CAIRN_RETURN_IF_ERROR(database.Execute("CREATE TABLE t(a); INSERT INTO t VALUES(1)"));
    return database;
  }

  absl::StatusOr<Database> Open() const {
    CAIRN_ASSIGN_OR_RETURN(Database database, Database::Open(path_));
    CAIRN_RETURN_IF_ERROR(database.Execute("PRAGMA synchronous=OFF; PRAGMA busy_timeout=20000"));
    return database;
  }

  absl::Status CountUp() const {
    CAIRN_ASSIGN_OR_RETURN(Database database, Open());
    for (int i = 0; i < 20; ++i) {
      CAIRN_RETURN_IF_ERROR(database.Execute("UPDATE t SET a = a + 1"));
    }
    return absl::OkStatus();
  }

  TempDir directory_;
  const std::string path_ = directory_.Path("app.db");
};

TEST_F(VfsForkTest, AChildThatOpensTheDatabaseWritesBesideItsParent) {
  EXPECT_TRUE(EndsWell(Begin("parent", [&]() -> absl::Status {
    CAIRN_ASSIGN_OR_RETURN(Database database, Create());
    const pid_t child = Begin("child", [&] {
      alarm(kMostSeconds);
      return CountUp();
    });
    for (int i = 0; i < 20; ++i) {
      CAIRN_RETURN_IF_ERROR(database.Execute("UPDATE t SET a = a + 1"));
    }
    if (!EndsWell(child)) return absl::DataLossError("the child failed");
    return ExpectNumber(database, "SELECT a FROM t", 41);
  })));
}

TEST_F(VfsForkTest, AChildMayCloseWhatItHasInherited) {
  EXPECT_TRUE(EndsWell(Begin("parent", [&]() -> absl::Status {
    CAIRN_ASSIGN_OR_RETURN(Database opened, Create());
    auto database = std::make_unique<Database>(std::move(opened));
    usleep(100000);  // the thread sleeps, which is how a child finds its traces
    const pid_t child = Begin("child", [&]() -> absl::Status {
      alarm(kMostSeconds);
      database.reset();
      return CountUp();
    });
    if (!EndsWell(child)) return absl::DataLossError("the child failed");
    CAIRN_RETURN_IF_ERROR(database->Execute("UPDATE t SET a = a + 1"));
    return ExpectNumber(*database, "SELECT a FROM t", 22);
  })));
}

TEST_F(VfsForkTest, AConnectionOfTheParentGivesErrorsInTheChild) {
  EXPECT_TRUE(EndsWell(Begin("parent", [&]() -> absl::Status {
    CAIRN_ASSIGN_OR_RETURN(Database database, Create());
    const pid_t child = Begin("child", [&]() -> absl::Status {
      alarm(kMostSeconds);
      if (database.Number("SELECT a FROM t").ok()) return absl::DataLossError("it reads");
      if (database.Execute("UPDATE t SET a = 7").ok()) return absl::DataLossError("it writes");
      return absl::OkStatus();
    });
    if (!EndsWell(child)) return absl::DataLossError("the child failed");
    CAIRN_RETURN_IF_ERROR(database.Execute("UPDATE t SET a = a + 1"));
    return ExpectNumber(database, "SELECT a FROM t", 2);
  })));
}

TEST_F(VfsForkTest, ATransactionOfTheParentLocksItsChildOut) {
  EXPECT_TRUE(EndsWell(Begin("parent", [&]() -> absl::Status {
    CAIRN_ASSIGN_OR_RETURN(Database database, Create());
    CAIRN_RETURN_IF_ERROR(database.Execute("BEGIN; UPDATE t SET a = 5"));
    const pid_t child = Begin("child", [&]() -> absl::Status {
      alarm(kMostSeconds);
      CAIRN_ASSIGN_OR_RETURN(Database own, Database::Open(path_));
      CAIRN_RETURN_IF_ERROR(ExpectNumber(own, "SELECT a FROM t", 1));
      if (own.Execute("UPDATE t SET a = 7").ok()) return absl::DataLossError("it writes");
      return ExpectNumber(own, "SELECT a FROM t", 1);
    });
    if (!EndsWell(child)) return absl::DataLossError("the child failed");
    CAIRN_RETURN_IF_ERROR(database.Execute("COMMIT"));
    return ExpectNumber(database, "SELECT a FROM t", 5);
  })));
}

}  // namespace
}  // namespace cairn::test
