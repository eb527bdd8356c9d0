// Which connections wait for the disk: the syncs that a VFS makes, counted.
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "tests/sqlite/database.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"
#include "tests/support/unsynced_file_system.h"
#include "tools/sqlite/vfs/vfs.h"

namespace cairn::test {
namespace {

class SyncedFile final : public UnsyncedFile {
 public:
  SyncedFile(std::unique_ptr<File> base, int64_t* syncs)
      : UnsyncedFile(std::move(base)), syncs_(*syncs) {}
  absl::Status Sync(SyncMode mode) override {
    ++syncs_;
    return UnsyncedFile::Sync(mode);
  }

 private:
  int64_t& syncs_;
};

class SyncCounter final : public UnsyncedFileSystem {
 public:
  absl::StatusOr<std::unique_ptr<File>> WrapFile(std::unique_ptr<File> file, const std::string&,
                                                 FileMode) override {
    return std::make_unique<SyncedFile>(std::move(file), &syncs_);
  }
  absl::Status SyncDirectoryOf(const std::string& path) override {
    ++syncs_;
    return UnsyncedFileSystem::SyncDirectoryOf(path);
  }
  int64_t TakeSyncs() { return std::exchange(syncs_, 0); }

 private:
  int64_t syncs_ = 0;
};

// Keeps the writer until the connections are closed, or gives it up after each transaction.
struct CountedVfs {
  CountedVfs(const char* vfs, std::chrono::milliseconds keep) : name(vfs) {
    EXPECT_EQ(sqlite::RegisterVfs(name, {.files = Unowned(&files), .keep = keep}), SQLITE_OK);
  }
  SyncCounter files;
  const char* const name;
};
CountedVfs& CountedAndKept() {
  static CountedVfs& vfs = *new CountedVfs("counted and kept", std::chrono::hours(1000));
  return vfs;
}
CountedVfs& CountedAlone() {
  static CountedVfs& vfs = *new CountedVfs("counted", std::chrono::milliseconds(0));
  return vfs;
}

class VfsSyncsTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    Open("CREATE TABLE t(a INTEGER PRIMARY KEY, b); INSERT INTO t(b) VALUES(randomblob(50000))");
    vfs_.files.TakeSyncs();
  }
  Database Open(const std::string& sql, const std::string& parameters = "") {
    absl::StatusOr<Database> database = Database::OpenBy(vfs_.name, path_, parameters);
    EXPECT_TRUE(IsOk(database));
    EXPECT_TRUE(IsOk(database->Execute(sql)));
    return *std::move(database);
  }

  const TempDir directory_;
  const std::string path_ = directory_.Path("app.db");
  CountedVfs& vfs_ = GetParam() ? CountedAndKept() : CountedAlone();
};

constexpr char kWrites[] =
    "INSERT INTO t(b) VALUES('x'); UPDATE t SET b = 'y' WHERE a > 1; BEGIN; DELETE FROM t WHERE "
    "a = 5; ROLLBACK; BEGIN IMMEDIATE; COMMIT;";

TEST_P(VfsSyncsTest, OpeningWritingAndClosingWithSynchronousOffSyncsNothing) {
  for (const char* const mode : {"delete", "truncate", "persist", "memory", "off"}) {
    for (int i = 0; i < 5; ++i) {
      Open(absl::StrCat("PRAGMA synchronous=OFF; PRAGMA journal_mode=", mode, "; ", kWrites));
    }
    EXPECT_EQ(vfs_.files.TakeSyncs(), 0) << mode;
  }
  EXPECT_EQ(*Open("").Number("SELECT count(*) FROM t"), 26);
  EXPECT_EQ(*Open("").Text("PRAGMA integrity_check"), "ok");
}

TEST_P(VfsSyncsTest, DurabilityOfTheProcessSyncsNothingWhateverSynchronousSays) {
  for (int i = 0; i < 5; ++i) Open(kWrites, "&durability=process");
  EXPECT_EQ(vfs_.files.TakeSyncs(), 0);
}

TEST_P(VfsSyncsTest, SeveralDatabasesWithSynchronousOffSyncNothing) {
  const std::string other = directory_.Path("other.db");
  const std::string attach = absl::StrCat("ATTACH 'file:", other, "?vfs=", vfs_.name, "' AS o; ");
  Open(attach + "CREATE TABLE o.u(a)");
  vfs_.files.TakeSyncs();
  for (int i = 0; i < 3; ++i) {
    Open(attach +
         "PRAGMA synchronous=OFF; PRAGMA o.synchronous=OFF; BEGIN; INSERT INTO t(b) VALUES(1); "
         "INSERT INTO u VALUES(1); COMMIT");
  }
  EXPECT_EQ(vfs_.files.TakeSyncs(), 0);
}

// Reading and taking the lock are not a reason to sync either, whatever was asked for.
TEST_P(VfsSyncsTest, TransactionsThatWriteNothingSyncNothing) {
  Open("SELECT * FROM t; BEGIN IMMEDIATE; ROLLBACK; BEGIN EXCLUSIVE; COMMIT");
  EXPECT_EQ(vfs_.files.TakeSyncs(), 0);
}

// The sync includes the transactions before.
TEST_P(VfsSyncsTest, FirstDurableTransactionSyncs) {
  Open(absl::StrCat("PRAGMA synchronous=OFF; ", kWrites));
  Database database = Open(absl::StrCat("PRAGMA synchronous=OFF; ", kWrites));
  EXPECT_EQ(vfs_.files.TakeSyncs(), 0);
  EXPECT_TRUE(IsOk(database.Execute("PRAGMA synchronous=FULL; INSERT INTO t(b) VALUES(1)")));
  EXPECT_GT(vfs_.files.TakeSyncs(), 0);
  // Back again after it was opened.
  EXPECT_TRUE(IsOk(database.Execute("PRAGMA synchronous=OFF; INSERT INTO t(b) VALUES(2)")));
  { const Database closed = std::move(database); }
  EXPECT_EQ(vfs_.files.TakeSyncs(), 0);
}

INSTANTIATE_TEST_SUITE_P(Kept, VfsSyncsTest, testing::Bool());

}  // namespace
}  // namespace cairn::test
