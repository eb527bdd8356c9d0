// Transactions of a database in a frame whose commit or writes fail: on a full disk, by errors.
#include <cerrno>
#include <csignal>
#include <string>
#include <sys/resource.h>
#include <utility>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "engine/base/status.h"
#include "tests/sqlite/children.h"
#include "tests/sqlite/database.h"
#include "tests/sqlite/expect.h"
#include "tests/sqlite/failing_calls.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

// The mode of locks.
class VfsFailuresTest : public testing::TestWithParam<const char*> {
 protected:
  absl::StatusOr<Database> Open() const {
    CAIRN_RETURN_IF_ERROR(LoadSqliteExtension());
    CAIRN_ASSIGN_OR_RETURN(Database database, Database::Open(path_));
    CAIRN_RETURN_IF_ERROR(database.Text(absl::StrCat("PRAGMA locking_mode=", GetParam())).status());
    return database;
  }

  // A table with one row.
  absl::StatusOr<Database> Create() const {
    CAIRN_ASSIGN_OR_RETURN(Database database, Open());
    CAIRN_RETURN_IF_ERROR(database.Execute(
        "CREATE TABLE t(a INTEGER PRIMARY KEY, b); INSERT INTO t VALUES(1, zeroblob(2000))"));
    return database;
  }

  TempDir directory_;
  const std::string path_ = directory_.Path("app.db");
};

// The file of this process grows no more while this lives.
class FullDisk {
 public:
  explicit FullDisk(rlim_t size) {
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit = {.rlim_cur = size, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  ~FullDisk() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_ = {};
};

TEST_P(VfsFailuresTest, AFullDiskTakesBackTheTransactionAndTheNextOneGoesOn) {
  EXPECT_TRUE(EndsWell(Begin("program", [&]() -> absl::Status {
    CAIRN_ASSIGN_OR_RETURN(Database database, Create());
    {
      const FullDisk full(1 << 20);
      const absl::Status filled = database.Execute(
          "BEGIN; UPDATE t SET b = 'changed';"
          "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)"
          "INSERT INTO t SELECT i, randomblob(1000) FROM n; COMMIT");
      CAIRN_RETURN_IF_ERROR(Expect(database.last_code() == SQLITE_FULL, filled.ToString()));
      if (!database.Execute("ROLLBACK").ok()) {
      }  // SQLite may have done it
      CAIRN_ASSIGN_OR_RETURN(const int64_t rows, database.Number("SELECT count(*) FROM t"));
      CAIRN_ASSIGN_OR_RETURN(const int64_t length, database.Number("SELECT length(b) FROM t"));
      CAIRN_RETURN_IF_ERROR(
          Expect(rows == 1 && length == 2000, absl::StrCat(rows, " rows of ", length)));
    }
    CAIRN_RETURN_IF_ERROR(database.Execute("INSERT INTO t VALUES(2, 'later')"));
    CAIRN_ASSIGN_OR_RETURN(const int64_t sum, database.Number("SELECT sum(a) FROM t"));
    CAIRN_ASSIGN_OR_RETURN(const std::string verdict, database.Text("PRAGMA integrity_check"));
    return Expect(sum == 3 && verdict == "ok", absl::StrCat("sum ", sum, ", ", verdict));
  })));
}

TEST_P(VfsFailuresTest, ADiskFullOfSpilledPagesTakesBackTheTransactionAndTheNextOneGoesOn) {
  EXPECT_TRUE(EndsWell(Begin("program", [&]() -> absl::Status {
    CAIRN_ASSIGN_OR_RETURN(Database database, Create());
    CAIRN_RETURN_IF_ERROR(database.Execute("PRAGMA cache_size=10"));
    {
      // More than stays in memory, so some of it is written before the commit.
      const FullDisk full(1 << 20);
      const absl::Status filled = database.Execute(
          "BEGIN; UPDATE t SET b = 'changed';"
          "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
          "INSERT INTO t SELECT i, randomblob(3000) FROM n; COMMIT");
      CAIRN_RETURN_IF_ERROR(Expect((database.last_code() & 0xff) != SQLITE_OK, "no error"));
      if (!database.Execute("ROLLBACK").ok()) {
      }  // SQLite may have done it
      CAIRN_ASSIGN_OR_RETURN(const int64_t rows, database.Number("SELECT count(*) FROM t"));
      CAIRN_ASSIGN_OR_RETURN(const int64_t length, database.Number("SELECT length(b) FROM t"));
      CAIRN_RETURN_IF_ERROR(
          Expect(rows == 1 && length == 2000, absl::StrCat(rows, " rows of ", length)));
    }
    CAIRN_RETURN_IF_ERROR(database.Execute("INSERT INTO t VALUES(2, 'later')"));
    CAIRN_ASSIGN_OR_RETURN(const int64_t sum, database.Number("SELECT sum(a) FROM t"));
    CAIRN_ASSIGN_OR_RETURN(const std::string verdict, database.Text("PRAGMA integrity_check"));
    return Expect(sum == 3 && verdict == "ok", absl::StrCat("sum ", sum, ", ", verdict));
  })));
}

// Whichever call fails: the transaction is there, or it is not, and what is read says which.
TEST_P(VfsFailuresTest, AfterAFailedCommitTheConnectionReadsWhatIsCommitted) {
  for (const auto& [error, synchronous] :
       {std::pair(EIO, "FULL"), {EROFS, "FULL"}, {EBUSY, "FULL"}, {EINVAL, "FULL"}, {EIO, "OFF"}}) {
    bool has_failed = true;
    for (int good = 0; has_failed; ++good) {
      SCOPED_TRACE(absl::StrCat("error ", error, " after ", good, " calls, ", synchronous));
      TempDir directory;
      const std::string path = directory.Path("app.db");
      ToldByChildren told;
      ASSERT_TRUE(EndsWell(
          Begin("program", [&, error = error, synchronous = synchronous]() -> absl::Status {
            CAIRN_RETURN_IF_ERROR(LoadSqliteExtension());
            CAIRN_ASSIGN_OR_RETURN(Database database, Database::Open(path));
            CAIRN_RETURN_IF_ERROR(
                database.Text(absl::StrCat("PRAGMA locking_mode=", GetParam())).status());
            CAIRN_RETURN_IF_ERROR(
                database.Execute(absl::StrCat("PRAGMA synchronous=", synchronous)));
            CAIRN_RETURN_IF_ERROR(database.Execute("CREATE TABLE t(a); INSERT INTO t VALUES(1)"));
            absl::Status committed;
            {
              const FailingCalls failing(good, error);
              committed = database.Execute("UPDATE t SET a = a + 1");
              told->done = failing.has_failed();
            }
            CAIRN_ASSIGN_OR_RETURN(const int64_t value, database.Number("SELECT a FROM t"));
            CAIRN_RETURN_IF_ERROR(Expect(value == 2 || (value == 1 && !committed.ok()),
                                         absl::StrCat(value, " after ", committed.ToString())));
            CAIRN_RETURN_IF_ERROR(database.Execute("UPDATE t SET a = a + 10"));
            CAIRN_ASSIGN_OR_RETURN(told->committed, database.Number("SELECT a FROM t"));
            return Expect(told->committed == value + 10,
                          absl::StrCat(value, " + 10 is ", told->committed.load()));
          })));
      ASSERT_TRUE(EndsWell(Begin("examiner", [&]() -> absl::Status {
        CAIRN_RETURN_IF_ERROR(LoadSqliteExtension());
        CAIRN_ASSIGN_OR_RETURN(Database database, Database::Open(path));
        CAIRN_ASSIGN_OR_RETURN(const int64_t value, database.Number("SELECT a FROM t"));
        return Expect(value == told->committed, absl::StrCat("another process reads ", value,
                                                             " for ", told->committed.load()));
      })));
      has_failed = told->done;
    }
  }
}

// Pages that do not fit in the cache are written before the commit, and a rollback writes them
// again.
TEST_P(VfsFailuresTest, TransactionAfterARollbackIsItsOwnWhileOthersCommit) {
  EXPECT_TRUE(EndsWell(Begin("program", [&]() -> absl::Status {
    CAIRN_ASSIGN_OR_RETURN(Database database, Create());
    CAIRN_ASSIGN_OR_RETURN(Database other, Database::Open(directory_.Path("other.db")));
    CAIRN_RETURN_IF_ERROR(other.Execute("CREATE TABLE t(a)"));
    const std::string many =
        "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 300)"
        "INSERT OR REPLACE INTO t SELECT i, zeroblob(500) FROM n";
    CAIRN_RETURN_IF_ERROR(database.Execute("PRAGMA cache_size=5; BEGIN; " + many + "; ROLLBACK"));
    CAIRN_RETURN_IF_ERROR(database.Execute("BEGIN; " + many));
    CAIRN_RETURN_IF_ERROR(other.Execute("INSERT INTO t VALUES(1)"));
    CAIRN_RETURN_IF_ERROR(database.Execute(many + "; COMMIT"));
    CAIRN_RETURN_IF_ERROR(ExpectNumber(database, "SELECT count(*) FROM t", 300));
    CAIRN_ASSIGN_OR_RETURN(const std::string verdict, database.Text("PRAGMA integrity_check"));
    return Expect(verdict == "ok", verdict);
  })));
}

INSTANTIATE_TEST_SUITE_P(All, VfsFailuresTest, testing::Values("normal", "exclusive"),
                         [](const auto& parameters) { return std::string(parameters.param); });

// The process keeps the writer for a while, and then a thread of its own gives it back.
TEST(VfsKeptWriterTest, TheOnlyConnectionIsNeverBusy) {
  const TempDir directory;
  EXPECT_TRUE(EndsWell(Begin("program", [&]() -> absl::Status {
    CAIRN_RETURN_IF_ERROR(LoadSqliteExtension());
    CAIRN_ASSIGN_OR_RETURN(Database database, Database::Open(directory.Path("app.db")));
    CAIRN_RETURN_IF_ERROR(database.Execute("PRAGMA busy_timeout=0; PRAGMA synchronous=OFF"));
    const SlowUnlocks slow;
    CAIRN_RETURN_IF_ERROR(database.Execute("CREATE TABLE t(a)"));
    slow.WaitForOne();
    return database.Execute("INSERT INTO t VALUES(1)");
  })));
}

}  // namespace
}  // namespace cairn::test
