// The space that the file of a database takes, when much of it is not needed any more.
#include <string>
#include <sys/stat.h>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "engine/base/status.h"
#include "tests/sqlite/children.h"
#include "tests/sqlite/database.h"
#include "tests/sqlite/expect.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

constexpr int64_t kKiB = 1024;

class VfsSpaceTest : public testing::Test {
 protected:
  // Deletes most of 8 MiB that do not compress. A quarter stays, all over the file.
  static absl::Status DeleteMost(Database& database) {
    CAIRN_RETURN_IF_ERROR(database.Execute(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, data BLOB);"
        "WITH RECURSIVE some(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM some WHERE n < 2048)"
        " INSERT INTO t(data) SELECT randomblob(3900) FROM some"));
    return database.Execute("DELETE FROM t WHERE id % 4 > 0");
  }

  absl::Status ExpectTakes(int64_t least, int64_t most) const {
    struct stat about;
    CAIRN_RETURN_IF_ERROR(Expect(stat(path_.c_str(), &about) == 0, "there is no file"));
    const int64_t bytes = int64_t{about.st_blocks} * 512;
    return Expect(least <= bytes && bytes <= most,
                  absl::StrCat(bytes, " bytes instead of ", least, " to ", most));
  }

  TempDir directory_;
  const std::string path_ = directory_.Path("app.db");
};

TEST_F(VfsSpaceTest, VacuumMakesTheFileAsSmallAsWhatLives) {
  EXPECT_TRUE(EndsWell(Begin("program", [&]() -> absl::Status {
    CAIRN_RETURN_IF_ERROR(LoadSqliteExtension());
    CAIRN_ASSIGN_OR_RETURN(Database database, Database::Open(path_));
    CAIRN_RETURN_IF_ERROR(DeleteMost(database));
    CAIRN_RETURN_IF_ERROR(ExpectTakes(7000 * kKiB, INT64_MAX));
    CAIRN_RETURN_IF_ERROR(database.Execute("VACUUM"));
    CAIRN_RETURN_IF_ERROR(ExpectTakes(512 * 3900, 2500 * kKiB));
    return ExpectNumber(database, "SELECT count(*) FROM t WHERE length(data) = 3900", 512);
  })));
}

// More pages than a writer keeps in memory, or frees in one step.
TEST_F(VfsSpaceTest, VacuumOfALargeDatabaseGivesAllBackAtOnce) {
  EXPECT_TRUE(EndsWell(Begin("program", [&]() -> absl::Status {
    CAIRN_RETURN_IF_ERROR(LoadSqliteExtension());
    CAIRN_ASSIGN_OR_RETURN(Database database, Database::Open(path_));
    CAIRN_RETURN_IF_ERROR(database.Execute(
        "PRAGMA synchronous=OFF; CREATE TABLE t(id INTEGER PRIMARY KEY, data BLOB);"
        "WITH RECURSIVE some(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM some WHERE n < 60000)"
        " INSERT INTO t(data) SELECT randomblob(700) FROM some;"
        "DELETE FROM t WHERE id % 5 = 0; VACUUM"));
    CAIRN_RETURN_IF_ERROR(ExpectTakes(48000 * 700, 38000 * kKiB));
    return ExpectNumber(database, "SELECT count(*) FROM t WHERE length(data) = 700", 48000);
  })));
}

TEST_F(VfsSpaceTest, VacuumLeavesAReaderWhatItReads) {
  EXPECT_TRUE(EndsWell(Begin("program", [&]() -> absl::Status {
    CAIRN_RETURN_IF_ERROR(LoadSqliteExtension());
    CAIRN_ASSIGN_OR_RETURN(Database database, Database::Open(path_));
    CAIRN_RETURN_IF_ERROR(DeleteMost(database));
    CAIRN_ASSIGN_OR_RETURN(Database reader, Database::Open(path_));
    const std::string content = "SELECT sum(id * length(data)) FROM t";
    CAIRN_RETURN_IF_ERROR(reader.Execute("PRAGMA cache_size=0; BEGIN"));
    CAIRN_ASSIGN_OR_RETURN(const int64_t before, reader.Number(content));
    CAIRN_RETURN_IF_ERROR(database.Execute("VACUUM; DELETE FROM t"));
    CAIRN_RETURN_IF_ERROR(ExpectNumber(reader, content, before));
    CAIRN_RETURN_IF_ERROR(reader.Execute("COMMIT"));
    return ExpectNumber(reader, "SELECT count(*) FROM t", 0);
  })));
}

TEST_F(VfsSpaceTest, AClosedDatabaseGivesBackWhatItHasLeftUnused) {
  EXPECT_TRUE(EndsWell(Begin("program", [&]() -> absl::Status {
    CAIRN_RETURN_IF_ERROR(LoadSqliteExtension());
    {
      CAIRN_ASSIGN_OR_RETURN(Database database, Database::Open(path_));
      CAIRN_RETURN_IF_ERROR(database.Execute("PRAGMA synchronous=OFF; CREATE TABLE t(a BLOB)"));
      for (int i = 0; i < 500; ++i) {
        CAIRN_RETURN_IF_ERROR(database.Execute("INSERT INTO t VALUES(randomblob(900))"));
      }
    }
    return ExpectTakes(500 * 900, 900 * kKiB);  // 1,350 KiB otherwise
  })));
}

// Old states are not given up for space.
TEST_F(VfsSpaceTest, WhatHistoryKeepsStays) {
  EXPECT_TRUE(EndsWell(Begin("program", [&]() -> absl::Status {
    CAIRN_RETURN_IF_ERROR(LoadSqliteExtension());
    {
      CAIRN_ASSIGN_OR_RETURN(Database database, Database::Open(path_, "&history=10"));
      CAIRN_RETURN_IF_ERROR(DeleteMost(database));
      CAIRN_RETURN_IF_ERROR(database.Execute("VACUUM"));
    }
    CAIRN_ASSIGN_OR_RETURN(Database before, Database::Open(path_, "&generation=3"));
    return ExpectNumber(before, "SELECT count(*) FROM t", 2048);
  })));
}

}  // namespace
}  // namespace cairn::test
