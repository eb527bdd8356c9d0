// Shows the content of a database as a text that two sides can compare.
#ifndef CAIRN_TESTS_SQLITE_DIFFERENTIAL_CONTENT_H_
#define CAIRN_TESTS_SQLITE_DIFFERENTIAL_CONTENT_H_

#include <cstdint>
#include <sqlite3.h>
#include <string>

namespace cairn::test {

// A text that stays short however many rows are added.
class RowText {
 public:
  // Adds the row that the statement stands at.
  void Add(sqlite3_stmt* statement);
  std::string ToString() const;

 private:
  void AddBytes(const void* bytes, size_t size);

  std::string begin_;
  uint64_t hash_ = 14695981039346656037U;
  int64_t rows_ = 0;
};

// Adds the functions `noise(size, seed)`, a blob that does not compress, and `word(size, seed)`, a
// text that does. Both give the same on every side.
int AddFunctions(sqlite3* db);

// Runs one statement to its end. Returns rows, or the result code.
std::string Answer(sqlite3* db, const std::string& sql);

// Checks the schema, and tells its definitions, rows and, with `structure`, every page of its
// trees.
std::string Inspect(sqlite3* db, const std::string& schema, bool structure);

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SQLITE_DIFFERENTIAL_CONTENT_H_
