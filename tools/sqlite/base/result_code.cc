#include "tools/sqlite/base/result_code.h"

#include <string>

#include "tools/sqlite/base/sqlite_api.h"

namespace cairn::sqlite {

int ResultCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return SQLITE_OK;
    case absl::StatusCode::kUnavailable:
      return SQLITE_BUSY;
    case absl::StatusCode::kResourceExhausted:
      return SQLITE_FULL;
    case absl::StatusCode::kDataLoss:
      return SQLITE_CORRUPT;
    case absl::StatusCode::kNotFound:
      return SQLITE_CANTOPEN;
    case absl::StatusCode::kPermissionDenied:
      return SQLITE_PERM;
    case absl::StatusCode::kUnimplemented:
      return SQLITE_READONLY;
    case absl::StatusCode::kInvalidArgument:
      return SQLITE_NOTADB;
    case absl::StatusCode::kCancelled:
      return SQLITE_INTERRUPT;
    default:
      return SQLITE_IOERR;
  }
}

int LogFailure(const absl::Status& status) {
  const int code = ResultCodeOf(status);
  if (code != SQLITE_OK) {
    sqlite3_log(code, "cairn: %s", std::string(status.message()).c_str());
  }
  return code;
}

}  // namespace cairn::sqlite
