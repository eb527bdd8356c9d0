#include <algorithm>
#include <bit>
#include <climits>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "engine/base/checked.h"
#include "engine/base/endian.h"
#include "engine/codec/blosclz.h"
#include "engine/codec/stream_codec.h"

namespace cairn::codec {

namespace {

constexpr int kMaxHashBits = 14;
constexpr size_t kFirstFarDistance = 8192;
// The format allows 73727, but C-Blosc2 stops here.
constexpr size_t kMaxDistance = 73724;
// Shorter matches cost more time to decode than they save bytes.
constexpr size_t kMinNearMatch = 6;
constexpr size_t kMinFarMatch = 8;
// Each byte of a match makes up for this many misses, so that a few short matches do not slow the
// search down.
constexpr size_t kForgiven = 32;
// The wide loads of the search may touch this many bytes before the end.
constexpr size_t kTail = 12;

// A sample is not shorter: bytes of integers that count up repeat after 256. A stream of up to two
// such samples is judged when it is compressed.
constexpr size_t kMinSample = 2048;

// Returns true if opcodes are worth the time to decode them: they are much shorter than the bytes,
// either with a few long matches or with many short ones. Each match counts as the literals that
// take as long to copy.
bool IsWorthIt(size_t decoded, size_t size, size_t matches) {
  constexpr size_t kLiteralsOfMatch = 3;
  constexpr size_t kMinRatioPercent = 120;
  constexpr size_t kMinDenseRatioPercent = 172;
  return decoded * 100 >= (size + kLiteralsOfMatch * matches) * kMinRatioPercent ||
         decoded * 100 >= size * kMinDenseRatioPercent;
}

struct Effort {
  int hash_bits;
  // After 2^skip_shift misses in a row the search takes steps that are one byte longer each time.
  int skip_shift;
  // The sample is from the last 1/sample_divisor of a stream. With 0 all streams are compressed,
  // whether that is worth it or not.
  size_t sample_divisor;
};

Effort EffortOf(int clevel) {
  static constexpr Effort kEfforts[] = {
      {12, 5, 16}, {13, 5, 4}, {14, 6, 4}, {14, 6, 4}, {14, 6, 4},
      {14, 6, 4},  {14, 6, 4}, {14, 7, 0}, {14, 7, 0},
  };
  return kEfforts[std::clamp(clevel, 1, 9) - 1];
}

// Writes opcodes while they fit.
class OpcodeWriter {
 public:
  OpcodeWriter(Bytes src, MutableBytes out)
      : src_(src), begin_(out.data()), end_(begin_ + out.size()), to_(begin_) {}

  // Codes src[from, to) as literals. Returns false if they do not fit.
  bool Literals(size_t from, size_t to) {
    const size_t coded = to - from + CeilDiv(to - from, kMaxLiterals);
    if (coded > left()) return false;
    const bool wide = left() - coded >= kMaxLiterals && src_.size() - to >= kMaxLiterals;
    const std::byte* literals = src_.data() + from;
    std::byte* out = to_;
    to_ += coded;
    for (size_t left = to - from; left > 0;) {
      const size_t run = std::min(left, kMaxLiterals);
      *out++ = static_cast<std::byte>(run - 1);
      std::memcpy(out, literals, wide ? kMaxLiterals : run);
      out += run;
      literals += run;
      left -= run;
    }
    return true;
  }

  bool Match(size_t length, size_t distance) {
    const bool far = distance >= kFirstFarDistance;
    const bool extended = length >= 9;
    size_t rest = extended ? length - 9 : 0;
    const size_t coded = (far ? 4 : 2) + (extended ? rest / 255 + 1 : 0);
    if (coded > left()) return false;
    const size_t word = distance - (far ? kFirstFarDistance : 1);
    std::byte* out = to_;
    to_ += coded;
    ++matches_;
    *out++ = static_cast<std::byte>((extended ? 7 : length - 2) << 5 | (far ? 0x1F : word >> 8));
    if (extended) {
      for (; rest >= 255; rest -= 255) *out++ = std::byte{255};
      *out++ = static_cast<std::byte>(rest);
    }
    if (far) {
      *out++ = std::byte{0xFF};
      *out++ = static_cast<std::byte>(word >> 8);
    }
    *out = static_cast<std::byte>(word & 0xFF);
    return true;
  }

  size_t size() const { return static_cast<size_t>(to_ - begin_); }
  size_t matches() const { return matches_; }

 private:
  size_t left() const { return static_cast<size_t>(end_ - to_); }

  const Bytes src_;
  std::byte* const begin_;
  std::byte* const end_;
  std::byte* to_;
  size_t matches_ = 0;
};

// Counts the bytes that OpcodeWriter would write.
class OpcodeCounter {
 public:
  bool Literals(size_t from, size_t to) {
    decoded_ += to - from;
    size_ += to - from + CeilDiv(to - from, kMaxLiterals);
    return true;
  }

  bool Match(size_t length, size_t distance) {
    decoded_ += length;
    size_ += (distance >= kFirstFarDistance ? 4 : 2) + length / 255;
    ++matches_;
    return true;
  }

  bool is_worth_it() const { return IsWorthIt(decoded_, size_, matches_); }

 private:
  size_t decoded_ = 0;
  size_t size_ = 0;
  size_t matches_ = 0;
};

// Returns how many bytes from `a` and from the later `b` on are equal, up to `end`. Always inlined,
// because a call costs more than most matches are long.
[[gnu::always_inline]] inline size_t CommonLength(const std::byte* a, const std::byte* b,
                                                  const std::byte* end) {
  const std::byte* const start = b;
  for (; end - b >= 8; a += 8, b += 8) {
    const uint64_t difference = LoadLe<uint64_t>(a) ^ LoadLe<uint64_t>(b);
    if (difference != 0) return static_cast<size_t>(b - start + std::countr_zero(difference) / 8);
    while (end - b >= 40 && std::memcmp(a + 8, b + 8, 32) == 0) a += 32, b += 32;
  }
  while (b < end && *a == *b) ++a, ++b;
  return static_cast<size_t>(b - start);
}

// Remembers where each hash was seen last, as byte numbers. src begins at number `origin`.
struct History {
  uint32_t* places;
  int bits;
  Bytes src;
  uint32_t origin;

  // Files the bytes at `at` and returns how far back their hash was filed before.
  size_t Exchange(size_t at) const {
    const uint32_t here = origin + static_cast<uint32_t>(at);
    return here - std::exchange(Place(at), here);
  }
  uint32_t& Place(size_t at) const {
    // The hash covers six bytes, because shorter matches are not coded.
    const uint64_t hash = (LoadLe<uint64_t>(src.data() + at) << 16) * 0x9E3779B97F4A7C15u;
    return places[hash >> (64 - bits)];
  }
};

// A copy of bytes [begin, end) from `distance` before. There is none if end is 0.
struct Match {
  size_t begin = 0;
  size_t end = 0;
  size_t distance = 0;
};

// Returns true if the four bytes at `at` equal those from `distance` before.
bool Repeats(Bytes src, size_t at, size_t distance) {
  return distance <= kMaxDistance &&
         LoadLe<uint32_t>(src.data() + at) == LoadLe<uint32_t>(src.data() + at - distance);
}

// Returns the longest match at `distance` around the four bytes at `at` that begins at `earliest`
// or later, if it is worth its opcode. The last byte of src never belongs to it. Always inlined,
// because it is called at two places and the search spends most of its time in it.
[[gnu::always_inline]] inline Match Extend(Bytes src, size_t at, size_t distance, size_t earliest) {
  const std::byte* const base = src.data();
  const std::byte* const limit = base + src.size() - 1;
  const size_t end = at + 4 + CommonLength(base + at + 4 - distance, base + at + 4, limit);
  size_t begin = at;
  while (begin > earliest && begin > distance && base[begin - 1] == base[begin - 1 - distance]) {
    --begin;
  }
  if (end - begin < (distance < kFirstFarDistance ? kMinNearMatch : kMinFarMatch)) return {};
  return {begin, end, distance};
}

// Splits src, which is longer than kTail, into literals and matches, greedily. The first and the
// last byte are always literals. Returns false as soon as the sink refuses more.
template <typename Sink>
bool Parse(const History history, const int skip_shift, Sink& sink) {
  const Bytes src = history.src;
  const size_t search_end = src.size() - kTail;
  size_t literals = 0;  // where the literals begin that are not in the sink yet
  size_t misses = 0;
  // A second distance to try: the bytes before the end of the last match were seen there.
  size_t hint = SIZE_MAX;
  history.Exchange(0);
  for (size_t at = 1; at < search_end;) {
    Match match;
    const size_t distance = history.Exchange(at);
    if (Repeats(src, at, distance)) match = Extend(src, at, distance, literals);
    const size_t hinted_distance = std::exchange(hint, SIZE_MAX);
    if (Repeats(src, at, hinted_distance)) {
      const Match hinted = Extend(src, at, hinted_distance, literals);
      if (hinted.end > match.end) match = hinted;
    }
    if (match.end == 0) {
      at += 1 + (misses++ >> skip_shift);
      continue;
    }
    if (!sink.Literals(literals, match.begin)) return false;
    if (!sink.Match(match.end - match.begin, match.distance)) return false;
    literals = at = match.end;
    misses -= std::min(misses, kForgiven * (match.end - match.begin));
    if (at < search_end) {
      hint = history.Exchange(at - 3);
      history.Exchange(at - 1);
    }
  }
  return sink.Literals(literals, src.size());
}

// The output depends on the bytes and the level only.
class BloscLz final : public StreamCodec {
 public:
  // Also returns 0 if a sample of src promises too little for the level. The stream begins and ends
  // with literals.
  absl::StatusOr<size_t> Compress(Bytes src, MutableBytes dst, const PluginCall& call) override {
    if (src.size() <= kTail || src.size() > INT_MAX) return 0;
    const Effort effort = EffortOf(call.clevel);
    const auto parse = [&](Bytes bytes, auto& sink) {
      const uint32_t origin = Number(bytes.size());
      return Parse({places_.get(), effort.hash_bits, bytes, origin}, effort.skip_shift, sink);
    };

    const bool judges = effort.sample_divisor > 0;
    const bool is_short = src.size() <= 2 * kMinSample;
    if (judges && !is_short) {
      const size_t size = std::max(src.size() / effort.sample_divisor, kMinSample);
      OpcodeCounter counter;
      parse(src.last(size).first(std::min(size, size_t{1} << effort.hash_bits)), counter);
      if (!counter.is_worth_it()) return 0;
    }

    OpcodeWriter writer(src, UsefulPart(src, dst));
    if (!parse(src, writer)) return 0;
    if (judges && is_short && !IsWorthIt(src.size(), writer.size(), writer.matches())) return 0;
    dst[0] |= std::byte{0x20};
    return writer.size();
  }

  absl::Status Decompress(Bytes src, MutableBytes dst, const PluginCall& /*call*/) override {
    return DecodeBloscLz(src, dst);
  }

 private:
  // Returns the number of the first of `size` bytes that will be parsed next. Bytes are numbered
  // through all parses. So the entries that an earlier parse left in places_ are too far away to be
  // matches, and nothing needs to be cleared.
  uint32_t Number(size_t size) {
    constexpr uint32_t kGap = kMaxDistance + 1;
    if (places_ == nullptr) places_ = std::make_unique<uint32_t[]>(size_t{1} << kMaxHashBits);
    if (next_number_ == 0 || size + kGap > UINT32_MAX - next_number_) {
      std::fill_n(places_.get(), size_t{1} << kMaxHashBits, 0u);
      next_number_ = kGap;
    }
    const uint32_t number = next_number_;
    next_number_ += static_cast<uint32_t>(size) + kGap;
    return number;
  }

  std::unique_ptr<uint32_t[]> places_;  // by hash of a few bytes: their last place
  uint32_t next_number_ = 0;
};

}  // namespace

std::unique_ptr<StreamCodec> MakeBloscLz() { return std::make_unique<BloscLz>(); }

}  // namespace cairn::codec
