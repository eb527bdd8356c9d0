#include "tools/sqlite/table/function_module.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"

#include "tools/sqlite/table/reports.h"
#include "tools/sqlite/table/vtab.h"

namespace cairn::sqlite {

namespace {

struct Function : sqlite3_vtab {
  const ReportKind* kind = nullptr;
};

struct FunctionCursor : sqlite3_vtab_cursor {
  std::string path;
  std::unique_ptr<FrameReport> report;
  int64_t row = 0;
};

FunctionCursor* RowOf(sqlite3_vtab_cursor* cursor) { return static_cast<FunctionCursor*>(cursor); }

int ConnectFunction(sqlite3* db, void* aux, int /*argc*/, const char* const* /*argv*/,
                    sqlite3_vtab** vtab, char** /*message*/) {
  const auto* const kind = static_cast<const ReportKind*>(aux);
  const std::string declaration = absl::StrFormat("CREATE TABLE x(%s, path HIDDEN)", kind->columns);
  const int code = sqlite3_declare_vtab(db, declaration.c_str());
  if (code != SQLITE_OK) return code;
  // Otherwise the schema of a foreign database could make it look at files.
  sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
  auto function = std::make_unique<Function>();
  function->kind = kind;
  *vtab = function.release();
  return SQLITE_OK;
}

int DisconnectFunction(sqlite3_vtab* vtab) {
  delete static_cast<Function*>(vtab);
  return SQLITE_OK;
}

int ReportNoFile(sqlite3_vtab* vtab) {
  const char* const name = static_cast<Function*>(vtab)->kind->name;
  return Report(vtab, absl::InvalidArgumentError(
                          absl::StrFormat("%s: expected a file: %s('FILE')", name, name)));
}

int FindPath(sqlite3_vtab* vtab, sqlite3_index_info* info) {
  const int path = static_cast<Function*>(vtab)->kind->ncolumns;
  bool unusable = false;
  for (int i = 0; i < info->nConstraint; ++i) {
    const auto& constraint = info->aConstraint[i];
    if (constraint.iColumn != path || constraint.op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
    if (!constraint.usable) {
      unusable = true;
      continue;
    }
    info->aConstraintUsage[i].argvIndex = 1;
    info->aConstraintUsage[i].omit = 1;
    info->estimatedCost = 100;
    info->estimatedRows = 100;
    return SQLITE_OK;
  }
  if (unusable) return SQLITE_CONSTRAINT;
  return ReportNoFile(vtab);
}

int OpenFunction(sqlite3_vtab* /*vtab*/, sqlite3_vtab_cursor** cursor) {
  *cursor = std::make_unique<FunctionCursor>().release();
  return SQLITE_OK;
}

int CloseFunction(sqlite3_vtab_cursor* cursor) {
  delete RowOf(cursor);
  return SQLITE_OK;
}

int CallFunction(sqlite3_vtab_cursor* base, int /*number*/, const char* /*text*/, int argc,
                 sqlite3_value** argv) {
  FunctionCursor* const cursor = RowOf(base);
  cursor->row = 0;
  cursor->report = nullptr;
  const auto* const path =
      argc == 0 ? nullptr : reinterpret_cast<const char*>(sqlite3_value_text(argv[0]));
  if (path == nullptr) return SQLITE_OK;  // NULL has no rows
  cursor->path = path;
  if (cursor->path.empty()) return ReportNoFile(base->pVtab);
  auto report = static_cast<Function*>(base->pVtab)->kind->make(cursor->path);
  if (!report.ok()) return Report(base->pVtab, report.status());
  cursor->report = *std::move(report);
  return SQLITE_OK;
}

int NextOfFunction(sqlite3_vtab_cursor* cursor) {
  ++RowOf(cursor)->row;
  return SQLITE_OK;
}

int EofOfFunction(sqlite3_vtab_cursor* base) {
  const FunctionCursor* const cursor = RowOf(base);
  return cursor->report == nullptr || cursor->row >= cursor->report->nrows() ? 1 : 0;
}

int ColumnOfFunction(sqlite3_vtab_cursor* base, sqlite3_context* context, int column) {
  const FunctionCursor* const cursor = RowOf(base);
  if (column == static_cast<Function*>(base->pVtab)->kind->ncolumns) {
    sqlite3_result_text(context, cursor->path.c_str(), -1, SQLITE_TRANSIENT);
    return SQLITE_OK;
  }
  return Report(base->pVtab, cursor->report->Return(context, cursor->row, column));
}

int RowIdOfFunction(sqlite3_vtab_cursor* cursor, sqlite3_int64* row) {
  *row = RowOf(cursor)->row;
  return SQLITE_OK;
}

// There is no xCreate, because the module is a function and makes no tables.
constexpr sqlite3_module kFunctionModule = {
    .iVersion = 0,
    .xCreate = nullptr,
    .xConnect = ConnectFunction,
    .xBestIndex = FindPath,
    .xDisconnect = DisconnectFunction,
    .xDestroy = nullptr,
    .xOpen = OpenFunction,
    .xClose = CloseFunction,
    .xFilter = CallFunction,
    .xNext = NextOfFunction,
    .xEof = EofOfFunction,
    .xColumn = ColumnOfFunction,
    .xRowid = RowIdOfFunction,
    .xUpdate = nullptr,
    .xBegin = nullptr,
    .xSync = nullptr,
    .xCommit = nullptr,
    .xRollback = nullptr,
    .xFindFunction = nullptr,
    .xRename = nullptr,
    .xSavepoint = nullptr,
    .xRelease = nullptr,
    .xRollbackTo = nullptr,
    .xShadowName = nullptr,
};

}  // namespace

int RegisterFunctionModules(sqlite3* db) {
  for (const ReportKind& kind : kReports) {
    // SQLite hands the description back, and does not change it.
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast)
    void* const aux = const_cast<ReportKind*>(&kind);
    const int code = sqlite3_create_module_v2(db, kind.name, &kFunctionModule, aux, nullptr);
    if (code != SQLITE_OK) return code;
  }
  return SQLITE_OK;
}

}  // namespace cairn::sqlite
