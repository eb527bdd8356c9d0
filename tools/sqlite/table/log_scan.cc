#include <algorithm>
#include <utility>

#include "tools/sqlite/table/scan.h"
#include "tools/status.h"

namespace cairn::sqlite {

namespace {

class LogScan final : public Scan {
 public:
  LogScan(LogCursor cursor, const std::vector<Column>& columns, const IntegerRange& rows,
          std::vector<size_t> used)
      : cursor_(std::move(cursor)), columns_(columns), rows_(rows), used_(std::move(used)) {}

  absl::Status Next(Batch& batch) override {
    batch.columns.assign(columns_.size(), {});
    batch.size = 0;
    do {
      ASSIGN_OR_RETURN(found_, cursor_.Next());
      if (found_.size() == 0) return absl::OkStatus();
      Choose();
    } while (found_.records.empty());
    batch.size = found_.records.size();
    batch.numbers.swap(found_.records);
    for (size_t i = 0; i < used_.size(); ++i) {
      batch.columns[used_[i]] = {.data = found_.columns[i].data(), .step = SizeOf(i)};
    }
    return absl::OkStatus();
  }

  absl::Status Load(Batch& /*batch*/, size_t column) override {
    return absl::InternalError("column " + columns_[column].name + ": was not asked for");
  }

 private:
  size_t SizeOf(size_t i) const { return static_cast<size_t>(columns_[used_[i]].size); }

  // Leaves the wanted rows.
  void Choose() {
    if (rows_ == IntegerRange()) return;
    size_t kept = 0;
    for (size_t row = 0; row < found_.records.size(); ++row) {
      if (!rows_.Contains(found_.records[row])) continue;
      if (kept < row) {
        found_.records[kept] = found_.records[row];
        for (size_t i = 0; i < used_.size(); ++i) {
          std::byte* const data = found_.columns[i].data();
          std::copy_n(data + row * SizeOf(i), SizeOf(i), data + kept * SizeOf(i));
        }
      }
      ++kept;
    }
    found_.records.resize(kept);
  }

  LogCursor cursor_;
  const std::vector<Column>& columns_;
  IntegerRange rows_;
  std::vector<size_t> used_;
  LogBatch found_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Scan>> MakeLogScan(const StatePtr& state,
                                                  const std::vector<Column>& columns,
                                                  const IntegerRange& rows, const LogQuery& query,
                                                  std::vector<size_t> used) {
  ASSIGN_OR_RETURN(LogCursor cursor, state->log()->Query(query));
  return std::make_unique<LogScan>(std::move(cursor), columns, rows, std::move(used));
}

}  // namespace cairn::sqlite
