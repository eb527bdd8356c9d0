#include "tests/sqlite/database.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"

#include "engine/base/status.h"

namespace cairn::test {

absl::Status LoadSqliteExtension() {
  const char* path = std::getenv("CAIRN_SQLITE");
  if (path == nullptr) return absl::FailedPreconditionError("CAIRN_SQLITE is not set");
  sqlite3* db = nullptr;
  sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE, "unix");
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, nullptr);
  char* message = nullptr;
  absl::Status status;
  if (sqlite3_load_extension(db, path, nullptr, &message) != SQLITE_OK) {
    status = absl::InternalError(absl::StrCat(path, ": ", message ? message : "not loaded"));
    sqlite3_free(message);
  }
  sqlite3_close(db);
  return status;
}

absl::StatusOr<Database> Database::Open(const std::string& path, const std::string& parameters) {
  const char* vfs = std::getenv("CAIRN_TEST_VFS");
  return OpenBy(vfs ? vfs : "cairn", path, parameters);
}

absl::StatusOr<Database> Database::OpenBy(const std::string& vfs, const std::string& path,
                                          const std::string& parameters) {
  sqlite3* db = nullptr;
  const int code =
      sqlite3_open_v2(absl::StrCat("file:", path, "?vfs=", vfs, parameters).c_str(), &db,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI, nullptr);
  Database database(db);
  if (code != SQLITE_OK) return database.Failed(code, "open");
  return database;
}

absl::Status Database::Execute(const std::string& sql) {
  const int code = sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? absl::OkStatus() : Failed(code, sql);
}

absl::StatusOr<std::string> Database::Text(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v2(db_.get(), sql.c_str(), -1, &statement, nullptr);
  std::string text;
  if (code == SQLITE_OK) {
    code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
      const unsigned char* column = sqlite3_column_text(statement, 0);
      if (column != nullptr) text = reinterpret_cast<const char*>(column);
    }
  }
  const absl::Status status = code == SQLITE_ROW ? absl::OkStatus() : Failed(code, sql);
  sqlite3_finalize(statement);
  CAIRN_RETURN_IF_ERROR(status);
  return text;
}

absl::StatusOr<int64_t> Database::Number(const std::string& sql) {
  CAIRN_ASSIGN_OR_RETURN(const std::string text, Text(sql));
  return std::strtoll(text.c_str(), nullptr, 10);
}

absl::Status Database::Failed(int code, const std::string& what) const {
  const std::string message = absl::StrCat(what, ": ", sqlite3_errmsg(db_.get()), " (", code,
                                           ", extended ", sqlite3_extended_errcode(db_.get()),
                                           ", errno ", sqlite3_system_errno(db_.get()), ")");
  return (code & 0xff) == SQLITE_BUSY ? absl::UnavailableError(message)
                                      : absl::InternalError(message);
}

}  // namespace cairn::test
