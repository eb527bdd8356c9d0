#include "tests/sqlite/differential/side.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "cairn/frame.h"
#include "tests/sqlite/differential/content.h"

namespace cairn::test {

namespace {

constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI;
// Pages that a backup copies where a script does not say it.
constexpr int kAllPages = -1;

struct Interruption {
  int64_t left = 0;
};

int CountDown(void* interruption) {
  return --static_cast<Interruption*>(interruption)->left <= 0 ? 1 : 0;
}

std::vector<std::string> Schemas(sqlite3* db) {
  std::vector<std::string> schemas;
  for (int i = 0; const char* name = sqlite3_db_name(db, i); ++i) schemas.emplace_back(name);
  return schemas;
}

}  // namespace

std::string ToString(const Outcome& outcome) {
  return absl::StrCat("code ", outcome.code, " (", outcome.message, "), ", outcome.changes,
                      " changes, last rowid ", outcome.rowid,
                      outcome.in_transaction ? ", in a transaction, " : ", no transaction, ",
                      outcome.states, outcome.rows.empty() ? "" : ", rows:\n", outcome.rows);
}

Side::Side(std::string vfs, std::string directory, const Layout& layout, std::string journal_mode)
    : vfs_(std::move(vfs)),
      directory_(std::move(directory)),
      layout_(layout),
      journal_mode_(std::move(journal_mode)) {}

Side::~Side() { CloseAll(); }

void Side::CloseAll() {
  for (const auto& [connection, db] : connections_) CloseSlots(connection);
  connections_.clear();
}

std::string Side::Uri(int64_t database) const {
  return absl::StrCat("file:", directory_, "/d", database, ".db?vfs=", vfs_,
                      layout_.shares_cache ? "&cache=shared" : "");
}

std::string Side::Expand(const std::string& sql) const {
  std::string expanded;
  for (size_t i = 0; i < sql.size(); ++i) {
    if (sql[i] == '$' && i + 1 < sql.size()) {
      absl::StrAppend(&expanded, Uri(sql[++i] - '0'));
    } else {
      expanded += sql[i];
    }
  }
  return expanded;
}

int Side::Connect(int64_t database, Connection& connection) const {
  sqlite3* db = nullptr;
  const int code = sqlite3_open_v2(Uri(database).c_str(), &db, kFlags, nullptr);
  connection.reset(db);
  if (code != SQLITE_OK) return code;
  sqlite3_extended_result_codes(db, 1);
  if (layout_.has_frame_table && vfs_ == "cairn") {
    // Each connection that uses the virtual table loads it.
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, nullptr);
    sqlite3_load_extension(db, std::getenv("CAIRN_SQLITE"), nullptr, nullptr);
  }
  return AddFunctions(db);
}

int Side::CreateFrameTable() const {
  if (!layout_.has_frame_table) return SQLITE_OK;
  const std::string frame = absl::StrCat(directory_, "/f.b2frame");
  CreateOptions create;
  create.compression.typesize = 2;
  create.chunksize = 64;
  if (vfs_ == "cairn" && !Frame::Create(frame, create).ok()) return SQLITE_CANTOPEN;
  Connection db;
  if (const int code = Connect(9, db); code != SQLITE_OK) return code;
  if (!journal_mode_.empty()) Answer(db.get(), "PRAGMA journal_mode=" + journal_mode_);
  const std::string sql =
      vfs_ == "cairn"
          ? absl::StrCat("CREATE VIRTUAL TABLE f USING cairn('", frame, "', item i2, writable=1)")
          : "CREATE TABLE f(item INTEGER CHECK(typeof(item) = 'integer' AND "
            "item BETWEEN -32768 AND 32767))";
  return sqlite3_exec(db.get(), sql.c_str(), nullptr, nullptr, nullptr);
}

int Side::Create() {
  for (int i = 0; i < layout_.databases; ++i) {
    Connection db;
    if (const int code = Connect(i, db); code != SQLITE_OK) return code;
    const std::string sql = absl::StrCat(
        "PRAGMA page_size=", layout_.page_size, "; PRAGMA auto_vacuum=", layout_.auto_vacuum,
        "; PRAGMA encoding='", layout_.is_utf16 ? "UTF-16le" : "UTF-8", "'; ",
        journal_mode_.empty() ? "" : absl::StrCat("PRAGMA journal_mode=", journal_mode_),
        "; CREATE TABLE t0(id INTEGER PRIMARY KEY, a, b TEXT, c BLOB, d)");
    const int code = sqlite3_exec(db.get(), sql.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return code;
  }
  return CreateFrameTable();
}

bool Side::IsBackedUpTo(int connection) const {
  return std::ranges::any_of(slots_,
                             [&](const auto& slot) { return slot.second.other == connection; });
}

bool Side::InTransaction(int connection) const {
  const auto found = connections_.find(connection);
  return found != connections_.end() && sqlite3_get_autocommit(found->second.get()) == 0;
}

int Side::RunSql(sqlite3* db, const std::string& sql, Outcome& outcome) {
  sqlite3_stmt* statement = nullptr;
  const int prepared = sqlite3_prepare_v2(db, Expand(sql).c_str(), -1, &statement, nullptr);
  if (prepared != SQLITE_OK) return prepared;
  outcome.reads_only = sqlite3_stmt_readonly(statement) != 0;
  RowText rows;
  int code = sqlite3_step(statement);
  for (; code == SQLITE_ROW; code = sqlite3_step(statement)) rows.Add(statement);
  outcome.rows = rows.ToString();
  if (code != SQLITE_DONE) outcome.message = sqlite3_errmsg(db);
  const int finished = sqlite3_finalize(statement);
  return code == SQLITE_DONE ? SQLITE_OK : (finished == SQLITE_OK ? code : finished);
}

int Side::StepCursor(Slot& slot, int64_t rows, Outcome& outcome) {
  RowText text;
  int code = SQLITE_ROW;
  for (int64_t i = 0; i < rows && code == SQLITE_ROW; ++i) {
    code = sqlite3_step(slot.cursor);
    if (code == SQLITE_ROW) text.Add(slot.cursor);
  }
  outcome.rows = text.ToString();
  if (code == SQLITE_ROW || code == SQLITE_DONE) return SQLITE_OK;
  return sqlite3_reset(slot.cursor);
}

int Side::OpenBlob(const Step& step, Slot& slot) {
  // "schema.table.column"
  const size_t first = step.sql.find('.'), second = step.sql.find('.', first + 1);
  return sqlite3_blob_open(handle(step.connection), step.sql.substr(0, first).c_str(),
                           step.sql.substr(first + 1, second - first - 1).c_str(),
                           step.sql.substr(second + 1).c_str(), step.number,
                           step.offset != 0 ? 1 : 0, &slot.blob);
}

int Side::ReadBlob(const Step& step, Slot& slot, Outcome& outcome) {
  std::string bytes(static_cast<size_t>(step.number), '\0');
  const int code = sqlite3_blob_read(slot.blob, bytes.data(), static_cast<int>(step.number),
                                     static_cast<int>(step.offset));
  if (code == SQLITE_OK) outcome.rows = absl::StrCat(std::hash<std::string>()(bytes));
  return code;
}

int Side::BeginBackup(const Step& step, Slot& slot) {
  const int other = static_cast<int>(step.number);
  if (!IsOpen(other) || IsBackedUpTo(other) || other == step.connection) return SQLITE_MISUSE;
  slot.other = other;
  slot.backup =
      sqlite3_backup_init(handle(other), "main", handle(step.connection), step.sql.c_str());
  return slot.backup != nullptr ? SQLITE_OK : sqlite3_extended_errcode(handle(other));
}

int Side::CopyToMemory(sqlite3* db, const std::string& schema, Outcome& outcome) {
  sqlite3* memory = nullptr;
  int code = sqlite3_open_v2(":memory:", &memory, kFlags, "unix");
  AddFunctions(memory);
  if (sqlite3_backup* backup = sqlite3_backup_init(memory, "main", db, schema.c_str())) {
    code = sqlite3_backup_step(backup, kAllPages);
    sqlite3_backup_finish(backup);
    outcome.rows = Inspect(memory, "main", /*structure=*/true);
  }
  sqlite3_close(memory);
  return code == SQLITE_DONE ? SQLITE_OK : code;
}

int Side::VacuumInto(sqlite3* db, const std::string& schema, Outcome& outcome) {
  std::filesystem::remove(directory_ + "/d8.db");
  const int code = RunSql(db, absl::StrCat("VACUUM ", schema, " INTO '$8'"), outcome);
  if (code != SQLITE_OK) return code;
  Connection copy;
  if (const int opened = Connect(8, copy); opened != SQLITE_OK) return opened;
  outcome.rows = Inspect(copy.get(), "main", /*structure=*/true);
  return SQLITE_OK;
}

int Side::EndSlot(int slot) {
  const auto found = slots_.find(slot);
  if (found == slots_.end()) return SQLITE_OK;
  const Slot ended = found->second;
  slots_.erase(found);
  if (ended.cursor != nullptr) return sqlite3_finalize(ended.cursor);
  if (ended.blob != nullptr) return sqlite3_blob_close(ended.blob);
  if (ended.backup != nullptr) return sqlite3_backup_finish(ended.backup);
  return SQLITE_OK;
}

void Side::CloseSlots(int connection) {
  for (auto slot = slots_.begin(); slot != slots_.end();) {
    const auto next = std::next(slot);
    if (slot->second.connection == connection || slot->second.other == connection) {
      EndSlot(slot->first);
    }
    slot = next;
  }
}

void Side::Settle(int connection) {
  if (!IsOpen(connection)) return;
  CloseSlots(connection);
  if (InTransaction(connection)) Answer(handle(connection), "ROLLBACK");
}

int Side::Run(const Step& step, Outcome& outcome) {
  using Kind = Step::Kind;
  if (step.kind == Kind::kOpen) {
    if (IsOpen(step.connection)) return SQLITE_MISUSE;
    Connection& connection = connections_[step.connection];
    const int code = Connect(step.number, connection);
    if (code == SQLITE_OK && layout_.has_frame_table) {
      return RunSql(connection.get(), "ATTACH '$9' AS fr", outcome);
    }
    if (code != SQLITE_OK) connections_.erase(step.connection);
    return code;
  }
  if (!IsOpen(step.connection) || IsBackedUpTo(step.connection)) return SQLITE_MISUSE;
  sqlite3* const db = handle(step.connection);
  switch (step.kind) {
    case Kind::kSql: {
      Interruption interruption{.left = step.number};
      if (step.number > 0) sqlite3_progress_handler(db, 1, CountDown, &interruption);
      const int code = RunSql(db, step.sql, outcome);
      sqlite3_progress_handler(db, 0, nullptr, nullptr);
      return code;
    }
    case Kind::kClose:
      CloseSlots(step.connection);
      connections_.erase(step.connection);
      return SQLITE_OK;
    case Kind::kCopyToMemory:
      return CopyToMemory(db, step.sql, outcome);
    case Kind::kVacuumInto:
      return VacuumInto(db, step.sql, outcome);
    case Kind::kCloseSlot: {
      const auto found = slots_.find(step.slot);
      const bool is_own = found != slots_.end() && found->second.connection == step.connection;
      return is_own ? EndSlot(step.slot) : SQLITE_MISUSE;
    }
    default:
      break;
  }
  const bool opens = step.kind == Kind::kOpenCursor || step.kind == Kind::kOpenBlob ||
                     step.kind == Kind::kBeginBackup;
  if (opens == slots_.contains(step.slot)) return SQLITE_MISUSE;
  if (opens) {
    Slot slot{.connection = step.connection};
    int code = SQLITE_OK;
    if (step.kind == Kind::kOpenCursor) {
      code = sqlite3_prepare_v2(db, Expand(step.sql).c_str(), -1, &slot.cursor, nullptr);
    } else {
      code = step.kind == Kind::kOpenBlob ? OpenBlob(step, slot) : BeginBackup(step, slot);
    }
    if (code == SQLITE_OK) slots_.emplace(step.slot, slot);
    return code;
  }
  Slot& slot = slots_.at(step.slot);
  if (slot.connection != step.connection) return SQLITE_MISUSE;
  if (step.kind == Kind::kStepCursor && slot.cursor != nullptr) {
    return StepCursor(slot, step.number, outcome);
  }
  if (step.kind == Kind::kReadBlob && slot.blob != nullptr) return ReadBlob(step, slot, outcome);
  if (step.kind == Kind::kWriteBlob && slot.blob != nullptr) {
    const std::string bytes(static_cast<size_t>(step.number), static_cast<char>(step.offset));
    return sqlite3_blob_write(slot.blob, bytes.data(), static_cast<int>(step.number),
                              static_cast<int>(step.offset));
  }
  if (step.kind == Kind::kMoveBlob && slot.blob != nullptr) {
    return sqlite3_blob_reopen(slot.blob, step.number);
  }
  if (step.kind == Kind::kStepBackup && slot.backup != nullptr) {
    return sqlite3_backup_step(slot.backup, static_cast<int>(step.number));
  }
  return SQLITE_MISUSE;
}

Outcome Side::Do(const Step& step) {
  Outcome outcome;
  outcome.code = Run(step, outcome);
  if (!IsOpen(step.connection) || IsBackedUpTo(step.connection)) return outcome;
  sqlite3* const db = handle(step.connection);
  if (outcome.code != SQLITE_OK && outcome.message.empty()) outcome.message = sqlite3_errmsg(db);
  outcome.changes = sqlite3_changes64(db);
  outcome.rowid = sqlite3_last_insert_rowid(db);
  outcome.in_transaction = InTransaction(step.connection);
  for (const std::string& schema : Schemas(db)) {
    absl::StrAppend(&outcome.states, schema, " ", sqlite3_txn_state(db, schema.c_str()), " ");
  }
  return outcome;
}

std::string Side::InspectCommitted() {
  std::string all;
  for (int i = 0; i < layout_.databases; ++i) {
    Connection db;
    const int code = Connect(i, db);
    absl::StrAppend(&all, "\ndatabase ", i, ": ",
                    code == SQLITE_OK ? Inspect(db.get(), "main", /*structure=*/true)
                                      : absl::StrCat("code ", code));
  }
  if (!layout_.has_frame_table) return all;
  Connection db;
  Connect(9, db);
  return absl::StrCat(all, "\nframe: ", Answer(db.get(), "SELECT item FROM f ORDER BY rowid"));
}

std::string Side::FileSizes() {
  std::string sizes;
  for (int i = 0; i < layout_.databases; ++i) {
    Connection db;
    sqlite3_file* file = nullptr;
    sqlite3_int64 size = -1;
    Connect(i, db);
    Answer(db.get(), "SELECT count(*) FROM sqlite_schema");  // opens it
    sqlite3_file_control(db.get(), "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (file != nullptr && file->pMethods != nullptr) file->pMethods->xFileSize(file, &size);
    absl::StrAppend(&sizes, size, " ");
  }
  return sizes;
}

std::string Side::InspectOpen() {
  std::string all;
  for (const auto& [connection, db] : connections_) {
    if (IsBackedUpTo(connection)) continue;
    for (const std::string& schema : Schemas(db.get())) {
      if (schema == "fr") continue;  // the rows of frames are not a snapshot
      absl::StrAppend(&all, "\nconnection ", connection, ", ",
                      Inspect(db.get(), schema, /*structure=*/true));
    }
  }
  return all;
}

}  // namespace cairn::test
