// A connection of the stock SQLite library to a database in a frame.
#ifndef CAIRN_TESTS_SQLITE_DATABASE_H_
#define CAIRN_TESTS_SQLITE_DATABASE_H_

#include <cstdint>
#include <memory>
#include <sqlite3.h>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace cairn::test {

// Loads the extension that CAIRN_SQLITE names. A process that forks does so in its children.
absl::Status LoadSqliteExtension();

class Database {
 public:
  // Through the VFS `cairn`, or the one that CAIRN_TEST_VFS names.
  static absl::StatusOr<Database> Open(const std::string& path);
  static absl::StatusOr<Database> OpenBy(const std::string& vfs, const std::string& path);

  // kUnavailable for SQLITE_BUSY, else kInternal.
  absl::Status Execute(const std::string& sql);
  // The first column of the first row.
  absl::StatusOr<int64_t> Number(const std::string& sql);
  absl::StatusOr<std::string> Text(const std::string& sql);

 private:
  struct Closer {
    void operator()(sqlite3* db) const { sqlite3_close(db); }
  };
  explicit Database(sqlite3* db) : db_(db) {}
  absl::Status Failed(int code, const std::string& what) const;

  std::unique_ptr<sqlite3, Closer> db_;
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SQLITE_DATABASE_H_
