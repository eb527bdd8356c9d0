// A fuzzer's bytes, taken as numbers and pieces.
#ifndef CAIRN_FUZZ_INPUT_H_
#define CAIRN_FUZZ_INPUT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cairn/types.h"

namespace cairn::fuzz {

// Taken from the front. Behind the end all is zero, so that every input means something.
class Input {
 public:
  explicit Input(Bytes bytes) : rest_(bytes) {}
  Input(const uint8_t* data, size_t size) : rest_(reinterpret_cast<const std::byte*>(data), size) {}

  bool empty() const { return rest_.empty(); }
  Bytes rest() const { return rest_; }

  // As many bytes as asked for, or as there are.
  Bytes Take(size_t size) {
    const Bytes taken = rest_.first(std::min(size, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }

  // Little endian.
  template <typename T>
  T Number() {
    std::make_unsigned_t<T> number = 0;
    int shift = 0;
    for (const std::byte b : Take(sizeof(T))) {
      number |= static_cast<std::make_unsigned_t<T>>(std::to_integer<std::make_unsigned_t<T>>(b)
                                                     << shift);
      shift += 8;
    }
    return static_cast<T>(number);
  }

  // In [0, limit); takes two bytes.
  size_t Below(size_t limit) { return limit == 0 ? 0 : Number<uint16_t>() % limit; }
  bool Flag() { return Number<uint8_t>() % 2 == 1; }

 private:
  Bytes rest_;
};

}  // namespace cairn::fuzz

#endif  // CAIRN_FUZZ_INPUT_H_
