// Builds structures of the format, byte by byte.
#ifndef CAIRN_ENGINE_BASE_BYTE_WRITER_H_
#define CAIRN_ENGINE_BASE_BYTE_WRITER_H_

#include <concepts>
#include <cstdint>
#include <utility>
#include <vector>

#include "cairn/types.h"
#include "engine/base/endian.h"

namespace cairn {

class ByteWriter {
 public:
  ByteWriter() = default;
  // Appends to these bytes.
  explicit ByteWriter(std::vector<std::byte> begun) : out_(std::move(begun)) {}

  // Writes the values one after the other.
  template <Number... T>
  void Le(T... values) {
    std::byte raw[(sizeof(T) + ...)];
    std::byte* end = raw;
    ((StoreLe(end, values), end += sizeof(T)), ...);
    Append(raw);
  }

  template <std::integral T>
  void Be(T value) {
    std::byte raw[sizeof(T)];
    StoreBe(raw, value);
    Append(raw);
  }

  void U8(uint8_t value) { out_.push_back(std::byte{value}); }

  // Writes a number of variable length, which ByteReader::Varint reads.
  void Varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) U8(static_cast<uint8_t>(value | 0x80));
    U8(static_cast<uint8_t>(value));
  }

  void Append(Bytes bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }
  void Zeros(size_t size) { out_.resize(out_.size() + size); }

  size_t size() const { return out_.size(); }
  // Returns the bytes written so far, so that fields whose values are known only later can be
  // filled in.
  MutableBytes written() { return out_; }
  std::vector<std::byte> Take() && { return std::move(out_); }

 private:
  std::vector<std::byte> out_;
};

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_BYTE_WRITER_H_
