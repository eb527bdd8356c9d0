// Writes records of a log on standard output.
#ifndef CAIRN_TOOLS_CAIRN_STREAMS_LOG_ROWS_H_
#define CAIRN_TOOLS_CAIRN_STREAMS_LOG_ROWS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"

#include "cairn/log.h"
#include "tools/cairn/records/row_writer.h"

namespace cairn::tool {

class LogRows {
 public:
  // With `numbers`, the first column has the numbers of the records.
  LogRows(std::vector<Field> fields, RowStyle style, bool numbers);

  // Shows all fields of the log from now on, if it has others than are shown. CSV gets a new head.
  absl::Status ShowAll(const LogSnapshot& log);
  // Writes the batch of a query of these fields.
  absl::Status WriteBatch(const LogBatch& batch);
  // Writes records by number, begin to end, piece by piece. Leaves deleted ones out.
  absl::Status WriteRecords(const LogSnapshot& log, int64_t begin, int64_t end);
  absl::Status Finish() { return writer_.Finish(); }

 private:
  absl::Status WriteRun(const LogSnapshot& log, int64_t begin, int64_t end);
  // Writes records with these numbers. `columns` has their fields.
  absl::Status Write(const std::vector<int64_t>& numbers, std::vector<ColumnView> columns);

  std::vector<Field> fields_;
  RowStyle style_;
  bool numbers_;
  RowWriter writer_;
};

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_STREAMS_LOG_ROWS_H_
