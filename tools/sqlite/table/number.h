// Numbers that SQLite compares columns with, and ranges of integers.
#ifndef CAIRN_TOOLS_SQLITE_TABLE_NUMBER_H_
#define CAIRN_TOOLS_SQLITE_TABLE_NUMBER_H_

#include <cstdint>
#include <limits>

#include "tools/sqlite/base/sqlite_api.h"

namespace cairn::sqlite {

// A value as SQLite compares it with a number: a text that reads like a number is one.
struct Number {
  enum class Kind : uint8_t {
    kNull,
    kInteger,
    kReal,
    kOther,  // greater than every number
  } kind = Kind::kNull;
  int64_t integer = 0;
  double real = 0;
};
Number NumberOf(sqlite3_value* value);

// All int64 from `least` to `greatest`.
struct IntegerRange {
  int64_t least = std::numeric_limits<int64_t>::min();
  int64_t greatest = std::numeric_limits<int64_t>::max();
  bool empty() const { return least > greatest; }
  bool operator==(const IntegerRange&) const = default;
  bool Contains(int64_t value) const { return value >= least && value <= greatest; }
};
// Leaves the integers i for which SQLite finds that `i OP number` is true, for the operators =, <,
// <=, > and >= (SQLITE_INDEX_CONSTRAINT_EQ and so on).
void Narrow(IntegerRange& range, int op, const Number& number);

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_TABLE_NUMBER_H_
