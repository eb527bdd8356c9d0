#include "engine/base/byte_reader.h"

#include <algorithm>

#include "engine/base/status.h"

namespace cairn {

absl::Status ByteReader::At(std::string_view section, std::string_view field, size_t at,
                            const absl::Status& problem) {
  return Annotate(problem, "%s: %s at byte %d", section, field, at);
}

absl::Status ByteReader::TooShort(std::string_view section, std::string_view field, size_t at,
                                  uint64_t size, size_t left) {
  return At(section, field, at, DataLoss("needs %d bytes, %d left", size, left));
}

absl::Status ByteReader::OutOfBounds(std::string_view section, std::string_view field, size_t at,
                                     uint64_t offset, size_t size) {
  return At(section, field, at, DataLoss("points to byte %d of %d", offset, size));
}

uint64_t ByteReader::LongVarint(std::string_view field) {
  constexpr size_t kMostBytes = 10;
  const Bytes rest = ok() ? bytes_.subspan(offset_) : Bytes();
  uint64_t value = 0;
  for (size_t i = 0; i < std::min(rest.size(), kMostBytes); ++i) {
    const auto byte = static_cast<uint64_t>(rest[i]);
    const uint64_t bits = byte & 0x7F;
    if (bits << 7 * i >> 7 * i != bits) break;
    value |= bits << 7 * i;
    if (byte == bits) {
      offset_ += i + 1;
      return value;
    }
  }
  if (rest.size() < kMostBytes) Take(remaining() + 1, field);
  Fail(field, "more than 64 bits");
  return 0;
}

uint64_t ByteReader::SumVarints(size_t count, std::string_view field) {
  uint64_t sum = 0;
  while (ok()) {
    size_t at = offset_;
    for (; count > 0 && bytes_.size() - at >= kShortVarint; --count) {
      uint64_t value = 0;
      const size_t size = ReadShortVarint(bytes_.data() + at, value);
      if (size == 0) break;
      sum += value;
      at += size;
    }
    offset_ = at;
    if (count == 0) return sum;
    const uint64_t value = Varint(field);
    sum += value;
    if (sum < value) Fail(field, "their sum has more than 64 bits");
    --count;
  }
  return 0;
}

void ByteReader::Expect(uint8_t expected, std::string_view field) {
  const size_t at = offset_;
  const uint8_t got = U8(field);
  if (ok() && got != expected) {
    offset_ = at;
    Fail(field, "expected 0x%02x, got 0x%02x", expected, got);
  }
}

void ByteReader::AtMost(int64_t value, int64_t most, std::string_view field) {
  if (ok() && value > most) {
    Fail(field, "expected up to %d, got %d", most, value);
  }
}

}  // namespace cairn
