// The few msgpack markers in frames. All numbers are big endian.
#ifndef CAIRN_ENGINE_FORMAT_MSGPACK_H_
#define CAIRN_ENGINE_FORMAT_MSGPACK_H_

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/byte_reader.h"
#include "engine/base/byte_writer.h"

namespace cairn::format::msgpack {

inline constexpr uint8_t kFixStr = 0xA0;  // + length up to 31
inline constexpr uint8_t kFalse = 0xC2;
inline constexpr uint8_t kTrue = 0xC3;
inline constexpr uint8_t kBin32 = 0xC6;
inline constexpr uint8_t kUint16 = 0xCD;
inline constexpr uint8_t kUint32 = 0xCE;
inline constexpr uint8_t kUint64 = 0xCF;
template <std::signed_integral T>
inline constexpr uint8_t kInt = sizeof(T) == 2   ? 0xD1
                                : sizeof(T) == 4 ? 0xD2
                                                 : 0xD3;
inline constexpr uint8_t kFixExt16 = 0xD8;
inline constexpr uint8_t kArray16 = 0xDC;
inline constexpr uint8_t kMap16 = 0xDE;

constexpr uint8_t FixArray(int size) { return static_cast<uint8_t>(0x90 + size); }

// Reads a marker that must be there, and the number after it.
template <std::signed_integral T>
T ReadInt(ByteReader& reader, std::string_view field) {
  reader.Expect(kInt<T>, field);
  return reader.Be<T>(field);
}
template <std::signed_integral T>
void WriteInt(ByteWriter& writer, T value) {
  writer.U8(kInt<T>);
  writer.Be(value);
}

inline std::string ReadShortString(ByteReader& reader, std::string_view field) {
  const uint8_t marker = reader.U8(field);
  if (reader.ok() && (marker & 0xE0) != kFixStr) reader.Fail(field, "is not a short string");
  const Bytes text = reader.Take(marker & 0x1Fu, field);
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

}  // namespace cairn::format::msgpack

#endif  // CAIRN_ENGINE_FORMAT_MSGPACK_H_
