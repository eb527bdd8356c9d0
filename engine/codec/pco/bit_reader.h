// Reads integers of any number of bits, the lowest bits first.
#ifndef CAIRN_ENGINE_CODEC_PCO_BIT_READER_H_
#define CAIRN_ENGINE_CODEC_PCO_BIT_READER_H_

#include <cstdint>

#include "cairn/types.h"
#include "engine/base/check.h"
#include "engine/base/endian.h"

namespace cairn::pco {

// A batch is decoded without a check for each number, so it may read past the end of the stream:
// 256 offsets of 64 bits, 256 states of 14 bits, and one load. These bytes may hold anything.
inline constexpr size_t kPadding = 256 * 8 + 256 * 14 / 8 + 16;

// Reads forward. A read that begins past the end gives 0, and one that crosses it gives anything:
// callers read a complete structure and check in_bounds() once.
class BitReader {
 public:
  // The stream is `padded` without its last kPadding bytes.
  explicit BitReader(Bytes padded)
      : bytes_(padded), end_(static_cast<int64_t>(padded.size() - kPadding) * 8) {
    CAIRN_DCHECK(padded.size() >= kPadding);
  }

  // Reads an integer of 0 to 64 bits.
  uint64_t Read(int nbits) {
    if (position_ > end_ || nbits == 0) return 0;
    const std::byte* const at = bytes_.data() + position_ / 8;
    const int shift = static_cast<int>(position_ % 8);
    position_ += nbits;
    uint64_t value = LoadLe<uint64_t>(at) >> shift;
    if (shift + nbits > 64) value |= uint64_t{LoadLe<uint8_t>(at + 8)} << (64 - shift);
    return nbits == 64 ? value : value & ((uint64_t{1} << nbits) - 1);
  }

  // Skips to the next whole byte. Returns false if a skipped bit is set.
  bool Align() {
    const int rest = static_cast<int>(-position_ & 7);
    return Read(rest) == 0;
  }

  bool in_bounds() const { return position_ <= end_; }
  // In bits.
  int64_t position() const { return position_; }
  int64_t bits_left() const { return end_ - position_; }

  // For loops that read many numbers: the bytes from `position` on may be loaded as far as kPadding
  // bytes past the end of the stream.
  const std::byte* data() const { return bytes_.data(); }
  void MoveTo(int64_t position) { position_ = position; }

 private:
  Bytes bytes_;
  int64_t position_ = 0;
  int64_t end_;
};

}  // namespace cairn::pco

#endif  // CAIRN_ENGINE_CODEC_PCO_BIT_READER_H_
