#include "tests/sqlite/differential/content.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"

namespace cairn::test {

namespace {

constexpr size_t kShown = 300;  // bytes of rows that people see

uint64_t Mix(uint64_t number) {
  number = (number ^ (number >> 31)) * 0x9E3779B97F4A7C15U;
  return number ^ (number >> 29);
}

std::string Made(sqlite3_value** arguments, uint64_t kinds) {
  const auto size = static_cast<size_t>(
      std::clamp<int64_t>(sqlite3_value_int64(arguments[0]), 0, int64_t{4} << 20));
  uint64_t state = Mix(static_cast<uint64_t>(sqlite3_value_int64(arguments[1])) + 7);
  std::string made(size, '\0');
  for (char& byte : made) {
    state = Mix(state + 1);
    byte = static_cast<char>(kinds == 256 ? state >> 13 : 'a' + (state >> 13) % kinds);
  }
  return made;
}

void Noise(sqlite3_context* context, int /*count*/, sqlite3_value** arguments) {
  const std::string made = Made(arguments, 256);
  sqlite3_result_blob64(context, made.data(), made.size(), SQLITE_TRANSIENT);
}

void Word(sqlite3_context* context, int /*count*/, sqlite3_value** arguments) {
  const std::string made = Made(arguments, 5);
  sqlite3_result_text64(context, made.data(), made.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

std::vector<std::string> Names(sqlite3* db, const std::string& sql) {
  std::vector<std::string> names;
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr);
  while (statement != nullptr && sqlite3_step(statement) == SQLITE_ROW) {
    names.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(statement, 0)));
  }
  sqlite3_finalize(statement);
  return names;
}

}  // namespace

void RowText::AddBytes(const void* bytes, size_t size) {
  const auto* byte = static_cast<const unsigned char*>(bytes);
  for (size_t i = 0; i < size; ++i) hash_ = (hash_ ^ byte[i]) * 1099511628211U;
}

void RowText::Add(sqlite3_stmt* statement) {
  ++rows_;
  const bool is_shown = begin_.size() < kShown;
  for (int i = 0; i < sqlite3_column_count(statement); ++i) {
    const int type = sqlite3_column_type(statement, i);
    AddBytes(&type, sizeof(type));
    const void* bytes =
        type == SQLITE_BLOB ? sqlite3_column_blob(statement, i) : sqlite3_column_text(statement, i);
    const auto size = static_cast<size_t>(sqlite3_column_bytes(statement, i));
    AddBytes(bytes, size);
    if (!is_shown) continue;
    if (i > 0) begin_ += '|';
    if (type == SQLITE_BLOB || size > 80) {
      absl::StrAppend(&begin_, type == SQLITE_BLOB ? "blob" : "text", " of ", size);
    } else if (bytes != nullptr) {
      begin_.append(static_cast<const char*>(bytes), size);
    }
  }
  if (is_shown) begin_ += '\n';
}

std::string RowText::ToString() const {
  if (rows_ == 0) return "";
  return absl::StrCat(begin_, "(", rows_, " rows, hash ", absl::Hex(hash_), ")");
}

int AddFunctions(sqlite3* db) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  const int code =
      sqlite3_create_function(db, "noise", 2, kFlags, nullptr, Noise, nullptr, nullptr);
  if (code != SQLITE_OK) return code;
  return sqlite3_create_function(db, "word", 2, kFlags, nullptr, Word, nullptr, nullptr);
}

std::string Answer(sqlite3* db, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
    return absl::StrCat("code ", sqlite3_extended_errcode(db), ": ", sqlite3_errmsg(db));
  }
  RowText rows;
  while (sqlite3_step(statement) == SQLITE_ROW) rows.Add(statement);
  const int code = sqlite3_finalize(statement);
  if (code == SQLITE_OK) return rows.ToString();
  return absl::StrCat(rows.ToString(), " code ", sqlite3_extended_errcode(db), ": ",
                      sqlite3_errmsg(db));
}

std::string Inspect(sqlite3* db, const std::string& schema, bool structure) {
  std::string all =
      absl::StrCat("integrity: ", Answer(db, absl::StrCat("PRAGMA ", schema, ".integrity_check")));
  const auto add = [&](const std::string& what, const std::string& sql) {
    absl::StrAppend(&all, "\n", schema, ".", what, ": ", Answer(db, sql));
  };
  add("schema",
      absl::StrCat("SELECT type, name, tbl_name", structure ? ", rootpage" : "", ", sql FROM ",
                   schema, ".sqlite_schema", structure ? "" : " ORDER BY type, name"));
  for (const std::string& table :
       Names(db, absl::StrCat("SELECT name FROM ", schema,
                              ".sqlite_schema WHERE type IN ('table', 'view') ORDER BY name"))) {
    add(table, absl::StrCat("SELECT * FROM ", schema, ".\"", table, "\""));
  }
  if (!structure) return all;
  for (const char* number : {"page_size", "page_count", "freelist_count", "schema_version",
                             "user_version", "application_id", "auto_vacuum", "encoding"}) {
    add(number, absl::StrCat("PRAGMA ", schema, ".", number));
  }
  if (schema != "temp") {
    add("pages", absl::StrCat("SELECT name, path, pageno, pagetype, ncell, payload, unused, "
                              "mx_payload FROM dbstat('",
                              schema, "')"));
  }
  return all;
}

}  // namespace cairn::test
