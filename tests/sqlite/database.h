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
  // Through the VFS `cairn`, or the one that CAIRN_TEST_VFS names. `parameters` follow in the URI:
  // "&mode=ro".
  static absl::StatusOr<Database> Open(const std::string& path, const std::string& parameters = "");
  static absl::StatusOr<Database> OpenBy(const std::string& vfs, const std::string& path,
                                         const std::string& parameters = "");

  // kUnavailable for SQLITE_BUSY, else kInternal.
  absl::Status Execute(const std::string& sql);
  // The first column of the first row.
  absl::StatusOr<int64_t> Number(const std::string& sql);
  absl::StatusOr<std::string> Text(const std::string& sql);
  // sqlite3_file_control: a result code of SQLite.
  int Control(int op, void* arg) { return sqlite3_file_control(db_.get(), "main", op, arg); }
  sqlite3* handle() { return db_.get(); }
  // The extended result code of what was done last.
  int last_code() const { return sqlite3_extended_errcode(db_.get()); }

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
