// Rows that a transaction of SQLite appends.
#ifndef CAIRN_TOOLS_SQLITE_TABLE_APPEND_H_
#define CAIRN_TOOLS_SQLITE_TABLE_APPEND_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/log_writer.h"
#include "cairn/writer.h"
#include "tools/sqlite/table/frame_table.h"

namespace cairn::sqlite {

// One transaction. Holds the frame's writer; without Commit nothing is appended.
class Append {
 public:
  // kUnavailable while another writer holds the frame and `wait` has passed; kUnimplemented for an
  // array with several dimensions.
  static absl::StatusOr<std::unique_ptr<Append>> Begin(FrameTable& table,
                                                       std::chrono::milliseconds wait);

  // The number of the first row of the transaction.
  int64_t first_row() const { return first_row_; }
  // The rows that are not committed yet, which do not change while they are kept.
  const std::shared_ptr<std::vector<std::byte>>& rows() const { return rows_; }
  // A row to be filled, and its number.
  std::span<std::byte> AddRow();
  void DropLastRow();
  int64_t end_row() const;
  // Whether Undo or Commit would change anything.
  bool has_rows() const { return !rows_->empty() || committed_ > 0; }

  void Savepoint(int number);
  void Release(int number);
  void RollbackTo(int number);

  // Appends the rows in one commit that survives a power cut.
  absl::Status Commit();
  // Lets the frame go.
  absl::Status Finish();
  // Takes back what Commit appended, if anything.
  absl::Status Undo();

 private:
  explicit Append(FrameTable& table) : table_(table) {}
  std::vector<std::byte>& OwnRows();

  FrameTable& table_;
  std::optional<Writer> writer_;         // of a frame
  std::optional<LogWriter> log_writer_;  // or of a log
  int64_t first_row_ = 0;
  size_t row_size_ = 1;
  int64_t committed_ = 0;  // rows
  std::shared_ptr<std::vector<std::byte>> rows_ = std::make_shared<std::vector<std::byte>>();
  std::map<int, size_t> savepoints_;  // by number the size of the rows
};

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_TABLE_APPEND_H_
