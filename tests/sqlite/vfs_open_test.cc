// How files become databases, and which files connections open.
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "engine/base/status.h"
#include "tests/sqlite/children.h"
#include "tests/sqlite/database.h"
#include "tests/sqlite/expect.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

namespace fs = std::filesystem;

class VfsOpenTest : public testing::Test {
 protected:
  static bool Runs(absl::FunctionRef<absl::Status()> body) {
    return EndsWell(Begin("program", [&]() -> absl::Status {
      CAIRN_RETURN_IF_ERROR(LoadSqliteExtension());
      return body();
    }));
  }

  void MakeEmptyFile(mode_t mode) const {
    const int file = open(path_.c_str(), O_CREAT | O_RDWR | O_EXCL | O_CLOEXEC, mode);
    ASSERT_GE(file, 0);
    close(file);
  }

  TempDir directory_;
  const std::string path_ = directory_.Path("app.db");
};

// As `touch` and mkstemp make it.
TEST_F(VfsOpenTest, EmptyFileBecomesADatabaseWithItsPermissions) {
  MakeEmptyFile(0600);
  EXPECT_TRUE(Runs([&]() -> absl::Status {
    CAIRN_ASSIGN_OR_RETURN(Database database, Database::Open(path_));
    CAIRN_RETURN_IF_ERROR(database.Execute("CREATE TABLE t(a); INSERT INTO t VALUES(7)"));
    CAIRN_ASSIGN_OR_RETURN(Database again, Database::Open(path_));
    return ExpectNumber(again, "SELECT a FROM t", 7);
  }));
  struct stat info = {};
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & ALLPERMS, 0600U);
}

TEST_F(VfsOpenTest, EmptyFileIsAttachedBackedUpIntoAndVacuumedInto) {
  EXPECT_TRUE(Runs([&]() -> absl::Status {
    const std::string source = directory_.Path("source.db");
    CAIRN_ASSIGN_OR_RETURN(Database database, Database::Open(source));
    CAIRN_RETURN_IF_ERROR(database.Execute("CREATE TABLE t(a); INSERT INTO t VALUES(7)"));
    for (const std::string statement : {"VACUUM INTO", "ATTACH"}) {
      MakeEmptyFile(0644);
      const std::string uri = absl::StrCat("'file:", path_, "?vfs=cairn'");
      CAIRN_RETURN_IF_ERROR(database.Execute(
          absl::StrCat(statement, " ", uri, statement == "ATTACH" ? " AS b" : "")));
      if (statement == "ATTACH") {
        CAIRN_RETURN_IF_ERROR(database.Execute("CREATE TABLE b.t AS SELECT * FROM main.t"));
      }
      CAIRN_ASSIGN_OR_RETURN(Database copy, Database::Open(path_));
      CAIRN_RETURN_IF_ERROR(ExpectNumber(copy, "SELECT a FROM t", 7));
      fs::remove(path_);
    }
    return absl::OkStatus();
  }));
}

class VfsFirstOpenTest : public VfsOpenTest, public testing::WithParamInterface<bool> {};

TEST_P(VfsFirstOpenTest, ProcessesThatOpenADatabaseFirstAtOnceAllWriteIt) {
  constexpr int kProcesses = 8;
  for (int round = 0; round < 8; ++round) {
    if (GetParam()) MakeEmptyFile(0644);
    ToldByChildren told;
    std::vector<pid_t> processes;
    for (int i = 0; i < kProcesses; ++i) {
      processes.push_back(Begin("opener", [&]() -> absl::Status {
        CAIRN_RETURN_IF_ERROR(LoadSqliteExtension());
        ++told->started;
        while (told->started < kProcesses) usleep(10);
        CAIRN_ASSIGN_OR_RETURN(Database database, Database::Open(path_));
        return database.Execute(
            "PRAGMA busy_timeout=20000;"
            "CREATE TABLE IF NOT EXISTS t(a); INSERT INTO t VALUES(1)");
      }));
    }
    for (const pid_t process : processes) EXPECT_TRUE(EndsWell(process));
    EXPECT_TRUE(Runs([&]() -> absl::Status {
      CAIRN_ASSIGN_OR_RETURN(Database database, Database::Open(path_));
      return ExpectNumber(database, "SELECT count(*) FROM t", kProcesses);
    }));
    fs::remove(path_);
  }
}

INSTANTIATE_TEST_SUITE_P(NothingOrAnEmptyFile, VfsFirstOpenTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "EmptyFile" : "Nothing"; });

// Tests the files next to a database of SQLite's own, if a frame is there.
class VfsJournalsTest : public VfsOpenTest {
 protected:
  absl::StatusOr<Database> Fill(const std::string& vfs, const std::string& path,
                                int64_t value) const {
    CAIRN_ASSIGN_OR_RETURN(Database database, Database::OpenBy(vfs, path));
    CAIRN_RETURN_IF_ERROR(database.Execute(absl::StrCat(
        "CREATE TABLE t(a, b); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
        "LIMIT 1000) INSERT INTO t SELECT ",
        value, ", hex(randomblob(400)) FROM n")));
    return database;
  }

  // Dies within a transaction, of which pages are in the file already.
  static bool Dies(absl::FunctionRef<absl::StatusOr<Database>()> open) {
    const pid_t child = Begin("writer", [&]() -> absl::Status {
      CAIRN_RETURN_IF_ERROR(LoadSqliteExtension());
      CAIRN_ASSIGN_OR_RETURN(Database database, open());
      CAIRN_RETURN_IF_ERROR(
          database.Execute("PRAGMA cache_size=5; BEGIN; UPDATE t SET a = 1000, b = b || b"));
      kill(getpid(), SIGKILL);
      return absl::OkStatus();
    });
    int state = 0;
    return waitpid(child, &state, 0) == child && WIFSIGNALED(state);
  }

  bool Holds(const std::string& vfs, int64_t value) const {
    return Runs([&]() -> absl::Status {
      CAIRN_ASSIGN_OR_RETURN(Database database, Database::OpenBy(vfs, path_));
      CAIRN_RETURN_IF_ERROR(ExpectNumber(database, "SELECT sum(a) FROM t", 1000 * value));
      CAIRN_ASSIGN_OR_RETURN(const std::string check, database.Text("PRAGMA integrity_check"));
      return Expect(check == "ok", check);
    });
  }

  const std::string other_ = directory_.Path("other.db");
};

TEST_F(VfsJournalsTest, PlainDatabaseThatReplacesAnOpenFrameHasItsJournalOnTheDisk) {
  ASSERT_TRUE(Runs([&] { return Fill("cairn", path_, 1).status(); }));
  ASSERT_TRUE(Runs([&] { return Fill("unix", other_, 2).status(); }));
  EXPECT_TRUE(Dies([&]() -> absl::StatusOr<Database> {
    CAIRN_ASSIGN_OR_RETURN(static Database frame, Database::Open(path_));
    CAIRN_RETURN_IF_ERROR(frame.Number("SELECT sum(a) FROM t").status());
    fs::rename(other_, path_);
    return Database::Open(path_);
  }));
  EXPECT_GT(fs::file_size(path_ + "-journal"), 0U);
  EXPECT_TRUE(Holds("cairn", 2));
}

TEST_F(VfsJournalsTest, PlainDatabaseThatReplacesAnOpenFrameHasItsWriteAheadLog) {
  ASSERT_TRUE(Runs([&] { return Fill("cairn", path_, 1).status(); }));
  ASSERT_TRUE(Runs([&]() -> absl::Status {
    CAIRN_ASSIGN_OR_RETURN(Database plain, Fill("unix", other_, 2));
    CAIRN_RETURN_IF_ERROR(plain.Execute("PRAGMA journal_mode=WAL"));
    CAIRN_RETURN_IF_ERROR(plain.Execute("UPDATE t SET a = 3"));
    for (const char* const end : {"", "-wal"}) fs::copy_file(other_ + end, other_ + ".copy" + end);
    return absl::OkStatus();
  }));
  EXPECT_TRUE(Runs([&]() -> absl::Status {
    CAIRN_ASSIGN_OR_RETURN(Database frame, Database::Open(path_));
    for (const char* const end : {"-wal", ""}) fs::rename(other_ + ".copy" + end, path_ + end);
    CAIRN_ASSIGN_OR_RETURN(Database plain, Database::Open(path_));
    CAIRN_RETURN_IF_ERROR(ExpectNumber(plain, "SELECT sum(a) FROM t", 3000));
    return plain.Execute("UPDATE t SET a = 4");
  }));
  EXPECT_TRUE(Holds("unix", 4));
}

// Also by another name.
TEST_F(VfsJournalsTest, FrameLeavesTheJournalsOfAPlainDatabaseAlone) {
  ASSERT_TRUE(Runs([&] { return Fill("unix", path_, 1).status(); }));
  ASSERT_TRUE(Dies([&] { return Database::OpenBy("unix", path_); }));
  const auto journal_size = fs::file_size(path_ + "-journal");
  const std::string plain = directory_.Path("plain.db");
  fs::rename(path_, plain);
  fs::copy_file(path_ + "-journal", path_ + "-wal");
  ASSERT_TRUE(Runs([&] { return Fill("cairn", path_, 2).status(); }));
  const std::string link = directory_.Path("link.db");
  fs::create_symlink("app.db", link);
  for (const std::string& name : {path_, link}) {
    EXPECT_TRUE(Runs([&]() -> absl::Status {
      CAIRN_ASSIGN_OR_RETURN(Database frame, Database::Open(name));
      CAIRN_RETURN_IF_ERROR(ExpectNumber(frame, "SELECT sum(a) FROM t", 2000));
      CAIRN_RETURN_IF_ERROR(frame.Execute("BEGIN; DELETE FROM t; ROLLBACK"));
      return frame.Execute("UPDATE t SET a = 2");
    }));
  }
  EXPECT_EQ(fs::file_size(path_ + "-journal"), journal_size);
  EXPECT_EQ(fs::file_size(path_ + "-wal"), journal_size);
  fs::rename(plain, path_);
  fs::remove(path_ + "-wal");
  EXPECT_TRUE(Holds("cairn", 1));
}

// Its connection does not see the frame, as SQLite has it.
TEST_F(VfsJournalsTest, FrameThatReplacesAnOpenPlainDatabaseIsReadAndWritten) {
  ASSERT_TRUE(Runs([&] { return Fill("unix", path_, 1).status(); }));
  ASSERT_TRUE(Runs([&] { return Fill("cairn", other_, 2).status(); }));
  EXPECT_TRUE(Runs([&]() -> absl::Status {
    CAIRN_ASSIGN_OR_RETURN(Database plain, Database::Open(path_));
    CAIRN_RETURN_IF_ERROR(ExpectNumber(plain, "SELECT sum(a) FROM t", 1000));
    fs::rename(other_, path_);
    CAIRN_ASSIGN_OR_RETURN(Database frame, Database::Open(path_));
    CAIRN_RETURN_IF_ERROR(ExpectNumber(frame, "SELECT sum(a) FROM t", 2000));
    CAIRN_RETURN_IF_ERROR(ExpectNumber(plain, "SELECT sum(a) FROM t", 1000));
    return frame.Execute("UPDATE t SET a = 5");
  }));
  EXPECT_TRUE(Holds("cairn", 5));
}

}  // namespace
}  // namespace cairn::test
