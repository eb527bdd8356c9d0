#include "tools/bench/sqlite/connection.h"

#include "absl/strings/str_cat.h"

#include "tools/status.h"

namespace cairn::bench::sqlite {

namespace {

absl::Status Failed(sqlite3* db, const std::string& what) {
  return absl::InternalError(absl::StrCat("SQLite: ", what, ": ", sqlite3_errmsg(db)));
}

}  // namespace

void Statement::Bind(int parameter, int64_t value) {
  sqlite3_bind_int64(statement_.get(), parameter, value);
}

void Statement::Bind(int parameter, double value) {
  sqlite3_bind_double(statement_.get(), parameter, value);
}

void Statement::Bind(int parameter, std::string_view text) {
  sqlite3_bind_text(statement_.get(), parameter, text.data(), static_cast<int>(text.size()),
                    SQLITE_STATIC);
}

absl::StatusOr<int64_t> Statement::Run() {
  int64_t sum = 0;
  int code = SQLITE_OK;
  while ((code = sqlite3_step(statement_.get())) == SQLITE_ROW) {
    sum += sqlite3_column_int64(statement_.get(), 0);
  }
  if (code != SQLITE_DONE) {
    const absl::Status status =
        Failed(sqlite3_db_handle(statement_.get()), sqlite3_sql(statement_.get()));
    sqlite3_reset(statement_.get());
    return status;
  }
  sqlite3_reset(statement_.get());
  return sum;
}

absl::StatusOr<Connection> Connection::Open(const std::string& uri) {
  sqlite3* db = nullptr;
  const int code = sqlite3_open_v2(
      uri.c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI, nullptr);
  Connection connection(db);
  if (code != SQLITE_OK) return Failed(db, uri);
  return connection;
}

absl::Status Connection::Execute(const std::string& sql) {
  if (sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return Failed(db_.get(), sql);
  }
  return absl::OkStatus();
}

absl::StatusOr<Statement> Connection::Prepare(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db_.get(), sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
    return Failed(db_.get(), sql);
  }
  return Statement(statement);
}

absl::StatusOr<bool> LoadExtension(const std::string& path) {
  sqlite3* db = nullptr;
  sqlite3_open(":memory:", &db);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, nullptr);
  char* message = nullptr;
  absl::Status status;
  if (sqlite3_load_extension(db, path.c_str(), nullptr, &message) != SQLITE_OK) {
    status = absl::NotFoundError(absl::StrCat(path, ": ", message ? message : "cannot be loaded"));
    sqlite3_free(message);
  }
  sqlite3_close(db);
  RETURN_IF_ERROR(status);
  return sqlite3_vfs_find("cairn") != nullptr;
}

}  // namespace cairn::bench::sqlite
