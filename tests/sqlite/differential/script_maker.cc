#include "tests/sqlite/differential/script_maker.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace cairn::test {

namespace {

constexpr int kSlots = 6;

int64_t VolumeOf(uint64_t seed) {
  if (seed % 40 == 7) return 6 << 20;  // more than rollback journals keep in memory
  return seed % 4 == 1 ? 200 << 10 : 30 << 10;
}

Layout LayoutOf(Manner manner, uint64_t seed) {
  Choices choices(seed * 31 + 5);
  Layout layout;
  layout.databases = manner == Manner::kFullDisk ? 2 : 4;
  layout.page_size = choices.OneIn(2) ? 4096 : 512 << choices.Below(8);
  layout.auto_vacuum = static_cast<int>(choices.OneIn(2) ? 0 : choices.Below(3));
  layout.is_utf16 = choices.OneIn(8);
  layout.shares_cache = manner == Manner::kBesideReaders && choices.OneIn(8);
  layout.has_frame_table = !layout.shares_cache && manner != Manner::kAlone && choices.OneIn(3);
  return layout;
}

}  // namespace

ScriptMaker::ScriptMaker(Manner manner, uint64_t seed)
    : manner_(manner),
      choices_(seed),
      layout_(LayoutOf(manner, seed)),
      sql_(choices_, VolumeOf(seed)),
      connections_(manner == Manner::kBesideReaders ? 4
                   : manner == Manner::kAlone       ? 2
                                                    : 1) {}

void ScriptMaker::AddSql(int connection, std::string sql) {
  Step step{.connection = connection, .sql = std::move(sql)};
  // The sides take the same number of operations, except for a table that is a frame, and for a
  // commit that fails.
  if (choices_.OneIn(40) && manner_ != Manner::kFullDisk && !absl::StrContains(step.sql, "fr.f")) {
    step.number = 1 + choices_.Size(4000);
  }
  script_.push_back(std::move(step));
}

void ScriptMaker::AddSlot(Step::Kind kind, int connection, int slot, std::string sql,
                          int64_t number, int64_t offset) {
  script_.push_back({.kind = kind,
                     .connection = connection,
                     .sql = std::move(sql),
                     .slot = slot,
                     .number = number,
                     .offset = offset});
}

void ScriptMaker::Open(int connection) {
  Connection& made = connections_[static_cast<size_t>(connection)];
  made = {.is_open = true};
  // Connections that are alone have databases of their own.
  made.main = manner_ == Manner::kBesideReaders
                  ? static_cast<int>(choices_.Below(layout_.databases))
                  : connection;
  script_.push_back({.kind = Step::Kind::kOpen, .connection = connection, .number = made.main});
  if (choices_.OneIn(2)) {
    AddSql(connection, absl::StrCat("PRAGMA cache_size=", 1 + choices_.Below(20)));
  }
  if (choices_.OneIn(3)) AddSql(connection, "PRAGMA foreign_keys=1");
  if (choices_.OneIn(2)) Attach(connection);
}

void ScriptMaker::Attach(int connection) {
  const int database = manner_ == Manner::kBesideReaders
                           ? static_cast<int>(choices_.Below(layout_.databases))
                       : manner_ == Manner::kAlone ? connection + 2
                                                   : 1;
  // A rollback mode has locks even among the schemas of a connection.
  const std::string name = manner_ == Manner::kBesideReaders ? choices_.Of({"x", "y"}) : "x";
  connections_[static_cast<size_t>(connection)].attached.push_back(name);
  AddSql(connection, absl::StrCat("ATTACH '$", database, "' AS ", name));
}

std::string ScriptMaker::Schema(int connection) {
  const Connection& of = connections_[static_cast<size_t>(connection)];
  if (choices_.OneIn(15)) return "temp";
  if (of.attached.empty() || choices_.OneIn(2)) return "main";
  return of.attached[static_cast<size_t>(choices_.Below(std::ssize(of.attached)))];
}

void ScriptMaker::AddTransaction(int connection) {
  Connection& of = connections_[static_cast<size_t>(connection)];
  const std::string savepoint = absl::StrCat("s", choices_.Below(3));
  if (of.depth == 0) {
    of.depth = 1;
    return AddSql(connection, choices_.OneIn(4)
                                  ? "SAVEPOINT " + savepoint
                                  : "BEGIN " + choices_.Of({"DEFERRED", "DEFERRED", "IMMEDIATE",
                                                            "IMMEDIATE", "EXCLUSIVE"}));
  }
  switch (choices_.Below(9)) {
    case 0:
    case 1:
      ++of.depth;
      return AddSql(connection, "SAVEPOINT " + savepoint);
    case 2:
    case 3:
      return AddSql(connection, "ROLLBACK TO " + savepoint);
    case 4:
      return AddSql(connection, "RELEASE " + savepoint);
    case 5:
      of.depth = 0;
      return AddSql(connection, "ROLLBACK");
    default:
      of.depth = 0;
      return AddSql(connection, "COMMIT");
  }
}

void ScriptMaker::AddSlots(int connection) {
  using Kind = Step::Kind;
  const int slot = static_cast<int>(choices_.Below(kSlots));
  switch (choices_.Below(9)) {
    case 0:
    case 1:
      AddSlot(Kind::kOpenCursor, connection, slot, sql_.Query(Schema(connection)), 0);
      return AddSlot(Kind::kStepCursor, connection, slot, "", 1 + choices_.Below(5));
    case 2:
      return AddSlot(Kind::kStepCursor, connection, slot, "", 1 + choices_.Below(40));
    case 3:
      AddSlot(Kind::kOpenBlob, connection, slot,
              absl::StrCat(Schema(connection), ".", sql_.Table(), ".c"), choices_.Below(60),
              choices_.Below(2));
      return AddSlot(Kind::kReadBlob, connection, slot, "", choices_.Below(50), choices_.Below(50));
    case 4:
      return AddSlot(Kind::kReadBlob, connection, slot, "", choices_.Below(500),
                     choices_.Below(99));
    case 5:
      return AddSlot(Kind::kWriteBlob, connection, slot, "", choices_.Below(90),
                     choices_.Below(200));
    case 6:
      return AddSlot(Kind::kMoveBlob, connection, slot, "", choices_.Below(60));
    case 7:
      // SQLite hangs when it copies a database that both connections share, and a connection that
      // gets a copy reads its schema again.
      if (layout_.shares_cache || layout_.has_frame_table) return;
      return AddBackup(connection, slot);
    default:
      return AddSlot(Kind::kCloseSlot, connection, slot, "", 0);
  }
}

// SQLite allows no other use of the target meanwhile, and refuses another size of pages in its
// write-ahead mode: that of temp may be another one.
void ScriptMaker::AddBackup(int connection, int slot) {
  using Kind = Step::Kind;
  const std::string schema = Schema(connection);
  AddSlot(Kind::kBeginBackup, connection, slot, schema == "temp" ? "main" : schema,
          choices_.Below(std::ssize(connections_)));
  while (!choices_.OneIn(4)) {
    AddSlot(Kind::kStepBackup, connection, slot, "", 1 + choices_.Below(9));
    if (choices_.OneIn(2)) AddSql(connection, sql_.Data(Schema(connection)));
  }
  if (choices_.OneIn(2)) AddSlot(Kind::kStepBackup, connection, slot, "", -1);
  AddSlot(Kind::kCloseSlot, connection, slot, "", 0);
}

void ScriptMaker::AddPragma(int connection) {
  const std::string schema = Schema(connection);
  const auto pragma = [&](const std::string& rest) {
    AddSql(connection, absl::StrCat("PRAGMA ", schema, ".", rest));
  };
  const bool is_alone = manner_ != Manner::kBesideReaders;
  switch (choices_.Below(16)) {
    case 0:
      return pragma(absl::StrCat("cache_size=", 1 + choices_.Below(30)));
    case 1:
      return pragma("synchronous=" + choices_.Of({"OFF", "NORMAL", "FULL", "EXTRA"}));
    case 2:
      return pragma("user_version=" + absl::StrCat(choices_.Below(1000)));
    case 3:
      return pragma("application_id=" + absl::StrCat(choices_.Below(1000)));
    case 4:
      return pragma(absl::StrCat("incremental_vacuum(", choices_.Below(30), ")"));
    case 5:
      return pragma("secure_delete=" + choices_.Of({"0", "1", "FAST"}));
    case 6:
      return pragma(
          absl::StrCat("max_page_count=", choices_.OneIn(3) ? choices_.Below(300) : 1 << 30));
    case 7:
      return pragma(choices_.Of({"integrity_check", "quick_check", "freelist_count", "page_count",
                                 "schema_version", "foreign_key_check"}));
    case 8:
      return AddSql(connection, absl::StrCat("PRAGMA ",
                                             choices_.Of({"foreign_keys", "recursive_triggers",
                                                          "defer_foreign_keys", "cell_size_check"}),
                                             "=", choices_.Below(2)));
    case 9:
      return AddSql(connection, absl::StrCat("PRAGMA cache_spill=", choices_.Below(6)));
    case 10:
      return AddSql(connection, absl::StrCat("PRAGMA temp_store=", choices_.Below(3)));
    case 11:
      return AddSql(connection, "PRAGMA shrink_memory");
    case 12:
      return pragma(absl::StrCat("auto_vacuum=", choices_.Below(3)));
    case 13:
      if (is_alone) return pragma(absl::StrCat("page_size=", 512 << choices_.Below(8)));
      if (!layout_.has_frame_table) pragma("optimize");
      return;
    case 14:
      if (is_alone) pragma("locking_mode=" + choices_.Of({"EXCLUSIVE", "NORMAL"}));
      return;
    default:
      if (is_alone) {
        pragma("journal_mode=" + choices_.Of({"DELETE", "TRUNCATE", "PERSIST", "MEMORY"}));
      }
  }
}

// Statements about a whole database.
void ScriptMaker::AddWhole(int connection) {
  const std::string schema = Schema(connection);
  switch (choices_.Below(8)) {
    case 0:
    case 1:
      return AddSql(connection, "VACUUM " + (schema == "temp" ? "main" : schema));
    case 2:
      return AddSlot(Step::Kind::kVacuumInto, connection, 0, schema, 0);
    case 3:
      return AddSql(connection, "REINDEX");
    case 4:
      if (layout_.has_frame_table) return;
      return AddSql(connection, absl::StrCat("ANALYZE ", schema));
    case 5:
      return AddSlot(Step::Kind::kCopyToMemory, connection, 0, schema, 0);
    case 6:
      if (choices_.OneIn(2)) {
        const std::string name = choices_.Of({"x", "y"});
        std::erase(connections_[static_cast<size_t>(connection)].attached, name);
        return AddSql(connection, "DETACH " + name);
      }
      return Attach(connection);
    default:
      script_.push_back({.kind = Step::Kind::kClose, .connection = connection});
      connections_[static_cast<size_t>(connection)].is_open = false;
  }
}

void ScriptMaker::AddFrameTable(int connection) {
  if (choices_.OneIn(3)) {
    return AddSql(connection, "SELECT item FROM fr.f ORDER BY rowid DESC LIMIT 20");
  }
  if (choices_.OneIn(3)) {
    return AddSql(connection, absl::StrCat("INSERT INTO fr.f SELECT id * ", 1 + choices_.Below(120),
                                           " FROM ", Schema(connection), ".", sql_.Table(),
                                           " WHERE typeof(id) = 'integer' ORDER BY id"));
  }
  AddSql(connection, absl::StrCat("INSERT INTO fr.f VALUES(", choices_.Below(1000), "), (",
                                  choices_.OneIn(4) ? 40000 : choices_.Below(90), ")"));
}

void ScriptMaker::AddDisk() {
  if (choices_.OneIn(2)) {
    script_.push_back({.kind = Step::Kind::kFreeDisk});
  } else {
    script_.push_back({.kind = Step::Kind::kFillDisk, .number = choices_.Size(100 << 10)});
  }
}

void ScriptMaker::AddAny(int connection) {
  const int64_t kind = choices_.Below(100);
  if (kind < 44) return AddSql(connection, sql_.Data(Schema(connection)));
  if (kind < 60) return AddTransaction(connection);
  if (kind < 70) return AddSql(connection, sql_.Query(Schema(connection)));
  // A table that is a frame loses sight of its own rows when SQLite reads the schema again within
  // the transaction, as after a change of it and a ROLLBACK TO.
  if (kind < 78 && !layout_.has_frame_table) {
    return AddSql(connection, sql_.Definition(Schema(connection)));
  }
  if (kind < 82) return AddPragma(connection);
  if (kind < 86) return AddWhole(connection);
  if (kind < 89) {
    return AddSql(connection, sql_.Transfer(Schema(connection), Schema(connection)));
  }
  if (kind < 92 && layout_.has_frame_table) return AddFrameTable(connection);
  if (manner_ == Manner::kFullDisk) return AddDisk();
  AddSlots(connection);
}

Script ScriptMaker::Make(int steps) {
  script_.clear();
  for (int i = 0; i < std::ssize(connections_); ++i) Open(i);
  int64_t connection = 0;
  while (std::ssize(script_) < steps) {
    // Some steps in a row are of one connection.
    if (choices_.OneIn(3)) connection = choices_.Below(std::ssize(connections_));
    const int chosen = static_cast<int>(connection);
    if (!connections_[static_cast<size_t>(connection)].is_open) Open(chosen);
    AddAny(chosen);
    if (choices_.OneIn(25)) script_.push_back({.kind = Step::Kind::kInspect});
  }
  script_.push_back({.kind = Step::Kind::kFreeDisk});
  script_.push_back({.kind = Step::Kind::kInspect});
  return script_;
}

}  // namespace cairn::test
