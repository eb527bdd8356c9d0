#include "tools/sqlite/table/table_module.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"

#include "tools/sqlite/table/append.h"
#include "tools/sqlite/table/arguments.h"
#include "tools/sqlite/table/frame_table.h"
#include "tools/sqlite/table/plan.h"
#include "tools/sqlite/table/scan.h"
#include "tools/sqlite/table/shared_collection.h"
#include "tools/sqlite/table/vtab.h"
#include "tools/status.h"

namespace cairn::sqlite {

namespace {

using Rows = std::shared_ptr<const std::vector<std::byte>>;

// The state that simultaneous statements read.
struct Reading {
  std::shared_ptr<const void> held;  // keeps other members of a collection at its state
  StatePtr state;
};

struct Table : sqlite3_vtab {
  std::unique_ptr<FrameTable> frame;
  bool writable = false;
  std::chrono::milliseconds wait{0};
  std::weak_ptr<const Reading> reading;
  std::unique_ptr<Append> append;  // rows of the transaction
};

Table* TableOf(sqlite3_vtab* vtab) { return static_cast<Table*>(vtab); }

// A column of the table: its values in a batch, and the function that returns one.
struct Slot {
  ColumnView values = {};  // no data: not loaded, or a coordinate
  ReturnFunction give = nullptr;
  const Column* column = nullptr;
  int64_t first_with_value = 0;                     // rows before this one have no value
  std::shared_ptr<const KeyTexts> texts = nullptr;  // of codes
};

struct Cursor : sqlite3_vtab_cursor {
  std::shared_ptr<const Reading> reading;
  std::vector<Slot> slots;       // the coordinates first
  std::vector<int64_t> strides;  // strides of the coordinates
  Rows pending;                  // rows of the transaction; null: none
  int64_t first_pending = 0;
  std::unique_ptr<Scan> scan;
  std::unique_ptr<Scan> next_scan;  // null: none
  Batch batch;
  size_t value = 0;    // row in the batch
  size_t left = 0;     // rows from it on
  ptrdiff_t step = 1;  // step to the next row

  absl::Status NextBatch() {
    while (true) {
      left = 0;
      RETURN_IF_ERROR(scan->Next(batch));
      if (batch.size > 0 || next_scan == nullptr) break;
      scan = std::exchange(next_scan, nullptr);
    }
    left = batch.size;
    step = scan->descending() ? -1 : 1;
    value = scan->descending() && left > 0 ? left - 1 : 0;
    ShowColumns();
    return absl::OkStatus();
  }

  void ShowColumns() {
    for (size_t i = 0; i < batch.columns.size(); ++i) {
      slots[strides.size() + i].values = batch.columns[i];
    }
  }
};

Cursor* CursorOf(sqlite3_vtab_cursor* cursor) { return static_cast<Cursor*>(cursor); }

std::string Quoted(const std::string& name) {
  char* const quoted = sqlite3_mprintf("\"%w\"", name.c_str());
  std::string text = quoted == nullptr ? "" : quoted;
  sqlite3_free(quoted);
  return text;
}

// The coordinates get names that no field has.
std::string DeclarationOf(const FrameTable& table) {
  std::vector<Column> all = table.columns();
  for (size_t i = 0; i < table.dimensions(); ++i)
    all.push_back({.name = absl::StrFormat("i%d", i)});
  dtypes::MakeNamesUnique(all);
  std::string text = "CREATE TABLE x(";
  for (size_t i = 0; i < table.dimensions(); ++i) {
    text += Quoted(all[table.columns().size() + i].name) + " INTEGER, ";
  }
  for (size_t i = 0; i < table.columns().size(); ++i) {
    text += Quoted(all[i].name) + " " + SqlTypeOf(all[i]) + ", ";
  }
  text.resize(text.size() - 2);
  return text + ")";
}

absl::StatusOr<std::unique_ptr<Table>> OpenTable(std::span<const char* const> words,
                                                 SharedCollections& collections) {
  ASSIGN_OR_RETURN(const TableArguments arguments, ParseArguments(words));
  auto table = std::make_unique<Table>();
  ASSIGN_OR_RETURN(table->frame, FrameTable::Open(arguments, collections));
  if (table->frame->columns().empty()) {
    return absl::InvalidArgumentError(arguments.path + ": its items have no fields");
  }
  table->writable = arguments.writable;
  table->wait = arguments.wait;
  return table;
}

int Connect(sqlite3* db, void* aux, int argc, const char* const* argv, sqlite3_vtab** vtab,
            char** message) {
  // The names of the module, of the database and of the table come first.
  constexpr int kNames = 3;
  absl::StatusOr<std::unique_ptr<Table>> table =
      OpenTable(std::span(argv, static_cast<size_t>(argc))
                    .subspan(static_cast<size_t>(std::min(argc, kNames))),
                *static_cast<SharedCollections*>(aux));
  if (!table.ok()) return SetMessage(message, table.status());
  const int code = sqlite3_declare_vtab(db, DeclarationOf(*(*table)->frame).c_str());
  if (code != SQLITE_OK) {
    *message = sqlite3_mprintf("%s: %s", (*table)->frame->path().c_str(), sqlite3_errmsg(db));
    return code;
  }
  *vtab = table->release();
  return SQLITE_OK;
}

int Disconnect(sqlite3_vtab* vtab) {
  delete TableOf(vtab);
  return SQLITE_OK;
}

// SQLite does not tell a dropped table of the end of a transaction, so its rows would be lost at
// COMMIT.
int Destroy(sqlite3_vtab* vtab) {
  const Append* const append = TableOf(vtab)->append.get();
  if (append != nullptr && append->has_rows()) return SQLITE_LOCKED;
  return Disconnect(vtab);
}

int BestIndex(sqlite3_vtab* vtab, sqlite3_index_info* info) {
  Table* const table = TableOf(vtab);
  const Plan plan = ChoosePlan(*table->frame, table->writable, *info);
  info->idxStr = sqlite3_mprintf("%s", EncodePlan(plan).c_str());
  info->needToFreeIdxStr = 1;
  return info->idxStr == nullptr ? SQLITE_NOMEM : SQLITE_OK;
}

int Open(sqlite3_vtab* vtab, sqlite3_vtab_cursor** opened) {
  Table* const table = TableOf(vtab);
  auto cursor = std::make_unique<Cursor>();
  cursor->reading = table->reading.lock();
  if (cursor->reading == nullptr) {
    absl::StatusOr<std::shared_ptr<const void>> held = table->frame->HoldState();
    if (!held.ok()) return Report(vtab, held.status());
    const auto state = table->frame->Refresh();
    if (!state.ok()) return Report(vtab, state.status());
    cursor->reading =
        std::make_shared<const Reading>(Reading{.held = *std::move(held), .state = *state});
    table->reading = cursor->reading;
  }
  const std::vector<int64_t>& shape = cursor->reading->state->shape();
  cursor->strides.assign(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) {
    cursor->strides[i - 1] = cursor->strides[i] * shape[i];
  }
  cursor->slots.resize(shape.size());
  for (const Column& column : table->frame->columns()) {
    cursor->slots.push_back(
        {.give = ReturnFunctionOf(column),
         .column = &column,
         .first_with_value = table->frame->FirstWithValue(column, *cursor->reading->state),
         .texts = table->frame->TextsOf(column, *cursor->reading->state)});
  }
  if (table->append != nullptr && !table->append->rows()->empty()) {
    cursor->pending = table->append->rows();
    cursor->first_pending = table->append->first_row();
    for (Slot& slot : cursor->slots) {
      if (slot.texts == nullptr) continue;
      slot.texts = table->append->WithNewTexts(*table->frame->FieldOf(*slot.column), slot.texts);
    }
  }
  *opened = cursor.release();
  return SQLITE_OK;
}

int Close(sqlite3_vtab_cursor* cursor) {
  delete CursorOf(cursor);
  return SQLITE_OK;
}

int FilterRows(sqlite3_vtab_cursor* base, int /*number*/, const char* text, int argc,
               sqlite3_value** argv) {
  Cursor* const cursor = CursorOf(base);
  const FrameTable& frame = *TableOf(base->pVtab)->frame;
  const StatePtr& state = cursor->reading->state;
  const Plan plan = DecodePlan(text);
  const std::span<sqlite3_value* const> values(argv, static_cast<size_t>(argc));
  absl::StatusOr<std::unique_ptr<Scan>> scan = MakeScan(frame, state, plan, values);
  if (!scan.ok()) return Report(base->pVtab, scan.status());
  cursor->scan = *std::move(scan);
  cursor->next_scan = nullptr;
  if (cursor->pending != nullptr) {
    cursor->next_scan = MakeScanOf(frame, *cursor->pending, cursor->first_pending, plan, values);
    if (plan.order == Plan::Order::kRowDescending) std::swap(cursor->scan, cursor->next_scan);
  }
  return Report(base->pVtab, cursor->NextBatch());
}

// Kept out of line, because the functions that SQLite calls for each row and value must have only
// the common case.
[[gnu::noinline]] int NextBatchOf(sqlite3_vtab_cursor* base) {
  return Report(base->pVtab, CursorOf(base)->NextBatch());
}

int Next(sqlite3_vtab_cursor* base) {
  Cursor* const cursor = CursorOf(base);
  if (cursor->left <= 1) return NextBatchOf(base);
  --cursor->left;
  cursor->value += static_cast<size_t>(cursor->step);
  return SQLITE_OK;
}

int Eof(sqlite3_vtab_cursor* cursor) { return CursorOf(cursor)->left == 0 ? 1 : 0; }

void ReturnCoordinate(const Cursor& cursor, sqlite3_context* context, size_t axis) {
  const int64_t row = cursor.batch.NumberOf(cursor.value);
  const int64_t extent = cursor.reading->state->shape()[axis];
  sqlite3_result_int64(context, row / cursor.strides[axis] % extent);
}

// Returns the text of a code.
void ReturnCode(sqlite3_context* context, const KeyTexts& texts, const std::byte* at) {
  uint32_t code = 0;
  for (size_t i = 0; i < sizeof(code); ++i) code |= std::to_integer<uint32_t>(at[i]) << 8 * i;
  const std::string_view text = texts.Get(code);
  sqlite3_result_text64(context, text.data() == nullptr ? "" : text.data(), text.size(),
                        SQLITE_TRANSIENT, SQLITE_UTF8);
}

int ReturnLoaded(const Cursor& cursor, sqlite3_context* context, const Slot& slot) {
  if (slot.first_with_value > 0 && cursor.batch.NumberOf(cursor.value) < slot.first_with_value) {
    return SQLITE_OK;  // NULL
  }
  if (slot.texts != nullptr) {
    ReturnCode(context, *slot.texts, slot.values.data + cursor.value * slot.values.step);
    return SQLITE_OK;
  }
  slot.give(context, *slot.column, slot.values.data + cursor.value * slot.values.step);
  return SQLITE_OK;
}

[[gnu::noinline]] int ReturnOther(sqlite3_vtab_cursor* base, sqlite3_context* context,
                                  size_t column) {
  Cursor& cursor = *CursorOf(base);
  if (column < cursor.strides.size()) {
    ReturnCoordinate(cursor, context, column);
    return SQLITE_OK;
  }
  const absl::Status loaded = cursor.scan->Load(cursor.batch, column - cursor.strides.size());
  if (!loaded.ok()) return Report(base->pVtab, loaded);
  cursor.ShowColumns();
  return ReturnLoaded(cursor, context, cursor.slots[column]);
}

int ReadColumn(sqlite3_vtab_cursor* base, sqlite3_context* context, int number) {
  const Cursor& cursor = *CursorOf(base);
  const auto column = static_cast<size_t>(number);
  const Slot& slot = cursor.slots[column];
  if (slot.values.data == nullptr) return ReturnOther(base, context, column);
  return ReturnLoaded(cursor, context, slot);
}

int RowId(sqlite3_vtab_cursor* base, sqlite3_int64* row) {
  const Cursor* const cursor = CursorOf(base);
  *row = cursor->batch.NumberOf(cursor->value);
  return SQLITE_OK;
}

absl::Status BeginAppend(Table& table) {
  if (!table.writable) {
    return absl::UnimplementedError(absl::StrFormat(
        "%s: the table is read-only; writable=1 makes it take INSERT", table.frame->path()));
  }
  if (table.append != nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(table.append, Append::Begin(*table.frame, table.wait));
  table.reading.reset();
  return absl::OkStatus();
}

// Stores the code of a text.
absl::Status StoreCode(const Column& column, const Field& field, sqlite3_value* value,
                       Append& append, std::byte* at) {
  if (sqlite3_value_type(value) == SQLITE_BLOB) {
    return absl::InvalidArgumentError(absl::StrFormat("column %s: takes a text", column.name));
  }
  const auto* const data = reinterpret_cast<const char*>(sqlite3_value_text(value));
  const auto size = static_cast<size_t>(sqlite3_value_bytes(value));
  const absl::StatusOr<uint32_t> code =
      append.CodeOf(field, data == nullptr ? std::string_view() : std::string_view(data, size));
  if (!code.ok()) {
    return {code.status().code(),
            absl::StrFormat("column %s: %s", column.name, code.status().message())};
  }
  for (size_t i = 0; i < sizeof(*code); ++i) at[i] = static_cast<std::byte>(*code >> 8 * i);
  return absl::OkStatus();
}

absl::Status FillRow(const FrameTable& table, std::span<sqlite3_value* const> values,
                     Append& append, std::span<std::byte> row) {
  for (size_t i = 0; i < table.columns().size(); ++i) {
    const Column& column = table.columns()[i];
    if (i == table.time_column() && sqlite3_value_type(values[i]) == SQLITE_NULL) {
      return absl::InvalidArgumentError(
          absl::StrFormat("column %s: a record has a time", column.name));
    }
    const Field* const field = table.FieldOf(column);
    if (field != nullptr && field->type == FieldType::kText) {
      RETURN_IF_ERROR(StoreCode(column, *field, values[i], append, row.data() + column.offset));
    } else {
      RETURN_IF_ERROR(StoreValue(column, values[i], row.data() + column.offset));
    }
  }
  return absl::OkStatus();
}

absl::Status Insert(Table& table, std::span<sqlite3_value* const> arguments, int64_t& number) {
  RETURN_IF_ERROR(BeginAppend(table));
  const int64_t next = table.append->end_row();
  sqlite3_value* const wanted = arguments[1];
  if (sqlite3_value_type(wanted) != SQLITE_NULL && sqlite3_value_int64(wanted) != next) {
    return absl::InvalidArgumentError(absl::StrFormat("a new row gets the next number, %d", next));
  }
  Append& append = *table.append;
  const absl::Status filled = FillRow(*table.frame, arguments.subspan(2), append, append.AddRow());
  if (!filled.ok()) table.append->DropLastRow();
  number = next;
  return filled;
}

int Update(sqlite3_vtab* vtab, int argc, sqlite3_value** argv, sqlite3_int64* row) {
  if (argc == 1 || sqlite3_value_type(argv[0]) != SQLITE_NULL) {
    Report(vtab,
           absl::UnimplementedError("rows of a frame can be appended, not changed or deleted"));
    return SQLITE_READONLY;
  }
  int64_t number = 0;
  const absl::Status inserted =
      Insert(*TableOf(vtab), std::span(argv, static_cast<size_t>(argc)), number);
  *row = number;
  const int code = Report(vtab, inserted);
  return absl::IsInvalidArgument(inserted) ? SQLITE_MISMATCH : code;
}

int Begin(sqlite3_vtab* vtab) {
  Table* const table = TableOf(vtab);
  return table->writable ? Report(vtab, BeginAppend(*table)) : SQLITE_OK;
}

int Sync(sqlite3_vtab* vtab) {
  Table* const table = TableOf(vtab);
  if (table->append == nullptr) return SQLITE_OK;
  table->reading.reset();
  return Report(vtab, table->append->Commit());
}

int Commit(sqlite3_vtab* vtab) {
  Table* const table = TableOf(vtab);
  if (table->append == nullptr) return SQLITE_OK;
  // The rows are committed already.
  LogFailure(table->append->Finish());
  table->append.reset();
  return SQLITE_OK;
}

int Rollback(sqlite3_vtab* vtab) {
  Table* const table = TableOf(vtab);
  if (table->append == nullptr) return SQLITE_OK;
  const absl::Status undone = table->append->Undo();
  table->append.reset();
  table->reading.reset();
  return Report(vtab, undone);
}

int Savepoint(sqlite3_vtab* vtab, int number) {
  if (Append* const append = TableOf(vtab)->append.get()) append->Savepoint(number);
  return SQLITE_OK;
}

int Release(sqlite3_vtab* vtab, int number) {
  if (Append* const append = TableOf(vtab)->append.get()) append->Release(number);
  return SQLITE_OK;
}

int RollbackTo(sqlite3_vtab* vtab, int number) {
  if (Append* const append = TableOf(vtab)->append.get()) append->RollbackTo(number);
  return SQLITE_OK;
}

int Rename(sqlite3_vtab* /*vtab*/, const char* /*name*/) { return SQLITE_OK; }

void DeleteCollections(void* collections) { delete static_cast<SharedCollections*>(collections); }

constexpr sqlite3_module kModule = {
    .iVersion = 2,
    .xCreate = Connect,
    .xConnect = Connect,
    .xBestIndex = BestIndex,
    .xDisconnect = Disconnect,
    .xDestroy = Destroy,
    .xOpen = Open,
    .xClose = Close,
    .xFilter = FilterRows,
    .xNext = Next,
    .xEof = Eof,
    .xColumn = ReadColumn,
    .xRowid = RowId,
    .xUpdate = Update,
    .xBegin = Begin,
    .xSync = Sync,
    .xCommit = Commit,
    .xRollback = Rollback,
    .xFindFunction = nullptr,
    .xRename = Rename,
    .xSavepoint = Savepoint,
    .xRelease = Release,
    .xRollbackTo = RollbackTo,
    .xShadowName = nullptr,
};

}  // namespace

int RegisterTableModule(sqlite3* db) {
  // SQLite calls the destructor also if the call fails.
  auto collections = std::make_unique<SharedCollections>();
  return sqlite3_create_module_v2(db, "cairn", &kModule, collections.release(), &DeleteCollections);
}

}  // namespace cairn::sqlite
