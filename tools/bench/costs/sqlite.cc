// Measures transactions and reads of a database in a frame.

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

#include "tools/bench/costs/operation.h"
#include "tools/bench/sqlite/connection.h"
#include "tools/status.h"

namespace cairn::bench {
namespace {

using sqlite::Connection;
using sqlite::Statement;

constexpr int64_t kRows = 10'000;

struct Database {
  Connection connection;
  Statement statement;
};

// A table of kRows rows, and a statement about it.
absl::StatusOr<std::shared_ptr<Database>> OpenDatabase(const std::string& folder,
                                                       const std::string& sql) {
  RETURN_IF_ERROR(sqlite::LoadExtension(CAIRN_SQLITE_EXTENSION).status());
  ASSIGN_OR_RETURN(Connection connection,
                   Connection::Open(absl::StrCat("file:", folder, "/app.db?vfs=cairn")));
  RETURN_IF_ERROR(connection.Execute("PRAGMA synchronous = OFF"));
  RETURN_IF_ERROR(connection.Execute("CREATE TABLE t (id INTEGER PRIMARY KEY, x, text)"));
  RETURN_IF_ERROR(connection.Execute(absl::StrCat(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ", kRows,
      ") INSERT INTO t SELECT i, i * 7919 % 1000, 'the text of row ' || i FROM n")));
  ASSIGN_OR_RETURN(Statement statement, connection.Prepare(sql));
  return std::make_shared<Database>(Database{std::move(connection), std::move(statement)});
}

absl::StatusOr<Steps> InsertARow(const std::string& folder) {
  ASSIGN_OR_RETURN(const auto database,
                   OpenDatabase(folder, "INSERT INTO t(x, text) VALUES(?1, 'a new row')"));
  return Steps{[database](int64_t number) {
    database->statement.Bind(1, number);
    return database->statement.Run().status();
  }};
}

absl::StatusOr<Steps> UpdateTenRows(const std::string& folder) {
  ASSIGN_OR_RETURN(const auto database,
                   OpenDatabase(folder, "UPDATE t SET x = x + 1 WHERE id = ?1"));
  return Steps{[database](int64_t number) -> absl::Status {
    RETURN_IF_ERROR(database->connection.Execute("BEGIN IMMEDIATE"));
    for (int64_t i = 0; i < 10; ++i) {
      database->statement.Bind(1, (number * 10 + i) * 7919 % kRows + 1);
      RETURN_IF_ERROR(database->statement.Run().status());
    }
    return database->connection.Execute("COMMIT");
  }};
}

absl::StatusOr<Steps> ReadARow(const std::string& folder) {
  ASSIGN_OR_RETURN(const auto database, OpenDatabase(folder, "SELECT x FROM t WHERE id = ?1"));
  return Steps{[database](int64_t number) {
    database->statement.Bind(1, number * 7919 % kRows + 1);
    return database->statement.Run().status();
  }};
}

}  // namespace

std::vector<Operation> SqliteOperations() {
  return {{"SQLite: transaction of a row", 1000, InsertARow},
          {"SQLite: transaction of 10 updates", 400, UpdateTenRows},
          {"SQLite: read of a row", 500, ReadARow}};
}

}  // namespace cairn::bench
