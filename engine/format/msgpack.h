// The few msgpack markers that frames are written with. Everything is big endian.
#ifndef CAIRN_ENGINE_FORMAT_MSGPACK_H_
#define CAIRN_ENGINE_FORMAT_MSGPACK_H_

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
inline constexpr uint8_t kInt16 = 0xD1;
inline constexpr uint8_t kInt32 = 0xD2;
inline constexpr uint8_t kInt64 = 0xD3;
inline constexpr uint8_t kFixExt16 = 0xD8;
inline constexpr uint8_t kArray16 = 0xDC;
inline constexpr uint8_t kMap16 = 0xDE;

constexpr uint8_t FixArray(int size) { return static_cast<uint8_t>(0x90 + size); }

// A marker that must be there, and the number after it.
inline int16_t ReadInt16(ByteReader& reader, std::string_view field) {
  reader.Expect(kInt16, field);
  return static_cast<int16_t>(reader.Be<uint16_t>(field));
}
inline int32_t ReadInt32(ByteReader& reader, std::string_view field) {
  reader.Expect(kInt32, field);
  return static_cast<int32_t>(reader.Be<uint32_t>(field));
}
inline int64_t ReadInt64(ByteReader& reader, std::string_view field) {
  reader.Expect(kInt64, field);
  return static_cast<int64_t>(reader.Be<uint64_t>(field));
}
inline std::string ReadShortString(ByteReader& reader, std::string_view field) {
  const uint8_t marker = reader.U8(field);
  if (reader.ok() && (marker & 0xE0) != kFixStr) reader.Fail(field, "is no short string");
  const Bytes text = reader.Take(marker & 0x1Fu, field);
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

inline void WriteInt16(ByteWriter& writer, int16_t value) {
  writer.U8(kInt16);
  writer.Be(static_cast<uint16_t>(value));
}
inline void WriteInt32(ByteWriter& writer, int32_t value) {
  writer.U8(kInt32);
  writer.Be(static_cast<uint32_t>(value));
}
inline void WriteInt64(ByteWriter& writer, int64_t value) {
  writer.U8(kInt64);
  writer.Be(static_cast<uint64_t>(value));
}
inline void WriteUint32(ByteWriter& writer, uint32_t value) {
  writer.U8(kUint32);
  writer.Be(value);
}

}  // namespace cairn::format::msgpack

#endif  // CAIRN_ENGINE_FORMAT_MSGPACK_H_
