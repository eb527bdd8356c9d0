// Writes integers of any number of bits, the lowest bits first.
#ifndef CAIRN_ENGINE_CODEC_PCO_BIT_WRITER_H_
#define CAIRN_ENGINE_CODEC_PCO_BIT_WRITER_H_

#include <cstdint>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/endian.h"

namespace cairn::pco {

// Appends to the bytes that it was given.
class BitWriter {
 public:
  explicit BitWriter(std::vector<std::byte>& out) : out_(out) {}
  BitWriter(const BitWriter&) = delete;
  BitWriter& operator=(const BitWriter&) = delete;
  // The last byte is filled up with zeros.
  ~BitWriter() { Align(); }

  // Writes the lowest 0 to 64 bits of `value`, whose other bits are ignored.
  void Write(uint64_t value, int nbits) {
    CAIRN_DCHECK(nbits >= 0 && nbits <= 64);
    if (nbits < 64) value &= (uint64_t{1} << nbits) - 1;
    pending_ |= value << count_;
    if (count_ + nbits < 64) {
      count_ += nbits;
      return;
    }
    Flush(8);
    const int written = 64 - count_;
    pending_ = written < 64 ? value >> written : 0;
    count_ += nbits - 64;
  }

  // Fills up the byte.
  void Align() {
    Flush(static_cast<size_t>(count_ + 7) / 8);
    pending_ = 0;
    count_ = 0;
  }

 private:
  void Flush(size_t nbytes) {
    std::byte bytes[8];
    StoreLe(bytes, pending_);
    out_.insert(out_.end(), bytes, bytes + nbytes);
  }

  std::vector<std::byte>& out_;
  uint64_t pending_ = 0;
  int count_ = 0;  // bits of it, below 64
};

// Writes where there is room, which the caller sees to: also for the 8 bytes from the last one on.
class BitSink {
 public:
  static constexpr int kMaxBits = 56;  // of a call

  explicit BitSink(std::byte* begin) : at_(begin) {}

  // Writes 0 to kMaxBits bits. The other bits of `value` must be 0.
  void Write(uint64_t value, unsigned nbits) {
    pending_ |= value << count_;
    StoreLe(at_, pending_);
    const unsigned total = count_ + nbits;
    at_ += total / 8;
    pending_ >>= total & ~7U;
    count_ = total % 8;
  }

  // Writes 0 to 64 bits. The other bits of `value` must be 0.
  void WriteWide(uint64_t value, unsigned nbits) {
    const unsigned low = nbits < 32 ? nbits : 32;
    Write(value & 0xFFFFFFFF, low);
    Write(value >> 32, nbits - low);
  }

  // Fills up the byte, and returns the end of what was written.
  std::byte* Align() {
    Write(0, (8 - count_) % 8);
    return at_;
  }

 private:
  std::byte* at_;
  uint64_t pending_ = 0;
  unsigned count_ = 0;  // bits of it, below 8
};

}  // namespace cairn::pco

#endif  // CAIRN_ENGINE_CODEC_PCO_BIT_WRITER_H_
