// Numbers in the byte orders of the format: little endian inside chunks, big endian inside the
// msgpack parts of a frame.
#ifndef CAIRN_ENGINE_BASE_ENDIAN_H_
#define CAIRN_ENGINE_BASE_ENDIAN_H_

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace cairn {

template <std::integral T>
constexpr T ByteSwap(T value) {
  if constexpr (sizeof(T) == 1) return value;
  if constexpr (sizeof(T) == 2) return static_cast<T>(__builtin_bswap16(value));
  if constexpr (sizeof(T) == 4) return static_cast<T>(__builtin_bswap32(value));
  if constexpr (sizeof(T) == 8) return static_cast<T>(__builtin_bswap64(value));
}

// Converts between the order of the host and `kOrder`. Nothing else in the engine depends on the
// order of the host. Tests pass the other order as `kHost`.
template <std::endian kOrder, std::endian kHost = std::endian::native, std::integral T>
constexpr T ToOrder(T value) {
  return kOrder == kHost ? value : ByteSwap(value);
}

// Neither `from` nor `to` needs to be aligned.
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

// Floats are those of IEEE 754.
template <typename T>
concept Number = std::integral<T> || std::same_as<T, float> || std::same_as<T, double>;
template <Number T>
using FloatBits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

template <std::floating_point T>
T LoadLe(const std::byte* from) {
  return std::bit_cast<T>(LoadLe<FloatBits<T>>(from));
}

// Loads numbers that follow each other.
template <Number T>
void LoadLe(const std::byte* from, std::span<T> numbers) {
  if constexpr (ToOrder<std::endian::little>(uint16_t{1}) == 1) {
    std::memcpy(numbers.data(), from, numbers.size_bytes());
  } else {
    for (T& number : numbers) {
      number = LoadLe<T>(from);
      from += sizeof(T);
    }
  }
}

template <std::floating_point T>
void StoreLe(std::byte* to, T value) {
  StoreLe(to, std::bit_cast<FloatBits<T>>(value));
}

template <std::integral T>
void StoreBe(std::byte* to, T value) {
  value = ToOrder<std::endian::big>(value);
  std::memcpy(to, &value, sizeof(T));
}

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_ENDIAN_H_
