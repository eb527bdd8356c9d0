#include "engine/base/byte_reader.h"

#include "engine/base/status.h"

namespace cairn {

absl::Status ByteReader::Problem(std::string_view section, std::string_view field, size_t at,
                                 std::string_view problem) {
  return DataLoss("%s: %s at byte %d: %s", section, field, at, problem);
}

absl::Status ByteReader::TooShort(std::string_view section, std::string_view field, size_t at,
                                  uint64_t size, size_t left) {
  return Problem(section, field, at, absl::StrFormat("needs %d bytes, %d left", size, left));
}

absl::Status ByteReader::OutOfBounds(std::string_view section, std::string_view field, size_t at,
                                     uint64_t offset, size_t size) {
  return Problem(section, field, at, absl::StrFormat("points to byte %d of %d", offset, size));
}

uint64_t ByteReader::Varint(std::string_view field) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const uint8_t byte = U8(field);
    const uint64_t bits = byte & 0x7F;
    if (bits << shift >> shift != bits) break;
    value |= bits << shift;
    if (byte < 0x80) return ok() ? value : 0;
  }
  Fail(field, "more than 64 bits");
  return 0;
}

void ByteReader::Expect(uint8_t expected, std::string_view field) {
  const size_t at = offset_;
  const uint8_t got = U8(field);
  if (ok() && got != expected) {
    offset_ = at;
    Fail(field, absl::StrFormat("expected 0x%02x, got 0x%02x", expected, got));
  }
}

void ByteReader::AtMost(int64_t value, int64_t most, std::string_view field) {
  if (ok() && value > most) {
    Fail(field, absl::StrFormat("expected up to %d, got %d", most, value));
  }
}

}  // namespace cairn
