#include "tests/sqlite/differential/random_sql.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace cairn::test {

namespace {

constexpr int64_t kIds = 400;  // rows have ids below this, so that statements meet

}  // namespace

int64_t Choices::Size(int64_t most) {
  const int64_t limit = OneIn(8) ? most : OneIn(3) ? 3000 : 120;
  return Below(std::min(most, limit) + 1);
}

std::string RandomSql::Value() {
  ++unique_;
  switch (choices_.Below(9)) {
    case 0:
      return "NULL";
    case 1:
    case 2:
      return absl::StrCat(choices_.Below(50));
    case 3:
      return absl::StrCat(choices_.Below(1000), ".25");
    case 4:
      return absl::StrCat("'k", choices_.Below(20), "'");
    case 5:
      return absl::StrCat("zeroblob(", choices_.Size(volume_ / 2), ")");
    case 6:
      return absl::StrCat("word(", choices_.Size(volume_ / 4), ", ", unique_, ")");
    default:
      return absl::StrCat("noise(", choices_.Size(volume_ / 4), ", ", unique_, ")");
  }
}

std::string RandomSql::Range() {
  const int64_t from = choices_.Below(kIds);
  switch (choices_.Below(7)) {
    case 0:
      return absl::StrCat("a = ", choices_.Below(7));
    case 1:
      return absl::StrCat("b > 'k", choices_.Below(20), "'");
    case 2:
      return absl::StrCat("id % ", 2 + choices_.Below(9), " = 0");
    case 3:
      return absl::StrCat("id = ", from);
    case 4:
      return "1";
    default:
      return absl::StrCat("id BETWEEN ", from, " AND ", from + choices_.Below(120));
  }
}

std::string RandomSql::Columns() { return choices_.Of({"a", "b", "c", "d"}); }

std::string RandomSql::InsertOne(const std::string& schema) {
  const std::string how = choices_.Of({"INSERT", "INSERT", "INSERT OR REPLACE", "INSERT OR IGNORE",
                                       "INSERT OR FAIL", "INSERT OR ROLLBACK", "REPLACE"});
  const std::string id = choices_.OneIn(3) ? "NULL" : absl::StrCat(choices_.Below(kIds));
  std::string end;
  if (how == "INSERT" && choices_.OneIn(2)) {
    end = choices_.OneIn(3) ? " ON CONFLICT DO NOTHING"
                            : absl::StrCat(" ON CONFLICT(id) DO UPDATE SET ", Columns(),
                                           " = excluded.c, d = ", Value(),
                                           choices_.OneIn(2) ? "" : " WHERE a < 20");
  }
  if (choices_.OneIn(6)) end += " RETURNING id, length(c)";
  return absl::StrCat(how, " INTO ", schema, ".", Table(), "(id, a, b, c, d) VALUES(", id, ", ",
                      Value(), ", ", Value(), ", ", Value(), ", ", Value(), ")", end);
}

std::string RandomSql::InsertMany(const std::string& schema) {
  ++unique_;
  const int64_t size = choices_.Size(volume_ / 8);
  const int64_t rows = 1 + choices_.Below(std::clamp<int64_t>(volume_ / (size + 60), 1, 300));
  const int64_t from = choices_.Below(kIds);
  return absl::StrCat("WITH RECURSIVE n(i) AS (SELECT ", from,
                      " UNION ALL SELECT i + 1 FROM n WHERE i < ", from + rows, ") ",
                      choices_.Of({"INSERT", "INSERT OR REPLACE", "INSERT OR IGNORE"}), " INTO ",
                      schema, ".", Table(), "(id, a, b, c, d) SELECT i, i % 7, word(i % 40, i), ",
                      choices_.Of({"noise", "word", "noise"}), "(", size, ", i + ", 1000 * unique_,
                      "), ", choices_.Of({"i", "NULL", "i % 13", "'k' || i"}), " FROM n");
}

std::string RandomSql::Update(const std::string& schema) {
  const std::string how =
      choices_.Of({"UPDATE", "UPDATE", "UPDATE OR REPLACE", "UPDATE OR IGNORE", "UPDATE OR FAIL"});
  const std::string table = Table();
  std::string what;
  switch (choices_.Below(6)) {
    case 0:
      what = absl::StrCat("id = id + ", choices_.Below(300));
      break;
    case 1:
      what = "a = a + 1, d = id";
      break;
    case 2:
      what = absl::StrCat("c = substr(c, ", choices_.Below(2000), ")");
      break;
    default:
      what = absl::StrCat(Columns(), " = ", Value(), ", d = ", Value());
  }
  if (choices_.OneIn(8)) {
    return absl::StrCat(how, " ", schema, ".", table, " SET d = u.d FROM ", schema, ".", Table(),
                        " AS u WHERE u.id = ", table, ".id AND u.id > ", choices_.Below(kIds));
  }
  return absl::StrCat(how, " ", schema, ".", table, " SET ", what, " WHERE ", Range());
}

std::string RandomSql::Delete(const std::string& schema) {
  std::string end;
  if (choices_.OneIn(4)) {
    end = absl::StrCat(" ORDER BY id DESC LIMIT ", choices_.Below(60));
  } else if (choices_.OneIn(6)) {
    end = " RETURNING id";
  }
  const std::string table = absl::StrCat("DELETE FROM ", schema, ".", Table());
  return choices_.OneIn(10) ? table : absl::StrCat(table, " WHERE ", Range(), end);
}

std::string RandomSql::Virtual(const std::string& schema) {
  const int64_t from = choices_.Below(kIds);
  switch (choices_.Below(6)) {
    case 0:
      return absl::StrCat("INSERT INTO ", schema, ".words(words) VALUES('",
                          choices_.Of({"optimize", "rebuild", "integrity-check"}), "')");
    case 1:
      return absl::StrCat("DELETE FROM ", schema, ".words WHERE rowid < ", from);
    case 2:
      return absl::StrCat("DELETE FROM ", schema, ".boxes WHERE low > ", from);
    case 3:
      return absl::StrCat("INSERT OR REPLACE INTO ", schema, ".boxes SELECT id, id, id + ",
                          choices_.Below(90), " FROM ", schema, ".", Table(), " WHERE ", Range());
    default:
      return absl::StrCat("INSERT INTO ", schema, ".words SELECT b || ' ' || d FROM ", schema, ".",
                          Table(), " WHERE ", Range());
  }
}

std::string RandomSql::Data(const std::string& schema) {
  switch (choices_.Below(12)) {
    case 0:
    case 1:
    case 2:
      return InsertMany(schema);
    case 3:
    case 4:
    case 5:
    case 6:
      return InsertOne(schema);
    case 7:
    case 8:
      return Update(schema);
    case 9:
      return Virtual(schema);
    default:
      return Delete(schema);
  }
}

std::string RandomSql::Query(const std::string& schema) {
  const std::string from = absl::StrCat(" FROM ", schema, ".", Table(), " AS x ");
  switch (choices_.Below(9)) {
    case 0:
      return absl::StrCat("SELECT a, count(*), sum(length(c))", from,
                          "GROUP BY a ORDER BY 1, 2, 3");
    case 1:
      return absl::StrCat("SELECT id, d", from, "JOIN ", schema, ".", Table(),
                          " AS y USING(id) WHERE x.id < ", choices_.Below(kIds), " ORDER BY 1, 2");
    case 2:
      return absl::StrCat("SELECT rowid FROM ", schema, ".words WHERE words MATCH 'a* OR k1'");
    case 3:
      return absl::StrCat("SELECT id FROM ", schema, ".boxes WHERE low < ", choices_.Below(kIds),
                          " AND high > ", choices_.Below(kIds));
    case 4:
      return absl::StrCat("SELECT * FROM ", schema, ".v", choices_.Below(2));
    case 5:
      return absl::StrCat("SELECT name, sql FROM ", schema, ".sqlite_schema");
    case 6:
      return absl::StrCat("SELECT b, c", from, "ORDER BY c, b, d LIMIT ", choices_.Below(90));
    default:
      return absl::StrCat("SELECT *", from, "WHERE ", Range());
  }
}

std::string RandomSql::Transfer(const std::string& from, const std::string& to) {
  return absl::StrCat(choices_.Of({"INSERT OR REPLACE", "INSERT OR IGNORE", "INSERT"}), " INTO ",
                      to, ".", Table(), "(id, a, b, c, d) SELECT id, a, b, c, d FROM ", from, ".",
                      Table(), " WHERE ", Range());
}

std::string RandomSql::CreateTable(const std::string& schema) {
  const std::string name = absl::StrCat("CREATE TABLE IF NOT EXISTS ", schema, ".", Table());
  switch (choices_.Below(8)) {
    case 0:
      return absl::StrCat(name, "(id INTEGER PRIMARY KEY AUTOINCREMENT, a, b TEXT, c BLOB, d)");
    case 1:
      return absl::StrCat(name,
                          "(id INT NOT NULL PRIMARY KEY, a, b TEXT, c BLOB, d) WITHOUT ROWID");
    case 2:
      return absl::StrCat(name, "(id INTEGER PRIMARY KEY, a, b TEXT, c BLOB, d, ",
                          "UNIQUE(a, b), CHECK(d IS NOT 13))");
    case 3:
      return absl::StrCat(name, "(id INTEGER PRIMARY KEY, a, b TEXT, c BLOB, d, ",
                          "size AS (length(c)) STORED, UNIQUE(id, size))");
    case 4:
      return absl::StrCat(
          name, "(id INTEGER PRIMARY KEY, a REFERENCES ", Table(), "(id) ON DELETE ",
          choices_.Of({"CASCADE", "SET NULL", "RESTRICT", "NO ACTION"}),
          choices_.OneIn(2) ? " DEFERRABLE INITIALLY DEFERRED" : "", ", b TEXT, c BLOB, d)");
    case 5:
      return absl::StrCat("CREATE TABLE ", schema, ".", Table(), " AS SELECT * FROM ", schema, ".",
                          Table());
    case 6:
      return absl::StrCat(name, "(id INT, a, b TEXT, c BLOB, d, PRIMARY KEY(b, id)) WITHOUT ROWID");
    default:
      return absl::StrCat(name, "(id INTEGER PRIMARY KEY, a, b TEXT, c BLOB, d)");
  }
}

std::string RandomSql::CreateIndex(const std::string& schema) {
  return absl::StrCat(
      "CREATE ", choices_.OneIn(5) ? "UNIQUE " : "", "INDEX IF NOT EXISTS ", schema, ".i",
      choices_.Below(5), " ON ", Table(), "(",
      choices_.Of({"a", "b", "c", "d, a", "a DESC, id", "length(c)", "substr(b, 1, 3), d"}), ")",
      choices_.OneIn(3) ? " WHERE d > 3" : "");
}

std::string RandomSql::CreateTrigger(const std::string& schema) {
  const std::string event = choices_.Of({"INSERT", "UPDATE", "DELETE", "UPDATE OF d"});
  const std::string row = event == "DELETE" ? "old" : "new";
  std::string body;
  switch (choices_.Below(4)) {
    case 0:
      body = absl::StrCat("UPDATE ", Table(), " SET d = ", row, ".id WHERE id = ", row, ".id + 1");
      break;
    case 1:
      body = absl::StrCat("SELECT RAISE(", choices_.Of({"ABORT", "FAIL", "ROLLBACK"}),
                          ", 'no') WHERE ", row, ".id % 97 = 3");
      break;
    case 2:
      body = absl::StrCat("SELECT RAISE(IGNORE) WHERE ", row, ".id % 31 = 5");
      break;
    default:
      body = absl::StrCat("INSERT OR REPLACE INTO ", Table(), "(id, a, b, c, d) VALUES(", row,
                          ".id % 50, 1, 'by trigger', ", row, ".c, NULL)");
  }
  return absl::StrCat("CREATE TRIGGER IF NOT EXISTS ", schema, ".r", choices_.Below(3), " ",
                      choices_.Of({"BEFORE", "AFTER"}), " ", event, " ON ", Table(), " BEGIN ",
                      body, "; END");
}

std::string RandomSql::CreateVirtual(const std::string& schema) {
  return choices_.OneIn(2) ? absl::StrCat("CREATE VIRTUAL TABLE IF NOT EXISTS ", schema,
                                          ".words USING fts5(text)")
                           : absl::StrCat("CREATE VIRTUAL TABLE IF NOT EXISTS ", schema,
                                          ".boxes USING rtree(id, low, high)");
}

std::string RandomSql::Alter(const std::string& schema) {
  const std::string table = absl::StrCat("ALTER TABLE ", schema, ".", Table(), " ");
  switch (choices_.Below(4)) {
    case 0:
      return absl::StrCat(table, "RENAME TO ", Table());
    case 1:
      return absl::StrCat(table, "DROP COLUMN e", choices_.Below(2));
    default:
      return absl::StrCat(table, "ADD COLUMN e", choices_.Below(2), " DEFAULT ", choices_.Below(9));
  }
}

std::string RandomSql::Definition(const std::string& schema) {
  switch (choices_.Below(12)) {
    case 0:
      return absl::StrCat("DROP TABLE ", schema, ".", Table());
    case 1:
      return absl::StrCat("DROP INDEX ", schema, ".i", choices_.Below(5));
    case 2:
      return absl::StrCat("DROP TRIGGER ", schema, ".r", choices_.Below(3));
    case 3:
      return absl::StrCat("CREATE VIEW IF NOT EXISTS ", schema, ".v", choices_.Below(2),
                          " AS SELECT id, a, length(c) FROM ", Table());
    case 4:
      return Alter(schema);
    case 5:
      return CreateTrigger(schema);
    case 6:
      return CreateVirtual(schema);
    case 7:
    case 8:
      return CreateIndex(schema);
    default:
      return CreateTable(schema);
  }
}

}  // namespace cairn::test
