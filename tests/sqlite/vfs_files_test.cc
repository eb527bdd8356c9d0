// Tests connections whose database file is replaced, deleted, compacted or read-only.
#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/status.h"
#include "tests/sqlite/children.h"
#include "tests/sqlite/database.h"
#include "tests/sqlite/expect.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

namespace fs = std::filesystem;

// A frame looks once a second for another file under its path.
constexpr useconds_t kNoticed = 1100000;

class VfsFilesTest : public testing::Test {
 protected:
  // Databases that differ in the value alone.
  absl::Status Create(const std::string& path, int value) const {
    CAIRN_RETURN_IF_ERROR(LoadSqliteExtension());
    CAIRN_ASSIGN_OR_RETURN(Database database, Database::Open(path));
    return database.Execute(absl::StrCat("CREATE TABLE t(a); INSERT INTO t VALUES(", value, ")"));
  }

  absl::Status CreateBoth() const {
    CAIRN_RETURN_IF_ERROR(Create(path_, 1));
    return Create(other_, 2);
  }

  // Checks the file that is there now.
  absl::Status ExpectStored(int64_t wanted) const {
    CAIRN_ASSIGN_OR_RETURN(Database database, Database::Open(path_));
    return ExpectNumber(database, "SELECT a FROM t", wanted);
  }

  static absl::Status Run(absl::FunctionRef<absl::Status()> body) {
    return Expect(EndsWell(Begin("program", body)), "it failed");
  }

  TempDir directory_;
  const std::string path_ = directory_.Path("app.db");
  const std::string other_ = directory_.Path("other.db");
};

TEST_F(VfsFilesTest, ADatabaseThatReplacesOneWithEqualNumbersIsRead) {
  EXPECT_TRUE(EndsWell(Begin("program", [&]() -> absl::Status {
    CAIRN_RETURN_IF_ERROR(CreateBoth());
    CAIRN_ASSIGN_OR_RETURN(Database database, Database::Open(path_));
    CAIRN_RETURN_IF_ERROR(ExpectNumber(database, "SELECT a FROM t", 1));
    fs::rename(other_, path_);
    usleep(kNoticed);
    CAIRN_RETURN_IF_ERROR(ExpectNumber(database, "SELECT a FROM t", 2));
    CAIRN_RETURN_IF_ERROR(database.Execute("UPDATE t SET a = a + 10"));
    CAIRN_RETURN_IF_ERROR(ExpectNumber(database, "SELECT a FROM t", 12));
    return ExpectStored(12);
  })));
}

// Both have one table, of other names.
TEST_F(VfsFilesTest, TheTablesOfADatabaseThatReplacesAnotherAreSeen) {
  EXPECT_TRUE(EndsWell(Begin("program", [&]() -> absl::Status {
    CAIRN_RETURN_IF_ERROR(Create(path_, 1));
    {
      CAIRN_ASSIGN_OR_RETURN(Database other, Database::Open(other_));
      CAIRN_RETURN_IF_ERROR(other.Execute("CREATE TABLE u(b); INSERT INTO u VALUES(2)"));
    }
    CAIRN_ASSIGN_OR_RETURN(Database database, Database::Open(path_));
    CAIRN_RETURN_IF_ERROR(ExpectNumber(database, "SELECT a FROM t", 1));
    fs::rename(other_, path_);
    usleep(kNoticed);
    CAIRN_RETURN_IF_ERROR(
        Expect(!database.Number("SELECT a FROM t").ok(), "it finds the table of before"));
    CAIRN_ASSIGN_OR_RETURN(const int64_t value, database.Number("SELECT b FROM u"));
    CAIRN_RETURN_IF_ERROR(Expect(value == 2, absl::StrCat(value)));
    CAIRN_RETURN_IF_ERROR(database.Execute("CREATE TABLE v(c); INSERT INTO v VALUES(3)"));
    CAIRN_ASSIGN_OR_RETURN(Database later, Database::Open(path_));
    CAIRN_ASSIGN_OR_RETURN(const int64_t added, later.Number("SELECT c FROM v"));
    // Each change of the schema counts by one.
    CAIRN_ASSIGN_OR_RETURN(const int64_t cookie, later.Number("PRAGMA schema_version"));
    return Expect(added == 3 && cookie == 2, absl::StrCat(added, " ", cookie));
  })));
}

TEST_F(VfsFilesTest, ATransactionThatReadADatabaseDoesNotWriteTheOneThatReplacedIt) {
  EXPECT_TRUE(EndsWell(Begin("program", [&]() -> absl::Status {
    CAIRN_RETURN_IF_ERROR(CreateBoth());
    CAIRN_ASSIGN_OR_RETURN(Database database, Database::Open(path_));
    CAIRN_RETURN_IF_ERROR(database.Execute("BEGIN"));
    CAIRN_RETURN_IF_ERROR(ExpectNumber(database, "SELECT a FROM t", 1));
    fs::rename(other_, path_);
    const absl::Status write = database.Execute("UPDATE t SET a = a + 10");
    CAIRN_RETURN_IF_ERROR(Expect(database.last_code() == SQLITE_BUSY_SNAPSHOT, write.ToString()));
    CAIRN_RETURN_IF_ERROR(ExpectNumber(database, "SELECT a FROM t", 1));
    CAIRN_RETURN_IF_ERROR(database.Execute("COMMIT"));
    return ExpectStored(2);
  })));
}

TEST_F(VfsFilesTest, ADeletedDatabaseIsReadAndNotWritten) {
  EXPECT_TRUE(EndsWell(Begin("program", [&]() -> absl::Status {
    CAIRN_RETURN_IF_ERROR(Create(path_, 1));
    CAIRN_ASSIGN_OR_RETURN(Database database, Database::Open(path_));
    CAIRN_RETURN_IF_ERROR(ExpectNumber(database, "SELECT a FROM t", 1));
    fs::remove(path_);
    usleep(kNoticed);
    const absl::Status write = database.Execute("UPDATE t SET a = 2");
    CAIRN_RETURN_IF_ERROR(
        Expect(database.last_code() == SQLITE_READONLY_DBMOVED, write.ToString()));
    CAIRN_RETURN_IF_ERROR(ExpectNumber(database, "SELECT a FROM t", 1));
    return Expect(!fs::exists(path_), "a file is there again");
  })));
}

TEST_F(VfsFilesTest, HasMovedTellsOfADeletedAndOfAReplacedFile) {
  EXPECT_TRUE(EndsWell(Begin("program", [&]() -> absl::Status {
    CAIRN_RETURN_IF_ERROR(CreateBoth());
    CAIRN_ASSIGN_OR_RETURN(Database database, Database::Open(path_));
    const auto has_moved = [&database] {
      int moved = -1;
      database.Control(SQLITE_FCNTL_HAS_MOVED, &moved);
      return moved;
    };
    CAIRN_RETURN_IF_ERROR(database.Execute("BEGIN"));
    CAIRN_RETURN_IF_ERROR(ExpectNumber(database, "SELECT a FROM t", 1));
    const int before = has_moved();
    const std::string away = directory_.Path("away.db");
    fs::rename(path_, away);
    const int deleted = has_moved();
    fs::rename(away, path_);
    const int back = has_moved();
    fs::rename(other_, path_);
    const int replaced = has_moved();
    return Expect(before == 0 && deleted == 1 && back == 0 && replaced == 1,
                  absl::StrCat(before, deleted, back, replaced));
  })));
}

TEST_F(VfsFilesTest, ACompactedDatabaseIsReadAndWrittenOn) {
  EXPECT_TRUE(EndsWell(Begin("program", [&]() -> absl::Status {
    CAIRN_RETURN_IF_ERROR(Create(path_, 1));
    CAIRN_ASSIGN_OR_RETURN(Database database, Database::Open(path_));
    CAIRN_RETURN_IF_ERROR(ExpectNumber(database, "SELECT a FROM t", 1));
    CAIRN_RETURN_IF_ERROR(Run([&]() -> absl::Status {
      CAIRN_ASSIGN_OR_RETURN(Frame frame, Frame::Open(path_));
      CAIRN_RETURN_IF_ERROR(frame.Compact({.wait = std::chrono::seconds(20)}).status());
      CAIRN_ASSIGN_OR_RETURN(Database other, Database::Open(path_));
      return other.Execute("UPDATE t SET a = a + 10");
    }));
    CAIRN_RETURN_IF_ERROR(ExpectNumber(database, "SELECT a FROM t", 11));
    CAIRN_RETURN_IF_ERROR(database.Execute("UPDATE t SET a = a + 100"));
    return ExpectStored(111);
  })));
}

// A process without the rights of root, whom permissions do not stop.
absl::Status WithoutRights(const std::string& folder, absl::FunctionRef<absl::Status()> body) {
  CAIRN_RETURN_IF_ERROR(LoadSqliteExtension());
  if (geteuid() == 0) {
    constexpr uid_t kNobody = 65534;
    CAIRN_RETURN_IF_ERROR(Expect(chdir(folder.c_str()) == 0 &&
                                     setresgid(kNobody, kNobody, kNobody) == 0 &&
                                     setresuid(kNobody, kNobody, kNobody) == 0,
                                 "it stays root"));
  }
  return body();
}

class VfsReadOnlyTest : public VfsFilesTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(EndsWell(Begin("creator", [&] { return Create(path_, 1); })));
  }
  void TearDown() override { chmod(directory_.path().c_str(), 0755); }

  void Allow(mode_t file, mode_t folder) const {
    ASSERT_EQ(chmod(path_.c_str(), file), 0);
    ASSERT_EQ(chmod(directory_.path().c_str(), folder), 0);
  }
};

TEST_F(VfsReadOnlyTest, AFileThatMayNotBeWrittenIsReadAndRefusesWrites) {
  Allow(0444, 0555);
  EXPECT_TRUE(EndsWell(Begin("reader", [&] {
    return WithoutRights(directory_.path(), [&]() -> absl::Status {
      CAIRN_ASSIGN_OR_RETURN(Database database, Database::Open(path_));
      CAIRN_RETURN_IF_ERROR(ExpectNumber(database, "SELECT a FROM t", 1));
      const absl::Status write = database.Execute("UPDATE t SET a = 2");
      CAIRN_RETURN_IF_ERROR(Expect(database.last_code() == SQLITE_READONLY, write.ToString()));
      CAIRN_RETURN_IF_ERROR(Expect(sqlite3_db_readonly(database.handle(), "main") == 1, "no"));
      return ExpectNumber(database, "SELECT a FROM t", 1);
    });
  })));
}

TEST_F(VfsReadOnlyTest, AFileThatMayNotBeWrittenShowsWhatOthersCommit) {
  Allow(0644, 0755);
  if (geteuid() != 0) GTEST_SKIP() << "only root may write what others may read";
  ToldByChildren told;
  const pid_t reader = Begin("reader", [&] {
    return WithoutRights(directory_.path(), [&]() -> absl::Status {
      CAIRN_ASSIGN_OR_RETURN(Database database, Database::Open(path_));
      CAIRN_RETURN_IF_ERROR(ExpectNumber(database, "SELECT a FROM t", 1));
      told->started = 1;
      while (!told->done) usleep(1000);
      return ExpectNumber(database, "SELECT a FROM t", 2);
    });
  });
  EXPECT_TRUE(EndsWell(Begin("writer", [&]() -> absl::Status {
    while (told->started == 0) usleep(1000);
    CAIRN_RETURN_IF_ERROR(LoadSqliteExtension());
    CAIRN_ASSIGN_OR_RETURN(Database database, Database::Open(path_));
    return database.Execute("UPDATE t SET a = 2");
  })));
  told->done = true;
  EXPECT_TRUE(EndsWell(reader));
}

// SQLite's own files need a journal there.
TEST_F(VfsReadOnlyTest, AFolderThatMayNotBeWrittenHoldsDatabasesThatMay) {
  Allow(0666, 0555);
  EXPECT_TRUE(EndsWell(Begin("writer", [&] {
    return WithoutRights(directory_.path(), [&]() -> absl::Status {
      CAIRN_ASSIGN_OR_RETURN(Database database, Database::Open(path_));
      for (int i = 0; i < 50; ++i) {
        CAIRN_RETURN_IF_ERROR(
            database.Execute("UPDATE t SET a = a + 1; CREATE TABLE u(b);"
                             "INSERT INTO u VALUES(randomblob(100000));"
                             "DROP TABLE u; VACUUM"));
      }
      CAIRN_RETURN_IF_ERROR(Database::Open(other_).ok() ? absl::DataLossError("a file is made")
                                                        : absl::OkStatus());
      return ExpectStored(51);
    });
  })));
}

TEST_F(VfsFilesTest, FileControlsThatApplicationsUseAreAnswered) {
  EXPECT_TRUE(EndsWell(Begin("program", [&]() -> absl::Status {
    CAIRN_RETURN_IF_ERROR(Create(path_, 1));
    CAIRN_ASSIGN_OR_RETURN(Database database, Database::Open(path_));
    char* name = nullptr;
    int code = database.Control(SQLITE_FCNTL_VFSNAME, &name);
    CAIRN_RETURN_IF_ERROR(Expect(code == SQLITE_OK && std::string(name) == "cairn", "VFSNAME"));
    sqlite3_free(name);
    name = nullptr;
    code = database.Control(SQLITE_FCNTL_TEMPFILENAME, &name);
    CAIRN_RETURN_IF_ERROR(
        Expect(code == SQLITE_OK && name != nullptr && !fs::exists(name), "TEMPFILENAME"));
    sqlite3_free(name);
    int number = -1;
    code = database.Control(SQLITE_FCNTL_LOCKSTATE, &number);
    CAIRN_RETURN_IF_ERROR(Expect(code == SQLITE_OK && number == SQLITE_LOCK_NONE, "LOCKSTATE"));
    number = -1;
    code = database.Control(SQLITE_FCNTL_POWERSAFE_OVERWRITE, &number);
    CAIRN_RETURN_IF_ERROR(Expect(code == SQLITE_OK && number == 1, "POWERSAFE_OVERWRITE"));
    sqlite3_int64 size = 1 << 20;
    code = database.Control(SQLITE_FCNTL_SIZE_HINT, &size);
    CAIRN_RETURN_IF_ERROR(Expect(code == SQLITE_OK, "SIZE_HINT"));
    code = database.Control(SQLITE_FCNTL_CHUNK_SIZE, &number);
    CAIRN_RETURN_IF_ERROR(Expect(code == SQLITE_OK, "CHUNK_SIZE"));
    // There is no write-ahead log to be kept.
    code = database.Control(SQLITE_FCNTL_PERSIST_WAL, &number);
    CAIRN_RETURN_IF_ERROR(Expect(code == SQLITE_NOTFOUND, "PERSIST_WAL"));
    CAIRN_ASSIGN_OR_RETURN(const std::string mapped, database.Text("PRAGMA mmap_size=1000000"));
    return Expect(mapped == "0", "mmap_size " + mapped);
  })));
}

TEST_F(VfsFilesTest, TheVersionOfDataChangesWithCommitsOfOthersAlone) {
  EXPECT_TRUE(EndsWell(Begin("program", [&]() -> absl::Status {
    CAIRN_RETURN_IF_ERROR(LoadSqliteExtension());
    CAIRN_ASSIGN_OR_RETURN(Database database, Database::Open(path_));
    CAIRN_ASSIGN_OR_RETURN(const int64_t before, database.Number("PRAGMA data_version"));
    CAIRN_RETURN_IF_ERROR(database.Execute("CREATE TABLE t(a)"));
    CAIRN_RETURN_IF_ERROR(database.Execute("INSERT INTO t VALUES(2)"));
    CAIRN_ASSIGN_OR_RETURN(const int64_t own, database.Number("PRAGMA data_version"));
    CAIRN_ASSIGN_OR_RETURN(Database other, Database::Open(path_));
    CAIRN_RETURN_IF_ERROR(other.Execute("UPDATE t SET a = 3"));
    CAIRN_ASSIGN_OR_RETURN(const int64_t after, database.Number("PRAGMA data_version"));
    return Expect(before == own && own != after, absl::StrCat(before, " ", own, " ", after));
  })));
}

}  // namespace
}  // namespace cairn::test
