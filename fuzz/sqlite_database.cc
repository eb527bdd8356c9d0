// The input is a frame that is opened as a database of SQLite, read and written.
#include <cstdlib>
#include <memory>
#include <sqlite3.h>
#include <string>

#include "fuzz/check.h"
#include "fuzz/disk_files.h"
#include "fuzz/mutator.h"
#include "tests/sqlite/swapped_files.h"
#include "tests/support/simulated_disk.h"
#include "tests/support/unowned.h"
#include "tools/sqlite/vfs/vfs.h"

namespace cairn::fuzz {
namespace {

constexpr int64_t kMostMemory = 32 << 20;  // of SQLite itself
constexpr int kMostSteps = 200;            // of a thousand instructions of its machine

test::SwappedFiles& Files() {
  static test::SwappedFiles& files = *new test::SwappedFiles;
  static const bool registered = [] {
    sqlite3_hard_heap_limit64(kMostMemory);
    // In one thread: a writer is suspended at once.
    return sqlite::RegisterVfs("fuzzed", {.files = test::Unowned(&files), .keep = {}}) == SQLITE_OK;
  }();
  Check(registered, "the VFS is registered");
  return files;
}

// A connection that gives up what takes long.
class Connection {
 public:
  explicit Connection(const std::string& parameters) {
    sqlite3* db = nullptr;
    open_ = sqlite3_open_v2(("file:/f?vfs=fuzzed" + parameters).c_str(), &db,
                            SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI, nullptr) == SQLITE_OK;
    db_.reset(db);
    if (!open_) return;
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 20);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_progress_handler(
        db, 1000, [](void* steps) { return ++*static_cast<int*>(steps) > kMostSteps ? 1 : 0; },
        &steps_);
    Run("PRAGMA temp_store=MEMORY");
  }

  bool is_open() const { return open_; }

  // The rows as texts, a line each; nothing after an error.
  std::string Run(const std::string& sql) {
    steps_ = 0;
    std::string rows;
    const auto add = [](void* to, int columns, char** values, char**) {
      for (int i = 0; i < columns; ++i) {
        if (values[i] != nullptr) static_cast<std::string*>(to)->append(values[i]);
      }
      static_cast<std::string*>(to)->push_back('\n');
      return 0;
    };
    code_ = sqlite3_exec(db_.get(), sql.c_str(), add, &rows, nullptr);
    Check((code_ & 0xff) != SQLITE_MISUSE, "SQLite is used well", sql);
    return code_ == SQLITE_OK ? rows : std::string();
  }
  bool Does(const std::string& sql) {
    Run(sql);
    return code_ == SQLITE_OK;
  }

 private:
  struct Closer {
    void operator()(sqlite3* db) const {
      Check(sqlite3_close(db) == SQLITE_OK, "a connection is closed");
    }
  };

  std::unique_ptr<sqlite3, Closer> db_;
  bool open_ = false;
  int code_ = SQLITE_OK;
  int steps_ = 0;
};

// A walk over all tables and indexes, and what the VFS itself tells.
bool ReadAll(Connection& connection) {
  for (const char* pragma : {"cairn_info", "cairn_history", "cairn_verify", "page_count"}) {
    connection.Run(std::string("PRAGMA ") + pragma);
  }
  connection.Run("SELECT * FROM numbers; SELECT count(*), sum(length(b)) FROM texts");
  return connection.Run("PRAGMA integrity_check(5)") == "ok\n";
}

void Use(const std::string& parameters) {
  bool is_well = false;
  bool committed = false;
  {
    Connection connection(parameters);
    if (!connection.is_open()) return;
    is_well = ReadAll(connection);
    connection.Run("BEGIN; DELETE FROM texts; UPDATE numbers SET a = a + 1000");
    connection.Run("ROLLBACK");
    committed = connection.Does(
        "BEGIN; CREATE TABLE fuzzed(a, b); INSERT INTO fuzzed VALUES(1, zeroblob(3000)); COMMIT");
    connection.Run("ROLLBACK");
    connection.Run("DELETE FROM numbers; UPDATE texts SET b = b || b");
  }
  {
    Connection connection(parameters);
    Check(!committed || connection.is_open(), "what was written opens");
    if (!connection.is_open()) return;
    if (is_well && committed) {
      Check(connection.Run("SELECT a + length(b) FROM fuzzed") == "3001\n",
            "what was written is there");
      Check(connection.Run("PRAGMA integrity_check(5)") == "ok\n", "what was well is so still");
    }
    connection.Run("DELETE FROM texts WHERE rowid > 1; VACUUM");
    const bool is_well_now = ReadAll(connection);
    Check(is_well_now || !is_well || !committed, "what became shorter is well");
  }
}

}  // namespace
}  // namespace cairn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cairn::fuzz;
  for (const char* parameters : {"", "&generation=1"}) {
    cairn::test::SimulatedDisk disk;
    WriteFile(disk, "f", AsBytes(data, size));
    Files().Set(disk.root());
    Use(parameters);
  }
  return 0;
}
