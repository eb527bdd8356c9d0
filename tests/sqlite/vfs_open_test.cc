// How files become databases, and which files connections open.
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <sys/stat.h>
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
TEST_F(VfsOpenTest, AnEmptyFileBecomesADatabaseWithItsPermissions) {
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

TEST_F(VfsOpenTest, AnEmptyFileIsAttachedBackedUpIntoAndVacuumedInto) {
  EXPECT_TRUE(Runs([&]() -> absl::Status {
    const std::string source = directory_.Path("source.db");
    CAIRN_ASSIGN_OR_RETURN(Database database, Database::Open(source));
    CAIRN_RETURN_IF_ERROR(database.Execute("CREATE TABLE t(a); INSERT INTO t VALUES(7)"));
    for (const std::string statement : {"VACUUM INTO", "ATTACH"}) {
      MakeEmptyFile(0644);
      const std::string uri = absl::StrCat("'file:", path_, "?vfs=cairn'");
      CAIRN_RETURN_IF_ERROR(
          database.Execute(absl::StrCat(statement, " ", uri, statement == "ATTACH" ? " AS b" : "")));
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

}  // namespace
}  // namespace cairn::test
