#include "engine/base/byte_reader.h"

#include "engine/base/status.h"

namespace cairn {

void ByteReader::FailToTake(uint64_t size, std::string_view field) {
  Fail(field, absl::StrFormat("needs %d bytes, %d left", size, remaining()));
}

void ByteReader::FailToSeek(uint64_t offset, std::string_view field) {
  Fail(field, absl::StrFormat("points to byte %d of %d", offset, bytes_.size()));
}

void ByteReader::Expect(uint8_t expected, std::string_view field) {
  const size_t at = offset_;
  const uint8_t got = U8(field);
  if (ok() && got != expected) {
    offset_ = at;
    Fail(field, absl::StrFormat("expected 0x%02x, got 0x%02x", expected, got));
  }
}

void ByteReader::Fail(std::string_view field, std::string_view problem) {
  if (!ok()) return;
  status_ = DataLoss("%s: %s at byte %d: %s", section_, field, offset_, problem);
}

}  // namespace cairn
