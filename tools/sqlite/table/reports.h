// The rows of the table-valued functions about a frame.
#ifndef CAIRN_TOOLS_SQLITE_TABLE_REPORTS_H_
#define CAIRN_TOOLS_SQLITE_TABLE_REPORTS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "tools/sqlite/base/sqlite_api.h"

namespace cairn::sqlite {

class FrameReport {
 public:
  virtual ~FrameReport() = default;
  virtual int64_t nrows() const = 0;
  // Makes a value the result of a column.
  virtual absl::Status Return(sqlite3_context* context, int64_t row, int column) const = 0;
};

using MakeReport = absl::StatusOr<std::unique_ptr<FrameReport>> (*)(const std::string& path);
struct ReportKind {
  const char* name;     // name of the function
  const char* columns;  // in the form of CREATE TABLE
  int ncolumns;
  MakeReport make;
};
inline constexpr int kReportKinds = 4;
extern const ReportKind kReports[kReportKinds];

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_TABLE_REPORTS_H_
