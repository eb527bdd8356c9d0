#include "tools/sqlite/table/number.h"

#include <algorithm>
#include <cmath>

namespace cairn::sqlite {

namespace {

constexpr int64_t kLeastInteger = std::numeric_limits<int64_t>::min();
constexpr int64_t kGreatestInteger = std::numeric_limits<int64_t>::max();

bool IsLower(int op) {  // the number is a lower bound
  return op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE;
}
bool IsUpper(int op) {
  return op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE;
}

constexpr IntegerRange kNone = {.least = 0, .greatest = -1};

void NarrowToInteger(IntegerRange& range, int op, int64_t value) {
  if ((op == SQLITE_INDEX_CONSTRAINT_GT && value == kGreatestInteger) ||
      (op == SQLITE_INDEX_CONSTRAINT_LT && value == kLeastInteger)) {
    range = kNone;
    return;
  }
  if (op == SQLITE_INDEX_CONSTRAINT_GT) ++value;
  if (op == SQLITE_INDEX_CONSTRAINT_LT) --value;
  if (!IsUpper(op)) range.least = std::max(range.least, value);
  if (!IsLower(op)) range.greatest = std::min(range.greatest, value);
}

void NarrowToReal(IntegerRange& range, int op, double value) {
  constexpr double kEnd = 0x1p63;
  if (value >= kEnd || value < -kEnd) {
    const bool all = value >= kEnd ? IsUpper(op) : IsLower(op);
    if (!all) range = kNone;
    return;
  }
  const double floor = std::floor(value);
  const auto below = static_cast<int64_t>(floor);
  if (floor == value) return NarrowToInteger(range, op, below);
  if (IsLower(op)) {
    NarrowToInteger(range, SQLITE_INDEX_CONSTRAINT_GT, below);
  } else if (IsUpper(op)) {
    NarrowToInteger(range, SQLITE_INDEX_CONSTRAINT_LE, below);
  } else {
    range = kNone;
  }
}

}  // namespace

Number NumberOf(sqlite3_value* value) {
  switch (sqlite3_value_type(value)) {
    case SQLITE_NULL:
      return {.kind = Number::Kind::kNull};
    case SQLITE_INTEGER:
      return {.kind = Number::Kind::kInteger, .integer = sqlite3_value_int64(value)};
    case SQLITE_FLOAT:
      return {.kind = Number::Kind::kReal, .real = sqlite3_value_double(value)};
    case SQLITE_TEXT: {
      // This is a copy, because SQLite may still need the text.
      sqlite3_value* const copy = sqlite3_value_dup(value);
      const bool is_number = copy != nullptr && sqlite3_value_numeric_type(copy) != SQLITE_TEXT;
      const Number number = is_number ? NumberOf(copy) : Number{.kind = Number::Kind::kOther};
      sqlite3_value_free(copy);
      return number;
    }
    default:
      return {.kind = Number::Kind::kOther};
  }
}

void Narrow(IntegerRange& range, int op, const Number& number) {
  switch (number.kind) {
    case Number::Kind::kNull:
      range = kNone;
      return;
    case Number::Kind::kInteger:
      return NarrowToInteger(range, op, number.integer);
    case Number::Kind::kReal:
      return NarrowToReal(range, op, number.real);
    case Number::Kind::kOther:
      if (!IsUpper(op)) range = kNone;
  }
}

}  // namespace cairn::sqlite
