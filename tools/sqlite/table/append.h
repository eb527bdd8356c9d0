// Rows that a transaction of SQLite appends.
#ifndef CAIRN_TOOLS_SQLITE_TABLE_APPEND_H_
#define CAIRN_TOOLS_SQLITE_TABLE_APPEND_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/key_texts.h"
#include "cairn/log_writer.h"
#include "cairn/record.h"
#include "cairn/writer.h"
#include "tools/sqlite/table/frame_table.h"
#include "tools/sqlite/table/shared_collection.h"

namespace cairn::sqlite {

// A transaction. It holds the frame's writer. Without Commit nothing is appended.
//
// Tables of members of one collection share its writer. The last of their Commit calls commits the
// rows of all, so each has to be called.
class Append final : public TransactionPart {
 public:
  // Begins a transaction. Errors: kUnavailable if another writer holds the frame for longer than
  // `wait`; kUnimplemented for an array with several dimensions.
  static absl::StatusOr<std::unique_ptr<Append>> Begin(FrameTable& table,
                                                       std::chrono::milliseconds wait);
  Append(const Append&) = delete;
  Append& operator=(const Append&) = delete;
  ~Append() override;

  // Returns the number of the first row of the transaction.
  int64_t first_row() const { return first_row_; }
  // Returns the rows that are not committed yet. They do not change while the result is kept.
  const std::shared_ptr<std::vector<std::byte>>& rows() const { return rows_; }
  // Adds a row and returns it to be filled. Its number is end_row() before the call.
  std::span<std::byte> AddRow();
  void DropLastRow();
  // Returns the code of a text in a field of a log that has codes of texts. Errors: as for
  // LogWriter::CodeOf.
  absl::StatusOr<uint32_t> CodeOf(const Field& field, std::string_view text);
  // Returns the texts of such a field with those that only rows of this transaction have.
  std::shared_ptr<const KeyTexts> WithNewTexts(const Field& field,
                                               std::shared_ptr<const KeyTexts> texts) const;
  int64_t end_row() const;
  // Returns true if Undo or Commit would change anything.
  bool has_rows() const { return !rows_->empty() || committed_ > 0; }

  void Savepoint(int number);
  void Release(int number);
  void RollbackTo(int number);

  // Appends the rows in one commit that survives a power cut.
  absl::Status Commit();
  // Releases the frame.
  absl::Status Finish();
  // Takes back what Commit appended, if anything.
  absl::Status Undo();

 private:
  struct NewTexts {
    int64_t first = 0;  // code
    std::vector<std::string> texts;
  };

  explicit Append(FrameTable& table) : table_(table) {}
  absl::Status OpenWriter(std::chrono::milliseconds wait);
  std::vector<std::byte>& OwnRows();

  const std::string& member() const override { return table_.member()->name; }
  bool has_pending() const override { return !rows_->empty(); }
  bool has_committed() const override { return committed_ > 0; }
  absl::Status StageRows(MemberWriter& writer) const override;
  absl::Status StageUndo(MemberWriter& writer) const override;
  void NoteCommitted() override;
  void NoteUndone() override { committed_ = 0; }

  FrameTable& table_;
  std::optional<Writer> writer_;                        // for a frame
  std::optional<LogWriter> log_writer_;                 // or for a log
  std::shared_ptr<CollectionTransaction> transaction_;  // or for a member
  int64_t first_row_ = 0;
  size_t row_size_ = 1;
  int64_t committed_ = 0;  // rows
  std::shared_ptr<std::vector<std::byte>> rows_ = std::make_shared<std::vector<std::byte>>();
  std::map<int, size_t> savepoints_;                        // size of the rows, by number
  std::map<std::string, NewTexts, std::less<>> new_texts_;  // by field
};

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_TABLE_APPEND_H_
