// Values of fields, in the form that records have.
#ifndef CAIRN_ENGINE_LOG_STATS_VALUES_H_
#define CAIRN_ENGINE_LOG_STATS_VALUES_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "cairn/record.h"
#include "engine/base/endian.h"

namespace cairn::log {

// The timestamp that means no time: NumPy's NaT.
inline constexpr int64_t kNoTime = std::numeric_limits<int64_t>::min();

// Converts a number of IEEE 754 binary16.
inline double HalfToDouble(uint16_t bits) {
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

// Returns a number as a field of floats would hold it, if that is finite. So 20.1 is equal to a
// value that was stored as 20.1, and 16777217 to one that was stored as that.
template <typename Number>
double RoundTo(const Field& field, Number number) {
  const auto value = static_cast<double>(number);
  if (field.size == 8 || !std::isfinite(value)) return value;
  double rounded = static_cast<float>(number);
  if (field.size == 2) {
    const int exponent = value == 0 ? -14 : std::max(std::ilogb(value), -14);
    rounded = std::ldexp(std::nearbyint(std::ldexp(value, 10 - exponent)), exponent - 10);
    if (std::abs(rounded) > 65504) return value;
  }
  return std::isfinite(rounded) ? rounded : value;
}

// Calls visit(load), where load(p) is the value at p in its own type: bool and integers as int64_t
// or uint64_t, floats as double. It is not called for kBytes.
template <typename Visit>
void VisitLoader(const Field& field, const Visit& visit) {
  switch (field.type) {
    case FieldType::kBool:
      return visit([](const std::byte* p) { return int64_t{*p != std::byte{0}}; });
    case FieldType::kTimestamp:
      return visit([](const std::byte* p) { return LoadLe<int64_t>(p); });
    case FieldType::kInt:
      switch (field.size) {
        case 1:
          return visit([](const std::byte* p) { return int64_t{LoadLe<int8_t>(p)}; });
        case 2:
          return visit([](const std::byte* p) { return int64_t{LoadLe<int16_t>(p)}; });
        case 4:
          return visit([](const std::byte* p) { return int64_t{LoadLe<int32_t>(p)}; });
        default:
          return visit([](const std::byte* p) { return LoadLe<int64_t>(p); });
      }
    case FieldType::kUint:
      switch (field.size) {
        case 1:
          return visit([](const std::byte* p) { return uint64_t{LoadLe<uint8_t>(p)}; });
        case 2:
          return visit([](const std::byte* p) { return uint64_t{LoadLe<uint16_t>(p)}; });
        case 4:
          return visit([](const std::byte* p) { return uint64_t{LoadLe<uint32_t>(p)}; });
        default:
          return visit([](const std::byte* p) { return LoadLe<uint64_t>(p); });
      }
    case FieldType::kFloat:
      switch (field.size) {
        case 2:
          return visit([](const std::byte* p) { return HalfToDouble(LoadLe<uint16_t>(p)); });
        case 4:
          return visit([](const std::byte* p) { return double{LoadLe<float>(p)}; });
        default:
          return visit([](const std::byte* p) { return LoadLe<double>(p); });
      }
    case FieldType::kText:  // the codes
      return visit([](const std::byte* p) { return uint64_t{LoadLe<uint32_t>(p)}; });
    case FieldType::kBytes:
      return;
  }
}

// Returns true for NaN and for a timestamp that means no time: such a record has no value.
template <typename T>
bool IsNone(const Field& field, T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::isnan(value);
  } else if constexpr (std::is_signed_v<T>) {
    return field.type == FieldType::kTimestamp && value == kNoTime;
  } else {
    return false;
  }
}

// Returns true if statistics are kept for the field. Those of a text are of its codes.
inline bool IsNumber(const Field& field) { return field.type != FieldType::kBytes; }
inline bool IsText(const Field& field) {
  return field.type == FieldType::kBytes || field.type == FieldType::kText;
}

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_STATS_VALUES_H_
