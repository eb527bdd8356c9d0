// A connection of the stock SQLite library, and statements of it.
#ifndef CAIRN_TOOLS_BENCH_SQLITE_CONNECTION_H_
#define CAIRN_TOOLS_BENCH_SQLITE_CONNECTION_H_

#include <cstdint>
#include <memory>
#include <sqlite3.h>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace cairn::bench::sqlite {

class Statement {
 public:
  void Bind(int parameter, int64_t value);
  void Bind(int parameter, double value);
  // The text must live until the statement has run.
  void Bind(int parameter, std::string_view text);
  // Runs the statement to its end, adds up the first column of its rows, and makes it ready to run
  // again.
  absl::StatusOr<int64_t> Run();

 private:
  friend class Connection;
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}

  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
};

class Connection {
 public:
  // `uri` is like "file:/tmp/app.db?vfs=cairn".
  static absl::StatusOr<Connection> Open(const std::string& uri);

  absl::Status Execute(const std::string& sql);
  absl::StatusOr<Statement> Prepare(const std::string& sql);

 private:
  struct Closer {
    void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
  };
  explicit Connection(sqlite3* db) : db_(db) {}

  std::unique_ptr<sqlite3, Closer> db_;
};

// Loads an extension into the process for good. Returns true if the VFS `cairn` exists now.
absl::StatusOr<bool> LoadExtension(const std::string& path);

}  // namespace cairn::bench::sqlite

#endif  // CAIRN_TOOLS_BENCH_SQLITE_CONNECTION_H_
