// Integers in the byte orders of the format: little endian inside chunks, big endian inside the
// msgpack parts of a frame.
#ifndef CAIRN_ENGINE_BASE_ENDIAN_H_
#define CAIRN_ENGINE_BASE_ENDIAN_H_

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstring>

namespace cairn {

template <std::integral T>
constexpr T ByteSwap(T value) {
  if constexpr (sizeof(T) == 1) return value;
  if constexpr (sizeof(T) == 2) return static_cast<T>(__builtin_bswap16(value));
  if constexpr (sizeof(T) == 4) return static_cast<T>(__builtin_bswap32(value));
  if constexpr (sizeof(T) == 8) return static_cast<T>(__builtin_bswap64(value));
}

// All that the order of the host means to the engine. Tests are hosts of the other order, too.
template <std::endian kOrder, std::endian kHost = std::endian::native, std::integral T>
constexpr T ToOrder(T value) {
  return kOrder == kHost ? value : ByteSwap(value);
}

// `from` and `to` need no alignment.
template <std::integral T>
T LoadLe(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return ToOrder<std::endian::little>(value);
}

template <std::integral T>
T LoadBe(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return ToOrder<std::endian::big>(value);
}

template <std::integral T>
void StoreLe(std::byte* to, T value) {
  value = ToOrder<std::endian::little>(value);
  std::memcpy(to, &value, sizeof(T));
}

template <std::integral T>
void StoreBe(std::byte* to, T value) {
  value = ToOrder<std::endian::big>(value);
  std::memcpy(to, &value, sizeof(T));
}

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_ENDIAN_H_
