#include "tools/sqlite/table/frame_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"

#include "tools/dtypes/dtype.h"
#include "tools/dtypes/utf8.h"
#include "tools/status.h"

namespace cairn::sqlite {

namespace {

constexpr char kLogLayer[] = "cairn.log";  // every log that Cairn made has it
// A row is in memory as a whole.
constexpr int32_t kMaxItemSize = 64 << 20;

absl::Status CheckItems(const Snapshot& snapshot) {
  const int32_t size = snapshot.info().typesize;
  if (size > kMaxItemSize) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("items of %d bytes, a row has %d at most", size, kMaxItemSize));
  }
  const std::optional<ArrayInfo>& array = snapshot.array();
  if (!array || array->shape.empty()) return absl::OkStatus();
  // Reading an empty box checks that the frame has what its array claims.
  const std::vector<int64_t> nothing(array->shape.size());
  return snapshot.ReadBox(nothing, nothing, {});
}

std::vector<Column> ColumnsOfLog(const Schema& schema) {
  std::vector<Column> columns;
  for (const Field& field : schema.fields()) {
    // A field of texts has their codes until a row shows them.
    constexpr ColumnType kTypes[] = {ColumnType::kBool,  ColumnType::kInt,  ColumnType::kUint,
                                     ColumnType::kFloat, ColumnType::kTime, ColumnType::kText,
                                     ColumnType::kText};
    columns.push_back(
        {.name = field.name.empty() ? std::string(dtypes::kItemColumn) : dtypes::ToUtf8(field.name),
         .type = kTypes[static_cast<size_t>(field.type)],
         .offset = field.offset,
         .size = field.size});
  }
  dtypes::MakeNamesUnique(columns);
  return columns;
}

}  // namespace

TableState::Part TableState::MakePart(const Snapshot& snapshot, int64_t first) {
  const FrameInfo& info = snapshot.info();
  Part part = {.snapshot = snapshot, .first = first, .end = first + info.nitems};
  const std::optional<ArrayInfo>& array = snapshot.array();
  const int64_t chunk_items = std::max(1, info.chunksize.value_or(0) / info.typesize);
  part.chunk_rows = chunk_items;
  part.block_rows = std::max(1, info.blocksize.value_or(0) / info.typesize);
  if (!array || array->shape.size() != 1) return part;
  part.end = first + array->shape[0];
  part.chunk_rows = std::clamp<int64_t>(array->chunkshape[0], 1, chunk_items);
  part.block_rows = std::max(1, array->blockshape[0]);
  return part;
}

absl::StatusOr<TableState> TableState::Make(const Snapshot& snapshot) {
  RETURN_IF_ERROR(CheckItems(snapshot));
  TableState state;
  Part part = MakePart(snapshot, 0);
  if (const std::optional<ArrayInfo>& array = snapshot.array(); array && array->shape.size() > 1) {
    state.shape_ = array->shape;
    part.end = 1;
    for (const int64_t extent : array->shape) part.end *= extent;
  }
  state.parts_.push_back(std::move(part));
  return state;
}

absl::StatusOr<TableState> TableState::Make(const CollectionSnapshot& collection,
                                            const std::string& member) {
  ASSIGN_OR_RETURN(const Snapshot snapshot, collection.OpenMember(member));
  ASSIGN_OR_RETURN(TableState state, Make(snapshot));
  state.commit_ = collection.number();
  return state;
}

absl::StatusOr<TableState> TableState::Make(const LogSnapshot& log) {
  TableState state;
  state.log_ = log;
  int64_t first = log.first_record();
  for (const Snapshot& snapshot : log.frames()) {
    RETURN_IF_ERROR(CheckItems(snapshot));
    state.parts_.push_back(MakePart(snapshot, first));
    first = state.parts_.back().end;
  }
  const auto size_of = [](const Part& part) { return part.snapshot.info().typesize; };
  state.has_narrow_parts_ = std::ranges::adjacent_find(state.parts_, std::ranges::not_equal_to(),
                                                       size_of) != state.parts_.end();
  return state;
}

int64_t TableState::AlignedEnd(int64_t row, int64_t count) const {
  const Part* part = parts_.data();
  while (row >= part->end) ++part;
  const int64_t begin = row - part->first;
  const int64_t end = std::min(begin + count, part->end - part->first);
  const int64_t chunk_end = end / part->chunk_rows * part->chunk_rows;
  if (chunk_end > begin) return part->first + chunk_end;
  const int64_t in_chunk = begin % part->chunk_rows;
  const int64_t block_end = (in_chunk + end - begin) / part->block_rows * part->block_rows;
  return part->first + (block_end > in_chunk ? begin + block_end - in_chunk : end);
}

absl::Status TableState::ReadFields(int64_t row, int64_t count,
                                    std::span<const FieldSpan> fields) const {
  if (has_narrow_parts_) return ReadFieldsOfRecords(row, count, fields);
  std::vector<FieldSpan> pieces(fields.begin(), fields.end());
  int64_t done = 0;
  for (const Part& part : parts_) {
    while (done < count && row < part.end) {
      const int64_t take = std::min(count - done, part.end - row);
      for (size_t i = 0; i < fields.size(); ++i) {
        const auto size = static_cast<size_t>(fields[i].size);
        pieces[i].dst = fields[i].dst.bytes().subspan(static_cast<size_t>(done) * size,
                                                      static_cast<size_t>(take) * size);
      }
      RETURN_IF_ERROR(part.snapshot.ReadFields(row - part.first, take, pieces));
      done += take;
      row += take;
    }
  }
  if (done == count) return absl::OkStatus();
  return absl::OutOfRangeError(
      absl::StrFormat("row %d: there are %d to %d", row, first_row(), end_row()));
}

absl::Status TableState::ReadFieldsOfRecords(int64_t row, int64_t count,
                                             std::span<const FieldSpan> fields) const {
  const auto size = static_cast<size_t>(item_size());
  std::vector<std::byte> records(static_cast<size_t>(count) * size);
  RETURN_IF_ERROR(log_->ReadRecords(row, records));
  for (const FieldSpan& field : fields) {
    const auto width = static_cast<size_t>(field.size);
    const std::byte* from = records.data() + field.offset;
    std::byte* to = field.dst.bytes().data();
    for (int64_t i = 0; i < count; ++i, from += size, to += width) std::copy_n(from, width, to);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<FrameTable>> FrameTable::Open(const TableArguments& arguments,
                                                             SharedCollections& collections) {
  std::unique_ptr<FrameTable> table(new FrameTable());
  table->path_ = arguments.path;
  if (const auto place = members::FindInCollection(arguments.path)) {
    RETURN_IF_ERROR(table->OpenMember(arguments, *place, collections));
  } else {
    RETURN_IF_ERROR(table->OpenFile(arguments));
  }
  RETURN_IF_ERROR(table->FindColumns(arguments));
  return table;
}

absl::Status FrameTable::OpenMember(const TableArguments& arguments,
                                    const members::CollectionPlace& place,
                                    SharedCollections& collections) {
  TableMember member;
  member.name = place.name;
  ASSIGN_OR_RETURN(member.collection, collections.Open(place.collection));
  if (!place.is_member) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: a collection: name one of its members, which cairn_members('%s') lists", path_,
        place.collection));
  }
  if (!arguments.time_field.empty()) {
    return absl::UnimplementedError(
        absl::StrFormat("%s: a member of a collection is read as no log: leave out time=", path_));
  }
  ASSIGN_OR_RETURN(const auto all, member.collection->Read());
  ASSIGN_OR_RETURN(TableState made, TableState::Make(*all, member.name));
  state_ = std::make_shared<const TableState>(std::move(made));
  member_ = std::move(member);
  return absl::OkStatus();
}

absl::Status FrameTable::OpenFile(const TableArguments& arguments) {
  absl::StatusOr<Frame> frame = Frame::Open(path_);
  // The directory of a log of many files is not a frame.
  const bool is_log = !arguments.time_field.empty() || !frame.ok() ||
                      frame->snapshot().GetVlmetalayer(kLogLayer).ok();
  if (is_log) {
    absl::StatusOr<Log> log = Log::Open(path_, {}, arguments.time_field);
    if (!frame.ok() && !log.ok()) return frame.status();
    // There is a file, but no such field.
    if (absl::IsNotFound(log.status())) return absl::InvalidArgumentError(log.status().message());
    if (!log.ok()) return log.status();
    log_ = *std::move(log);
  } else {
    frame_ = *std::move(frame);
  }
  const auto made =
      log_ ? TableState::Make(log_->snapshot()) : TableState::Make(frame_->snapshot());
  if (!made.ok()) return made.status();
  state_ = std::make_shared<const TableState>(*made);
  return absl::OkStatus();
}

absl::Status FrameTable::FindColumns(const TableArguments& arguments) {
  dimensions_ = state_->shape().size();
  declared_ = !arguments.columns.empty();
  const std::optional<ArrayInfo>& array = state_->snapshot().array();
  const bool typed = array && !array->dtype.empty() && array->dtype_format == 0;
  if (declared_) {
    ASSIGN_OR_RETURN(columns_,
                     dtypes::ColumnsOfDeclarations(arguments.columns, state_->item_size()));
  } else if (log_) {
    columns_ = ColumnsOfLog(log_->snapshot().schema());
  } else if (typed) {
    absl::StatusOr<std::vector<Column>> columns =
        dtypes::ColumnsOfDtype(array->dtype, state_->item_size());
    if (!columns.ok()) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s (declare the columns: cairn(FILE, NAME TYPE, ...))", columns.status().message()));
    }
    columns_ = *std::move(columns);
  } else {
    columns_ = {{.name = std::string(dtypes::kItemColumn), .size = state_->item_size()}};
  }
  time_column_ = columns_.size();
  const Field* const time = log_ ? state_->log()->time_field() : nullptr;
  for (size_t i = 0; time != nullptr && i < columns_.size(); ++i) {
    const bool as_integer = columns_[i].type != ColumnType::kUint || columns_[i].size < 8;
    if (FieldOf(columns_[i]) == time && as_integer) time_column_ = i;
  }
  return absl::OkStatus();
}

const Field* FrameTable::FieldOf(const Column& column) const {
  if (state_->log() == nullptr || declared_) return nullptr;
  const std::vector<Field>& fields = state_->log()->schema().fields();
  const auto found = std::ranges::find_if(fields, [&column](const Field& field) {
    return field.offset == column.offset && field.size == column.size;
  });
  return found == fields.end() ? nullptr : &*found;
}

int64_t FrameTable::FirstWithValue(const Column& column, const TableState& state) const {
  const Field* const field = FieldOf(column);
  return field == nullptr ? 0 : state.log()->FirstWithValue(field->name).value_or(0);
}

std::shared_ptr<const KeyTexts> FrameTable::TextsOf(const Column& column,
                                                    const TableState& state) const {
  const Field* const field = FieldOf(column);
  return field == nullptr ? nullptr : state.log()->Texts(field->name).value_or(nullptr);
}

std::string FrameTable::Signature(const TableState& state) const {
  const std::optional<ArrayInfo>& array = state.snapshot().array();
  return absl::StrFormat("%d %d %s", state.item_size(), state.shape().size(),
                         array ? array->dtype : "");
}

absl::StatusOr<std::shared_ptr<const void>> FrameTable::HoldState() const {
  if (!member_) return nullptr;
  return member_->collection->Read();
}

// Returns nothing if the newest state is the one that was seen last.
absl::StatusOr<std::optional<TableState>> FrameTable::MakeNewer() {
  absl::StatusOr<TableState> made = absl::UnknownError("");
  if (log_) {
    ASSIGN_OR_RETURN(const LogSnapshot newest, log_->Refresh());
    if (newest == *state_->log()) return std::nullopt;
    made = TableState::Make(newest);
  } else if (frame_) {
    ASSIGN_OR_RETURN(const Snapshot newest, frame_->Refresh());
    if (newest == state_->snapshot()) return std::nullopt;
    made = TableState::Make(newest);
  } else {
    ASSIGN_OR_RETURN(const auto all, member_->collection->Read());
    if (all->number() == state_->commit()) return std::nullopt;
    made = TableState::Make(*all, member_->name);
  }
  if (!made.ok()) return made.status();
  return *std::move(made);
}

absl::StatusOr<std::shared_ptr<const TableState>> FrameTable::Refresh() {
  ASSIGN_OR_RETURN(std::optional<TableState> newer, MakeNewer());
  if (!newer) return state_;
  if (Signature(*newer) != Signature(*state_)) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%s: has other columns now; open the database again", path_));
  }
  state_ = std::make_shared<const TableState>(*std::move(newer));
  return state_;
}

}  // namespace cairn::sqlite
