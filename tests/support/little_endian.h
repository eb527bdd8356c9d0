// Numbers in the byte order of records on every host, for structs that are records.
#ifndef CAIRN_TESTS_SUPPORT_LITTLE_ENDIAN_H_
#define CAIRN_TESTS_SUPPORT_LITTLE_ENDIAN_H_

#include <array>
#include <cstddef>
#include <ostream>

#include "engine/base/endian.h"

namespace cairn::test {

// Converts to and from the number that it holds. It needs no alignment, so structs of these have no
// gaps.
template <Number T>
class LittleEndian {
 public:
  LittleEndian() = default;                                 // 0
  LittleEndian(T value) { StoreLe(bytes_.data(), value); }  // NOLINT(google-explicit-constructor)
  operator T() const {                                      // NOLINT(google-explicit-constructor)
    return LoadLe<T>(bytes_.data());
  }

  friend std::ostream& operator<<(std::ostream& out, const LittleEndian& number) {
    return out << +static_cast<T>(number);
  }

 private:
  std::array<std::byte, sizeof(T)> bytes_ = {};
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_LITTLE_ENDIAN_H_
