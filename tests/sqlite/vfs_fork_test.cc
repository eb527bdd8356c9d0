// Connections of a process and of what it forks.
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "engine/base/status.h"
#include "tests/sqlite/children.h"
#include "tests/sqlite/database.h"
#include "tests/sqlite/expect.h"
#include "tests/support/orphan.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

constexpr unsigned kMostSeconds = 120;  // then a child that hangs is ended
constexpr char kSum[] = "SELECT sum(unicode(hex(substr(x, 1500, 1)))) FROM b";

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

TEST_F(VfsForkTest, ChildThatOpensTheDatabaseWritesBesideItsParent) {
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

TEST_F(VfsForkTest, ChildMayCloseWhatItHasInherited) {
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

TEST_F(VfsForkTest, ConnectionOfTheParentGivesErrorsInTheChild) {
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

TEST_F(VfsForkTest, TransactionOfTheParentLocksItsChildOut) {
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

// Also while it is read: a transaction that began before the fork.
TEST_F(VfsForkTest, TransactionThatReadsSeesOneStateOnBothSidesOfAFork) {
  EXPECT_TRUE(EndsWell(Begin("parent", [&]() -> absl::Status {
    CAIRN_ASSIGN_OR_RETURN(Database database, Create());
    CAIRN_RETURN_IF_ERROR(database.Execute(
        "PRAGMA cache_size=1; CREATE TABLE b(x); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT "
        "i + 1 FROM n WHERE i < 200) INSERT INTO b SELECT randomblob(3000) FROM n; BEGIN"));
    CAIRN_ASSIGN_OR_RETURN(const int64_t sum, database.Number(kSum));
    int go[2];
    if (::pipe(go) != 0) return absl::InternalError("pipe");
    const pid_t child = Begin("child", [&]() -> absl::Status {
      alarm(kMostSeconds);
      ::close(go[1]);
      char end = 0;
      if (::read(go[0], &end, 1) != 0) return absl::InternalError("read");
      const absl::StatusOr<int64_t> again = database.Number(kSum);
      return again.ok() && *again != sum ? absl::DataLossError("it reads wrong data")
                                         : absl::OkStatus();
    });
    CAIRN_ASSIGN_OR_RETURN(Database other, Open());
    for (int i = 0; i < 20; ++i) {
      CAIRN_RETURN_IF_ERROR(other.Execute("UPDATE b SET x = randomblob(3000)"));
      CAIRN_RETURN_IF_ERROR(database.Execute("COMMIT; BEGIN"));
      CAIRN_RETURN_IF_ERROR(database.Number(kSum).status());
    }
    ::close(go[1]);
    if (!EndsWell(child)) return absl::DataLossError("the child failed");
    return absl::OkStatus();
  })));
}

TEST_F(VfsForkTest, ChildWritesWhenItsParentDiesWithinATransaction) {
  std::optional<Database> database;
  const Orphan child(
      [&] {
        absl::StatusOr<Database> created = Create();
        if (!created.ok()) return 1;
        database = *std::move(created);
        return database->Execute("BEGIN; UPDATE t SET a = 5").ok() ? 0 : 2;
      },
      [&] { return CountUp().ok() ? 0 : 3; });
  ASSERT_EQ(child.result(), 0);
  EXPECT_TRUE(EndsWell(Begin("another", [&]() -> absl::Status {
    CAIRN_RETURN_IF_ERROR(LoadSqliteExtension());
    CAIRN_ASSIGN_OR_RETURN(Database other, Open());
    return ExpectNumber(other, "SELECT a FROM t", 21);
  })));
}

// A child that does nothing keeps nobody from writing, neither in Cairn's VFS nor in SQLite's own.
TEST_F(VfsForkTest, LockOfATransactionEndsWithItsProcess) {
  for (const char* vfs : {"cairn", "unix"}) {
    // After the last one the process keeps the writer for a while.
    for (const char* sql : {"BEGIN IMMEDIATE", "BEGIN; UPDATE t SET a = 5", "BEGIN EXCLUSIVE",
                            "PRAGMA synchronous=OFF; UPDATE t SET a = 2; UPDATE t SET a = 1"}) {
      SCOPED_TRACE(absl::StrCat(vfs, ": ", sql));
      const std::string path = directory_.Path(absl::StrCat(vfs, std::string(sql).substr(0, 12)));
      std::optional<Database> database;
      const Orphan child([&] {
        if (!LoadSqliteExtension().ok()) return 1;
        absl::StatusOr<Database> opened = Database::OpenBy(vfs, path);
        if (!opened.ok()) return 2;
        database = *std::move(opened);
        if (!database->Execute("CREATE TABLE t(a); INSERT INTO t VALUES(1)").ok()) return 3;
        return database->Execute(sql).ok() ? 0 : 4;
      });
      ASSERT_EQ(child.result(), 0);
      EXPECT_TRUE(EndsWell(Begin("another", [&]() -> absl::Status {
        CAIRN_RETURN_IF_ERROR(LoadSqliteExtension());
        CAIRN_ASSIGN_OR_RETURN(Database other, Database::OpenBy(vfs, path));
        CAIRN_RETURN_IF_ERROR(other.Execute("UPDATE t SET a = a + 1"));
        return ExpectNumber(other, "SELECT a FROM t", 2);
      })));
    }
  }
}

}  // namespace
}  // namespace cairn::test
