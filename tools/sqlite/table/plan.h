// Plans how a query goes through a table: xBestIndex chooses, and xFilter follows the plan.
#ifndef CAIRN_TOOLS_SQLITE_TABLE_PLAN_H_
#define CAIRN_TOOLS_SQLITE_TABLE_PLAN_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "tools/sqlite/base/sqlite_api.h"
#include "tools/sqlite/table/frame_table.h"
#include "tools/sqlite/table/scan.h"

namespace cairn::sqlite {

inline constexpr int kRowId = -1;

struct Plan {
  enum class Order : uint8_t { kRow, kRowDescending, kTime } order = Order::kRow;
  // A constraint whose value xFilter gets.
  struct Term {
    int column = kRowId;  // number in the table, coordinates first
    int op = 0;           // SQLITE_INDEX_CONSTRAINT_EQ, LT, LE, GT or GE
  };
  std::vector<Term> terms = {};
  uint64_t used = 0;  // bit i: column i is used; bit 63: a column from there on
};
std::string EncodePlan(const Plan& plan);
Plan DecodePlan(std::string_view text);

// Chooses for sqlite3_module::xBestIndex, but does not set idxStr.
Plan ChoosePlan(const FrameTable& table, bool writable, sqlite3_index_info& info);

// Returns a scan of all rows for which the terms hold, and perhaps of more. For terms that SQLite
// need not check according to ChoosePlan, it returns exactly their rows.
absl::StatusOr<std::unique_ptr<Scan>> MakeScan(const FrameTable& table, const StatePtr& state,
                                               const Plan& plan,
                                               std::span<sqlite3_value* const> values);
// Returns a scan of records in memory, numbered from `first` on.
std::unique_ptr<Scan> MakeScanOf(const FrameTable& table, std::span<const std::byte> records,
                                 int64_t first, const Plan& plan,
                                 std::span<sqlite3_value* const> values);

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_TABLE_PLAN_H_
