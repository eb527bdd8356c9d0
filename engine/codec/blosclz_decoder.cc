#include <cstdint>
#include <cstring>

#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/codec/blosclz.h"

namespace cairn::codec {

namespace {

// Copies that may write up to this much past their end are used only at that distance from the end
// of the output.
constexpr size_t kSlack = 64;
// The longest opcode of literals. A match is longer only if it is very long.
constexpr size_t kMaxOpcode = 1 + kMaxLiterals;
constexpr size_t kLong = 7;
constexpr size_t kFar = 0x1FFF;

void Copy8(std::byte* to, const std::byte* from) { std::memcpy(to, from, 8); }
void Copy16(std::byte* to, const std::byte* from) { std::memcpy(to, from, 16); }
void Copy32(std::byte* to, const std::byte* from) {
  Copy16(to, from);
  Copy16(to + 16, from + 16);
}

// Returns the first `distance` (below 8) bytes of `from`, repeated to 8 bytes.
uint64_t RepeatTo8(const std::byte* from, size_t distance) {
  const size_t bits = distance * 8;
  uint64_t pattern = LoadLe<uint64_t>(from) & ((uint64_t{1} << bits) - 1);
  for (size_t have = bits; have < 64; have *= 2) pattern |= pattern << have;
  return pattern;
}

// Repeats the last `distance` bytes before `out`, which are 16 or more, at least up to `end`.
// Writes less than kSlack bytes past it.
void RepeatFar(std::byte* out, std::byte* end, size_t distance) {
  const std::byte* from = out - distance;
  do {
    Copy32(out, from);
    Copy32(out + 32, from + 32);
    out += 64;
    from += 64;
  } while (out < end);
}

// Repeats as RepeatFar does, for any distance.
void RepeatWide(std::byte* out, std::byte* end, size_t distance) {
  const std::byte* from = out - distance;
  if (distance >= 16) {
    RepeatFar(out, end, distance);
  } else if (distance >= 8) {
    do {
      Copy8(out, from);
      out += 8;
      from += 8;
    } while (out < end);
  } else if (distance == 1) {
    std::memset(out, std::to_integer<int>(*from), static_cast<size_t>(end - out));
  } else {
    const uint64_t pattern = RepeatTo8(from, distance);
    const size_t step = 8 - 8 % distance;
    do {
      StoreLe(out, pattern);
      out += step;
    } while (out < end);
  }
}

// Repeats without writing past `end`, for the last bytes of a stream.
void RepeatExactly(std::byte* out, std::byte* end, size_t distance) {
  if (static_cast<size_t>(end - out) > 2 * kSlack) {
    std::byte* const wide_end = end - kSlack;
    RepeatWide(out, wide_end, distance);
    out = wide_end;
  }
  for (; out < end; ++out) *out = *(out - distance);
}

class Decoder {
 public:
  Decoder(Bytes src, MutableBytes dst) : src_(src), dst_(dst), in_(src.data()), out_(dst.data()) {}

  absl::Status Run() {
    if (src_.empty()) return DataLoss("BloscLZ stream is empty, expected %d bytes", dst_.size());
    // The upper bits of the first control byte are a marker, so it is always a literal run.
    bool ok = CopyLiterals(std::to_integer<size_t>(*in_++) & 0x1F) && RunFarFromEnds();
    while (ok && in_ != in_end_) {
      const size_t control = std::to_integer<size_t>(*in_++);
      ok = control < 0x20 ? CopyLiterals(control) : CopyMatch(control);
    }
    if (ok && out_ == out_end_) return absl::OkStatus();
    return DataLoss("BloscLZ stream of %d bytes %s at byte %d: wrote %d of %d bytes", src_.size(),
                    ok ? "ends" : "is malformed", in_ - src_.data(), out_ - dst_.data(),
                    dst_.size());
  }

 private:
  size_t in_left() const { return static_cast<size_t>(in_end_ - in_); }
  size_t out_left() const { return static_cast<size_t>(out_end_ - out_); }

  // Decodes while no opcode of usual size can lead past an end, so that only distances must be
  // checked. Leaves the rest to the functions below.
  bool RunFarFromEnds() {
    while (in_left() >= kMaxOpcode && out_left() >= kSlack) {
      const size_t control = std::to_integer<size_t>(*in_++);
      if (control < 0x20) {
        Copy32(out_, in_);
        in_ += control + 1;
        out_ += control + 1;
        continue;
      }
      const bool is_long = control >> 5 == kLong;
      const size_t more = is_long ? std::to_integer<size_t>(*in_) : 0;
      const std::byte* low = in_ + (is_long ? 1 : 0);
      // There is no branch here, because a processor cannot predict whether a match is far.
      size_t distance = (control & 0x1F) << 8 | std::to_integer<size_t>(*low);
      const bool far = distance == kFar;
      distance += (far ? LoadBe<uint16_t>(low + 1) : 0) + 1;
      const size_t length = (control >> 5) + more + 2;
      if (more == 255 || distance < 16 || length > out_left() - kSlack) {
        if (!CopyMatch(control)) return false;
        continue;
      }
      if (distance > static_cast<size_t>(out_ - dst_.data())) return false;
      RepeatFar(out_, out_ + length, distance);
      in_ = low + (far ? 3 : 1);
      out_ += length;
    }
    return true;
  }

  bool CopyLiterals(size_t control) {
    const size_t size = control + 1;
    if (in_left() >= kMaxLiterals && out_left() >= kMaxLiterals) {
      Copy32(out_, in_);
    } else {
      if (size > in_left() || size > out_left()) return false;
      std::memcpy(out_, in_, size);
    }
    in_ += size;
    out_ += size;
    return true;
  }

  bool CopyMatch(size_t control) {
    size_t length = control >> 5;
    if (length == kLong) {
      size_t more = 0;
      do {
        if (in_ == in_end_) return false;
        more = std::to_integer<size_t>(*in_++);
        length += more;
      } while (more == 255);
    }
    length += 2;
    if (in_ == in_end_) return false;
    size_t distance = (control & 0x1F) << 8 | std::to_integer<size_t>(*in_++);
    if (distance == kFar) {
      if (in_left() < 2) return false;
      distance += LoadBe<uint16_t>(in_);
      in_ += 2;
    }
    ++distance;

    const size_t left = out_left();
    if (length > left || distance > static_cast<size_t>(out_ - dst_.data())) return false;
    std::byte* const end = out_ + length;
    if (left - length >= kSlack) {
      RepeatWide(out_, end, distance);
    } else {
      RepeatExactly(out_, end, distance);
    }
    out_ = end;
    return true;
  }

  const Bytes src_;
  const MutableBytes dst_;
  const std::byte* in_;
  const std::byte* const in_end_ = src_.data() + src_.size();
  std::byte* out_;
  std::byte* const out_end_ = dst_.data() + dst_.size();
};

}  // namespace

absl::Status DecodeBloscLz(Bytes src, MutableBytes dst) { return Decoder(src, dst).Run(); }

}  // namespace cairn::codec
