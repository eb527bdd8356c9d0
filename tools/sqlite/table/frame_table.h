// Shows a frame or log as a table: its columns, and its rows in one state.
#ifndef CAIRN_TOOLS_SQLITE_TABLE_FRAME_TABLE_H_
#define CAIRN_TOOLS_SQLITE_TABLE_FRAME_TABLE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/collection.h"
#include "cairn/frame.h"
#include "cairn/log.h"
#include "cairn/snapshot.h"
#include "tools/members/place.h"
#include "tools/sqlite/table/arguments.h"
#include "tools/sqlite/table/column.h"
#include "tools/sqlite/table/shared_collection.h"

namespace cairn::sqlite {

// A committed state. Rows have the numbers of items: for an array in C order, for a log those of
// its records, the first of which may be dropped.
class TableState {
 public:
  // Errors: kDataLoss for an array whose chunks are not those of its shape.
  static absl::StatusOr<TableState> Make(const Snapshot& snapshot);
  static absl::StatusOr<TableState> Make(const LogSnapshot& log);
  // Errors: also those of CollectionSnapshot::OpenMember.
  static absl::StatusOr<TableState> Make(const CollectionSnapshot& collection,
                                         const std::string& member);

  int64_t first_row() const { return parts_.front().first; }
  int64_t end_row() const { return parts_.back().end; }
  // Returns the shape of an array with several dimensions, or nothing for any other frame.
  const std::vector<int64_t>& shape() const { return shape_; }
  // Returns the items of a block in each dimension.
  const std::vector<int32_t>& blockshape() const { return snapshot().array()->blockshape; }
  int32_t item_size() const { return snapshot().info().typesize; }
  // Returns null if it is not a log.
  const LogSnapshot* log() const { return log_ ? &*log_ : nullptr; }
  // Returns the number of the collection's commit, of a member.
  uint64_t commit() const { return commit_; }
  // The newest frame.
  const Snapshot& snapshot() const { return parts_.back().snapshot; }

  // Returns the end of a batch of rows from `row` on, at most `count`, whose last block or chunk is
  // complete if possible, so that none is decoded twice.
  int64_t AlignedEnd(int64_t row, int64_t count) const;
  // Reads fields of rows that do not have several dimensions; see Snapshot::ReadFields.
  absl::Status ReadFields(int64_t row, int64_t count, std::span<const FieldSpan> fields) const;

 private:
  // The rows of one frame.
  struct Part {
    Snapshot snapshot;
    int64_t first = 0;
    int64_t end = 0;
    int64_t chunk_rows = 1;
    int64_t block_rows = 1;
  };
  static Part MakePart(const Snapshot& snapshot, int64_t first);
  // Reads the records, because some frames lack fields of the newest.
  absl::Status ReadFieldsOfRecords(int64_t row, int64_t count,
                                   std::span<const FieldSpan> fields) const;

  std::vector<Part> parts_;
  bool has_narrow_parts_ = false;
  std::vector<int64_t> shape_;
  std::optional<LogSnapshot> log_;
  uint64_t commit_ = 0;
};

// A member of a collection.
struct TableMember {
  std::shared_ptr<SharedCollection> collection;
  std::string name;
};

// An open frame, log or member. Not thread-safe.
class FrameTable {
 public:
  static absl::StatusOr<std::unique_ptr<FrameTable>> Open(const TableArguments& arguments,
                                                          SharedCollections& collections);

  // Returns the columns of the items. The coordinates of an array with several dimensions are
  // `dimensions` more.
  const std::vector<Column>& columns() const { return columns_; }
  size_t dimensions() const { return dimensions_; }
  int32_t item_size() const { return state_->item_size(); }
  // Returns the rows of the newest state that was seen.
  int64_t nrows() const { return state_->end_row() - state_->first_row(); }
  // Returns the column with a log's time if constraints on it find records, else columns().size().
  size_t time_column() const { return time_column_; }
  // Returns the field of a log for a column, or null if there is none.
  const Field* FieldOf(const Column& column) const;
  // Returns the number of the first row of a log that has a value in this column.
  int64_t FirstWithValue(const Column& column, const TableState& state) const;
  // Returns the texts of a log's field that has codes of texts, or null for any other column.
  std::shared_ptr<const KeyTexts> TextsOf(const Column& column, const TableState& state) const;
  bool is_log() const { return log_.has_value(); }
  bool is_array() const { return state_->snapshot().array().has_value(); }
  const std::string& path() const { return path_; }

  // Returns the newest state. Errors: kFailedPrecondition if the frame has got other columns.
  absl::StatusOr<std::shared_ptr<const TableState>> Refresh();

  // Returns what keeps all tables of the collection at one state, or null if this is no member.
  absl::StatusOr<std::shared_ptr<const void>> HoldState() const;

  // Each is null if the table is none.
  Frame* frame() { return frame_ ? &*frame_ : nullptr; }
  Log* log() { return log_ ? &*log_ : nullptr; }
  const TableMember* member() const { return member_ ? &*member_ : nullptr; }

 private:
  FrameTable() = default;
  absl::Status OpenFile(const TableArguments& arguments);
  absl::Status OpenMember(const TableArguments& arguments, const members::CollectionPlace& place,
                          SharedCollections& collections);
  absl::StatusOr<std::optional<TableState>> MakeNewer();
  absl::Status FindColumns(const TableArguments& arguments);
  std::string Signature(const TableState& state) const;

  std::string path_;
  std::optional<Frame> frame_;
  std::optional<Log> log_;
  std::optional<TableMember> member_;
  std::shared_ptr<const TableState> state_;  // the newest state that was seen
  std::vector<Column> columns_;
  bool declared_ = false;  // the user declared the columns
  size_t dimensions_ = 0;
  size_t time_column_ = 0;
};

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_TABLE_FRAME_TABLE_H_
