#include "engine/base/byte_reader.h"

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

void ByteReader::NoVarint(bool is_cut, std::string_view field) {
  if (is_cut) Take(remaining() + 1, field);
  Fail(field, "more than 64 bits");
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
