// Reads numbers from untrusted bytes. Nothing else in the engine does.
#ifndef CAIRN_ENGINE_BASE_BYTE_READER_H_
#define CAIRN_ENGINE_BASE_BYTE_READER_H_

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"

#include "cairn/types.h"
#include "engine/base/endian.h"
#include "engine/base/status.h"

namespace cairn {

// Reads forward, bounds-checked. The first read that fails is remembered with its field and offset,
// and from then on every read gives 0 or nothing: callers read a complete structure and check
// status() once, before they use what they read.
class ByteReader {
 public:
  // `section` names the structure in messages and must outlive the reader.
  ByteReader(Bytes bytes, std::string_view section) : bytes_(bytes), section_(section) {}

  template <Number T>
  T Le(std::string_view field) {
    const Bytes raw = Take(sizeof(T), field);
    return raw.empty() ? T{0} : LoadLe<T>(raw.data());
  }

  template <std::integral T>
  T Be(std::string_view field) {
    const Bytes raw = Take(sizeof(T), field);
    return raw.empty() ? T{0} : LoadBe<T>(raw.data());
  }

  uint8_t U8(std::string_view field) { return Le<uint8_t>(field); }

  // Reads a number of variable length: seven bits in each byte, the lowest first, and a high bit in
  // all bytes except the last.
  uint64_t Varint(std::string_view field) {
    if (ok() && remaining() >= kShortVarint) {
      uint64_t value = 0;
      if (const size_t size = ReadShortVarint(bytes_.data() + offset_, value); size > 0) {
        offset_ += size;
        return value;
      }
    }
    return LongVarint(field);
  }

  // Reads so many numbers of variable length, and returns their sum. Fails if that has more than 64
  // bits.
  uint64_t SumVarints(size_t count, std::string_view field);

  // Returns exactly `size` bytes, or none if fewer are left.
  Bytes Take(uint64_t size, std::string_view field) {
    if (size > remaining() || !ok()) {
      if (ok()) status_ = TooShort(section_, field, offset_, size, remaining());
      return {};
    }
    const Bytes taken = bytes_.subspan(offset_, static_cast<size_t>(size));
    offset_ += taken.size();
    return taken;
  }

  // Reads one byte that must be `expected`.
  void Expect(uint8_t expected, std::string_view field);

  // Fails unless `value`, which was just read, is `most` or less.
  void AtMost(int64_t value, int64_t most, std::string_view field);

  // Makes the reader fail at the current offset: "<section>: <field> at <offset>: <problem>".
  template <typename... Args>
  void Fail(std::string_view field, const absl::FormatSpec<Args...>& problem, const Args&... args) {
    if (ok()) status_ = At(section_, field, offset_, DataLoss(problem, args...));
  }

  // Moves to an absolute offset, which may be the end but not past it.
  void Seek(uint64_t offset, std::string_view field) {
    if (offset > bytes_.size() || !ok()) {
      if (ok()) status_ = OutOfBounds(section_, field, offset_, offset, bytes_.size());
      return;
    }
    offset_ = static_cast<size_t>(offset);
  }

  size_t offset() const { return offset_; }
  size_t remaining() const { return bytes_.size() - offset_; }
  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }

 private:
  // These are cold and out of line. They take values, not *this, so that the fast path stays in
  // registers.
  static absl::Status At(std::string_view section, std::string_view field, size_t at,
                         const absl::Status& problem);
  static absl::Status TooShort(std::string_view section, std::string_view field, size_t at,
                               uint64_t size, size_t left);
  static absl::Status OutOfBounds(std::string_view section, std::string_view field, size_t at,
                                  uint64_t offset, size_t size);

  // Most numbers of variable length have one byte or two. Reads such a number from two bytes, and
  // returns how many it has, or 0 if it is longer.
  static constexpr size_t kShortVarint = 2;
  static size_t ReadShortVarint(const std::byte* at, uint64_t& value) {
    const auto bits = LoadLe<uint16_t>(at);
    value = bits & 0x7FU;
    if ((bits & 0x80) == 0) return 1;
    value |= bits >> 1 & 0x3F80U;
    return (bits & 0x8000) == 0 ? 2 : 0;
  }
  uint64_t LongVarint(std::string_view field);

  Bytes bytes_;
  std::string_view section_;
  size_t offset_ = 0;
  absl::Status status_;
};

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_BYTE_READER_H_
