#include "tools/sqlite/table/column.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"

#include "cairn/record.h"
#include "tools/dtypes/utf8.h"
#include "tools/sqlite/table/number.h"
#include "tools/status.h"

namespace cairn::sqlite {

namespace {

template <typename T>
T Swapped(T value) {
  auto bytes = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
  std::ranges::reverse(bytes);
  return std::bit_cast<T>(bytes);
}

constexpr bool kBigEndianHost = std::endian::native == std::endian::big;

template <typename T>
T Load(const Column& column, const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return column.big_endian == kBigEndianHost ? value : Swapped(value);
}

template <typename T>
void Store(const Column& column, T value, std::byte* at) {
  if (column.big_endian != kBigEndianHost) value = Swapped(value);
  std::memcpy(at, &value, sizeof(T));
}

// Converts a number of IEEE 754 binary16.
double HalfToDouble(uint16_t bits) {
  const int exponent = bits >> 10 & 0x1F;
  const int fraction = bits & 0x3FF;
  double value = std::ldexp(fraction, -24);
  if (exponent == 31) {
    value = fraction == 0 ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent > 0) {
    value = std::ldexp(fraction + 1024, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

// Returns the nearest half, or the even one of two. A number past the greatest half becomes
// infinity.
uint16_t DoubleToHalf(double value) {
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  value = std::fabs(value);
  if (std::isnan(value)) return 0x7E00;
  if (value >= 65520) return sign | 0x7C00;
  int exponent = 0;
  std::frexp(value, &exponent);                   // value < 2^exponent
  const int step = std::max(exponent, -13) - 11;  // step of the last bit
  const auto steps = static_cast<uint16_t>(std::nearbyint(std::ldexp(value, -step)));
  // The carry of a fraction that rounds up goes into the exponent.
  return static_cast<uint16_t>(sign + ((step + 24) << 10) + steps);
}

std::string_view TextAt(const Column& column, const std::byte* at) {
  std::string_view text(reinterpret_cast<const char*>(at), static_cast<size_t>(column.size));
  while (text.ends_with('\0')) text.remove_suffix(1);
  return text;
}

void ReturnText(sqlite3_context* context, std::string_view text) {
  sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

void ReturnUcs4(sqlite3_context* context, const Column& column, const std::byte* at) {
  std::string text;
  int32_t size = column.size;
  while (size >= 4 && Load<uint32_t>(column, at + size - 4) == 0) size -= 4;
  for (int32_t i = 0; i < size; i += 4) dtypes::AppendUtf8(text, Load<uint32_t>(column, at + i));
  ReturnText(context, text);
}

void ReturnNumber(sqlite3_context* context, double value) {
  sqlite3_result_double(context, value);  // SQLite takes NaN as NULL
}
void ReturnNumber(sqlite3_context* context, float value) {
  sqlite3_result_double(context, static_cast<double>(value));
}
void ReturnNumber(sqlite3_context* context, int64_t value) { sqlite3_result_int64(context, value); }
void ReturnNumber(sqlite3_context* context, uint64_t value) {
  if (std::in_range<int64_t>(value)) return ReturnNumber(context, static_cast<int64_t>(value));
  ReturnNumber(context, static_cast<double>(value));
}
template <typename T>
void ReturnNumber(sqlite3_context* context, T value) {
  ReturnNumber(context, int64_t{value});
}

template <typename T, bool kSwapped>
void ReturnAs(sqlite3_context* context, const Column& /*column*/, const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  ReturnNumber(context, kSwapped ? Swapped(value) : value);
}

template <typename T>
ReturnFunction InOrder(const Column& column) {
  return column.big_endian == kBigEndianHost ? ReturnAs<T, false> : ReturnAs<T, true>;
}

void ReturnBool(sqlite3_context* context, const Column& /*column*/, const std::byte* at) {
  sqlite3_result_int(context, *at == std::byte{0} ? 0 : 1);
}

void ReturnHalf(sqlite3_context* context, const Column& column, const std::byte* at) {
  ReturnNumber(context, HalfToDouble(Load<uint16_t>(column, at)));
}

void ReturnTime(sqlite3_context* context, const Column& column, const std::byte* at) {
  const auto value = Load<int64_t>(column, at);
  if (value == kNoTime) return sqlite3_result_null(context);
  sqlite3_result_int64(context, value);
}

void ReturnBlob(sqlite3_context* context, const Column& column, const std::byte* at) {
  sqlite3_result_blob64(context, at, static_cast<uint64_t>(column.size), SQLITE_TRANSIENT);
}

void ReturnBytesAsText(sqlite3_context* context, const Column& column, const std::byte* at) {
  const std::string_view text = TextAt(column, at);
  if (dtypes::IsPlainUtf8(text)) return ReturnText(context, text);
  sqlite3_result_blob64(context, text.data(), text.size(), SQLITE_TRANSIENT);
}

absl::Status DoesNotFit(const Column& column, std::string_view what) {
  return absl::InvalidArgumentError(absl::StrFormat("column %s: %s", column.name, what));
}

absl::Status StoreInteger(const Column& column, sqlite3_value* value, std::byte* at) {
  const Number number = NumberOf(value);
  if (number.kind != Number::Kind::kInteger) {
    // These are the only other numbers that an unsigned column holds.
    const bool large = column.type == ColumnType::kUint && column.size == 8 &&
                       number.kind == Number::Kind::kReal && number.real >= 0x1p63 &&
                       number.real < 0x1p64;
    if (!large) return DoesNotFit(column, "takes integers only");
    Store(column, static_cast<uint64_t>(number.real), at);
    return absl::OkStatus();
  }
  const int64_t integer = number.integer;
  const int bits = 8 * column.size;
  bool fits = true;
  if (column.type == ColumnType::kUint || column.type == ColumnType::kBool) {
    const int64_t end = column.type == ColumnType::kBool ? 2 : int64_t{1} << std::min(bits, 62);
    fits = integer >= 0 && (bits == 64 || integer < end);
  } else if (bits < 64) {
    fits = integer >= -(int64_t{1} << (bits - 1)) && integer < int64_t{1} << (bits - 1);
  }
  if (!fits) return DoesNotFit(column, absl::StrFormat("%d does not fit", integer));
  switch (column.size) {
    case 1:
      Store(column, static_cast<uint8_t>(integer), at);
      break;
    case 2:
      Store(column, static_cast<uint16_t>(integer), at);
      break;
    case 4:
      Store(column, static_cast<uint32_t>(integer), at);
      break;
    default:
      Store(column, static_cast<uint64_t>(integer), at);
  }
  return absl::OkStatus();
}

absl::Status StoreFloat(const Column& column, sqlite3_value* value, std::byte* at) {
  const Number number = NumberOf(value);
  double real = std::numeric_limits<double>::quiet_NaN();
  if (number.kind == Number::Kind::kInteger) {
    real = static_cast<double>(number.integer);
  } else if (number.kind == Number::Kind::kReal) {
    real = number.real;
  } else if (number.kind == Number::Kind::kOther) {
    return DoesNotFit(column, "takes numbers only");
  }
  double stored = real;
  switch (column.size) {
    case 2: {
      const uint16_t half = DoubleToHalf(real);
      stored = HalfToDouble(half);
      Store(column, half, at);
      break;
    }
    case 4: {
      const auto single = static_cast<float>(real);
      stored = static_cast<double>(single);
      Store(column, single, at);
      break;
    }
    default:
      Store(column, real, at);
  }
  if (std::isinf(stored) && !std::isinf(real)) {
    return DoesNotFit(column, absl::StrFormat("%g does not fit", real));
  }
  return absl::OkStatus();
}

absl::Status StoreUcs4(const Column& column, std::string_view text, std::byte* at) {
  constexpr uint32_t kReplacement = 0xFFFD;  // also a character of its own, of three bytes
  int32_t size = 0;
  while (!text.empty()) {
    if (size == column.size) return DoesNotFit(column, "the text is too long");
    const size_t before = text.size();
    const uint32_t character = dtypes::TakeUtf8(text);
    if (character == kReplacement && before - text.size() == 1) {
      return DoesNotFit(column, "takes UTF-8 only");
    }
    Store(column, character, at + size);
    size += 4;
  }
  return absl::OkStatus();
}

absl::Status StoreBytes(const Column& column, sqlite3_value* value, std::byte* at) {
  const bool is_blob = sqlite3_value_type(value) == SQLITE_BLOB;
  if (column.type == ColumnType::kBlob && !is_blob && sqlite3_value_type(value) != SQLITE_NULL) {
    return DoesNotFit(column, "takes a BLOB");
  }
  const void* const data =
      is_blob ? sqlite3_value_blob(value) : static_cast<const void*>(sqlite3_value_text(value));
  const auto size = static_cast<size_t>(sqlite3_value_bytes(value));
  const auto capacity = static_cast<size_t>(column.size);
  const std::string_view text(static_cast<const char*>(data), data == nullptr ? 0 : size);
  if (column.type != ColumnType::kBlob) {
    const absl::Status status = CheckPaddedText(text);
    if (!status.ok()) return DoesNotFit(column, std::string(status.message()));
  }
  if (column.type == ColumnType::kUcs4) return StoreUcs4(column, text, at);
  // A column of raw bytes returns all of them, so a shorter BLOB would come back longer.
  const bool is_short = column.type == ColumnType::kBlob && is_blob && size < capacity;
  if (size > capacity || is_short) {
    return DoesNotFit(column, absl::StrFormat("%d bytes, it holds %d", size, column.size));
  }
  std::ranges::copy(text, reinterpret_cast<char*>(at));
  return absl::OkStatus();
}

}  // namespace

const char* SqlTypeOf(const Column& column) {
  switch (column.type) {
    case ColumnType::kBool:
    case ColumnType::kInt:
    case ColumnType::kUint:
    case ColumnType::kTime:
      return "INTEGER";
    case ColumnType::kFloat:
      return "REAL";
    case ColumnType::kText:
    case ColumnType::kUcs4:
      return "TEXT";
    case ColumnType::kBlob:
      break;
  }
  return "BLOB";
}

ReturnFunction ReturnFunctionOf(const Column& column) {
  switch (column.type) {
    case ColumnType::kBool:
      return ReturnBool;
    case ColumnType::kInt:
      return column.size == 1   ? InOrder<int8_t>(column)
             : column.size == 2 ? InOrder<int16_t>(column)
             : column.size == 4 ? InOrder<int32_t>(column)
                                : InOrder<int64_t>(column);
    case ColumnType::kUint:
      return column.size == 1   ? InOrder<uint8_t>(column)
             : column.size == 2 ? InOrder<uint16_t>(column)
             : column.size == 4 ? InOrder<uint32_t>(column)
                                : InOrder<uint64_t>(column);
    case ColumnType::kFloat:
      if (column.size == 2) return ReturnHalf;
      return column.size == 4 ? InOrder<float>(column) : InOrder<double>(column);
    case ColumnType::kTime:
      return ReturnTime;
    case ColumnType::kText:
      return ReturnBytesAsText;
    case ColumnType::kUcs4:
      return ReturnUcs4;
    case ColumnType::kBlob:
      break;
  }
  return ReturnBlob;
}

int64_t LoadInteger(const Column& column, std::span<const std::byte> record) {
  const std::byte* const at = record.data() + column.offset;
  const bool is_signed = column.type != ColumnType::kUint;
  switch (column.size) {
    case 1:
      return is_signed ? Load<int8_t>(column, at) : Load<uint8_t>(column, at);
    case 2:
      return is_signed ? Load<int16_t>(column, at) : Load<uint16_t>(column, at);
    case 4:
      return is_signed ? Load<int32_t>(column, at) : int64_t{Load<uint32_t>(column, at)};
    default:
      return Load<int64_t>(column, at);
  }
}

absl::Status StoreValue(const Column& column, sqlite3_value* value, std::byte* at) {
  std::fill_n(at, column.size, std::byte{0});
  switch (column.type) {
    case ColumnType::kTime:
      if (sqlite3_value_type(value) == SQLITE_NULL) {
        Store(column, kNoTime, at);
        return absl::OkStatus();
      }
      [[fallthrough]];
    case ColumnType::kBool:
    case ColumnType::kInt:
    case ColumnType::kUint:
      return StoreInteger(column, value, at);
    case ColumnType::kFloat:
      return StoreFloat(column, value, at);
    case ColumnType::kText:
    case ColumnType::kUcs4:
    case ColumnType::kBlob:
      break;
  }
  return StoreBytes(column, value, at);
}

}  // namespace cairn::sqlite
