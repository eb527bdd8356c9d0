// Goes through the rows of a table, batch by batch.
#ifndef CAIRN_TOOLS_SQLITE_TABLE_SCAN_H_
#define CAIRN_TOOLS_SQLITE_TABLE_SCAN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"

#include "cairn/log.h"
#include "tools/sqlite/table/column.h"
#include "tools/sqlite/table/frame_table.h"
#include "tools/sqlite/table/number.h"

namespace cairn::sqlite {

// The place of a column's first value, and the distance between values. Null if it is not loaded.
struct ColumnView {
  const std::byte* data = nullptr;
  size_t step = 0;  // bytes
};

// Some rows. Values at(i) of a column belong to row(i).
struct Batch {
  size_t size = 0;
  int64_t first = 0;                  // row number of value 0; the others follow it,
  std::vector<int64_t> numbers = {};  // unless these are their numbers
  std::vector<ColumnView> columns = {};

  int64_t NumberOf(size_t i) const {
    return numbers.empty() ? first + static_cast<int64_t>(i) : numbers[i];
  }
};

class Scan {
 public:
  virtual ~Scan() = default;
  // Gets the next rows, or none at the end. The batches before lose their values.
  virtual absl::Status Next(Batch& batch) = 0;
  // Loads a column of this batch. The following ones have it as well.
  virtual absl::Status Load(Batch& batch, size_t column) = 0;
  // Returns true if the rows of a batch must be visited from the last to the first.
  virtual bool descending() const { return false; }
};

using StatePtr = std::shared_ptr<const TableState>;

// Scans rows by number. Loads the columns whose `wanted` is set with each batch. `columns` must
// outlive the scan.
std::unique_ptr<Scan> MakeRangeScan(StatePtr state, const std::vector<Column>& columns,
                                    const IntegerRange& rows, std::vector<bool> wanted,
                                    bool descending);
// Scans items of a box of an array, in C order.
std::unique_ptr<Scan> MakeBoxScan(StatePtr state, const std::vector<Column>& columns,
                                  const IntegerRange& rows, std::vector<IntegerRange> box);
// Scans the rows that a query of a log finds. `used` are the columns that the query returns, in the
// order of its fields.
absl::StatusOr<std::unique_ptr<Scan>> MakeLogScan(const StatePtr& state,
                                                  const std::vector<Column>& columns,
                                                  const IntegerRange& rows, const LogQuery& query,
                                                  std::vector<size_t> used);
// Rows in memory.
struct MemoryRows {
  std::vector<std::byte> records = {};
  std::vector<int64_t> numbers = {};
  std::vector<ColumnView> columns = {};  // columns of `records`
};
std::unique_ptr<Scan> MakeMemoryScan(MemoryRows rows, bool descending);

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_TABLE_SCAN_H_
