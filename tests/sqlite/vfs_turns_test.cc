// How long a process keeps the writer from others. Each VFS opens the file for itself, so its
// connections are to those of another VFS as those of another process.
#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "tests/sqlite/database.h"
#include "tests/support/no_threads.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tools/sqlite/vfs/database.h"
#include "tools/sqlite/vfs/vfs.h"

namespace cairn::test {
namespace {

// Keeps the writer as long as it may, and its own turn comes at once or never.
constexpr char kKeeps[] = "keeps";
constexpr char kImpatient[] = "impatient";
// Gives it back soon; waits for long.
constexpr char kQuick[] = "quick";
constexpr char kPatient[] = "patient";

class VfsTurnsTest : public testing::Test {
 protected:
  VfsTurnsTest() {
    EXPECT_EQ(sqlite::RegisterVfs(kKeeps, {.keep = std::chrono::hours(1000)}), SQLITE_OK);
    EXPECT_EQ(sqlite::RegisterVfs(kImpatient, {.keep = std::chrono::milliseconds(0)}), SQLITE_OK);
    EXPECT_EQ(sqlite::RegisterVfs(kQuick, {.keep = std::chrono::milliseconds(100)}), SQLITE_OK);
    EXPECT_EQ(sqlite::RegisterVfs(kPatient, {.keep = std::chrono::minutes(10)}), SQLITE_OK);
  }

  // Opens a connection without a busy timeout.
  Database Open(const char* vfs, const char* sql) const {
    absl::StatusOr<Database> database = Database::OpenBy(vfs, path_);
    EXPECT_TRUE(IsOk(database));
    EXPECT_TRUE(IsOk(database->Execute(sql)));
    return *std::move(database);
  }

  TempDir directory_;
  const std::string path_ = directory_.Path("app.db");
};

TEST_F(VfsTurnsTest, WriterIsKeptAfterManyDurableTransactionsInARow) {
  Database other = Open(kImpatient, "CREATE TABLE t(a)");
  Database database = Open(kKeeps, "INSERT INTO t VALUES(0)");
  int before = 0;
  while (before < 100 && other.Execute("BEGIN IMMEDIATE; ROLLBACK").ok()) {
    ASSERT_TRUE(IsOk(database.Execute("INSERT INTO t VALUES(1)")));
    ++before;
  }
  EXPECT_EQ(before, sqlite::Database::kRow);
}

TEST_F(VfsTurnsTest, WriterIsNotKeptWhereThereIsNoThreadToGiveItBack) {
  const NoThreads none;
  Database other = Open(kImpatient, "CREATE TABLE t(a)");
  Database database = Open(kKeeps, "PRAGMA synchronous=OFF; INSERT INTO t VALUES(0)");
  for (int i = 0; i < 2 * sqlite::Database::kRow; ++i) {
    ASSERT_TRUE(IsOk(database.Execute("INSERT INTO t VALUES(1)")));
    ASSERT_TRUE(IsOk(other.Execute("BEGIN IMMEDIATE; ROLLBACK")));
  }
}

TEST_F(VfsTurnsTest, ProcessesThatTakeTurnsAreNeverBusy) {
  Database other = Open(kImpatient, "CREATE TABLE t(a)");
  Database database = Open(kKeeps, "INSERT INTO t VALUES(0)");
  for (int i = 0; i < 3 * sqlite::Database::kRow; ++i) {
    ASSERT_TRUE(IsOk(other.Execute("INSERT INTO t VALUES(1)")));
    ASSERT_TRUE(IsOk(database.Execute("INSERT INTO t VALUES(2)")));
  }
}

TEST_F(VfsTurnsTest, WriterThatIsMerelyKeptIsWaitedForWithoutABusyTimeout) {
  Database other = Open(kPatient, "CREATE TABLE t(a)");
  Database database = Open(kQuick, "PRAGMA synchronous=OFF; INSERT INTO t VALUES(0)");
  EXPECT_TRUE(IsOk(other.Execute("INSERT INTO t VALUES(1)")));
}

// A thread that was refused the writer may sleep for another database, or for itself.
TEST_F(VfsTurnsTest, ConnectionThatIsRefusedAndDoesNotTryAgainLeavesTheWriterToOthers) {
  Database other = Open(kImpatient, "CREATE TABLE t(a); PRAGMA busy_timeout=5000");
  Database sibling = Open(kQuick, "PRAGMA busy_timeout=5000");
  Database refused = Open(kQuick, "PRAGMA busy_timeout=0");
  ASSERT_TRUE(IsOk(other.Execute("BEGIN IMMEDIATE")));
  ASSERT_FALSE(refused.Execute("BEGIN IMMEDIATE").ok());
  ASSERT_TRUE(IsOk(other.Execute("COMMIT")));
  sqlite3_vfs* const vfs = sqlite3_vfs_find(kQuick);
  vfs->xSleep(vfs, 1000);
  EXPECT_TRUE(IsOk(sibling.Execute("INSERT INTO t VALUES(1)")));
  EXPECT_TRUE(IsOk(other.Execute("INSERT INTO t VALUES(2)")));
  EXPECT_TRUE(IsOk(refused.Execute("INSERT INTO t VALUES(3)")));
}

// A busy handler that gives up after its sleep does the same.
TEST_F(VfsTurnsTest, ConnectionThatGivesUpAfterItsSleepLeavesTheWriterToOthers) {
  Database other = Open(kImpatient, "CREATE TABLE t(a); PRAGMA busy_timeout=5000");
  Database sibling = Open(kQuick, "PRAGMA busy_timeout=5000");
  Database refused = Open(kQuick, "SELECT 1");
  struct Handler {
    Database* other;
    int calls = 0;
  } handler = {.other = &other};
  sqlite3_busy_handler(
      refused.handle(),
      [](void* arg, int /*before*/) {
        auto* const at = static_cast<Handler*>(arg);
        if (at->calls++ == 0) {
          EXPECT_TRUE(IsOk(at->other->Execute("COMMIT")));
        }
        sqlite3_vfs* const vfs = sqlite3_vfs_find(kQuick);
        vfs->xSleep(vfs, 1000);
        return 0;
      },
      &handler);
  ASSERT_TRUE(IsOk(other.Execute("BEGIN IMMEDIATE")));
  ASSERT_FALSE(refused.Execute("BEGIN IMMEDIATE").ok());
  EXPECT_EQ(handler.calls, 1);
  EXPECT_TRUE(IsOk(sibling.Execute("INSERT INTO t VALUES(1)")));
  EXPECT_TRUE(IsOk(other.Execute("INSERT INTO t VALUES(2)")));
}

}  // namespace
}  // namespace cairn::test
