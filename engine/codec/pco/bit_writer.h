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

}  // namespace cairn::pco

#endif  // CAIRN_ENGINE_CODEC_PCO_BIT_WRITER_H_
