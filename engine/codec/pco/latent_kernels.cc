#include "engine/codec/pco/latent_kernels.h"

#include <algorithm>
#include <tuple>

#include "engine/base/kernel_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/codec/pco/latent_kernels.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "engine/base/endian.h"

HWY_BEFORE_NAMESPACE();
namespace cairn::pco::HWY_NAMESPACE {

// An integer of this many bits lies in one load.
constexpr int kMaxLoadBits = 57;

HWY_INLINE uint64_t LowBits(uint64_t value, unsigned nbits) {
  return value & ((uint64_t{1} << nbits) - 1);
}

// Reads 57 bits or more.
HWY_INLINE uint64_t LoadBits(const std::byte* data, uint64_t position) {
  return LoadLe<uint64_t>(data + position / 8) >> (position % 8);
}

// Reads up to 64 bits.
HWY_INLINE uint64_t LoadWide(const std::byte* data, uint64_t position) {
  const uint64_t rest = LoadLe<uint8_t>(data + position / 8 + 8);
  return LoadBits(data, position) | rest << (63 - position % 8) << 1;
}

// The lowest bits, by their number.
constexpr std::array<uint64_t, 65> kMasks = [] {
  std::array<uint64_t, 65> masks = {};
  for (size_t i = 1; i < masks.size(); ++i) masks[i] = masks[i - 1] << 1 | 1;
  return masks;
}();

// Returns as many of the lowest bits as the lowest byte of `nbits` says, which is below 64.
HWY_INLINE uint64_t LowBitsOfByte(uint64_t value, uint32_t nbits) {
#if HWY_ARCH_X86_64 && HWY_TARGET <= HWY_AVX2
  return _bzhi_u64(value, nbits);
#else
  return LowBits(value, static_cast<uint8_t>(nbits));
#endif
}

// Decodes the latent of a state, of which four take turns. The lowest bits of `used` count the bits
// of the load.
template <Latent L>
HWY_INLINE void Step(const Node* HWY_RESTRICT nodes, const L* HWY_RESTRICT lowers, uint64_t bits,
                     uint32_t& used, uint64_t& state, L& lower, uint8_t& offset_bits) {
  const Node node = nodes[state];
  lower = lowers[state];
  offset_bits = static_cast<uint8_t>(node >> 8);
  state = (node >> 16) + LowBitsOfByte(bits >> (used % 64), node);
  used += node;
  // The compiler must not collect four latents in a vector, which takes longer than four stores.
  asm volatile("" ::: "memory");
}

template <Latent L>
void DecodeBins(const Node* HWY_RESTRICT nodes, const L* HWY_RESTRICT lowers,
                std::array<uint32_t, 4>& states, BitPlace& in, std::span<L> out,
                OffsetBits& offset_bits) {
  const std::byte* const data = in.data;
  auto position = static_cast<uint64_t>(in.position);
  uint64_t s0 = states[0];
  uint64_t s1 = states[1];
  uint64_t s2 = states[2];
  uint64_t s3 = states[3];
  L* HWY_RESTRICT to = out.data();
  uint8_t* HWY_RESTRICT widths = offset_bits.data();
  const size_t whole = out.size() / 4 * 4;
  for (size_t i = 0; i < whole; i += 4) {
    // Four states take at most 56 bits, and 7 may come before them.
    const uint64_t bits = LoadLe<uint64_t>(data + position / 8);
    auto used = static_cast<uint32_t>(position % 8);
    position -= used;
    Step(nodes, lowers, bits, used, s0, to[i], widths[i]);
    Step(nodes, lowers, bits, used, s1, to[i + 1], widths[i + 1]);
    Step(nodes, lowers, bits, used, s2, to[i + 2], widths[i + 2]);
    Step(nodes, lowers, bits, used, s3, to[i + 3], widths[i + 3]);
    position += used % 64;
  }
  uint64_t last[4] = {s0, s1, s2, s3};
  for (size_t i = whole; i < out.size(); ++i) {
    uint32_t used = 0;
    const uint64_t bits = LoadBits(data, position);
    Step(nodes, lowers, bits, used, last[i - whole], to[i], widths[i]);
    position += used % 64;
  }
  for (size_t i = 0; i < 4; ++i) states[i] = static_cast<uint32_t>(last[i]);
  in.position = static_cast<int64_t>(position);
}

// Adds offsets of which kGroup together have at most kMaxLoadBits bits. Returns the position after
// them.
template <size_t kGroup, Latent L>
HWY_INLINE uint64_t AddGroups(const uint8_t* HWY_RESTRICT widths, const std::byte* data,
                              uint64_t position, size_t count, L* HWY_RESTRICT out) {
  size_t i = 0;
  for (; i + kGroup <= count; i += kGroup) {
    const uint64_t bits = LoadLe<uint64_t>(data + position / 8);
    uint64_t used = position % 8;
    position -= used;
    for (size_t j = i; j < i + kGroup; ++j) {
      out[j] = static_cast<L>(out[j] + LowBits(bits >> used, widths[j]));
      used += widths[j];
    }
    position += used;
  }
  for (; i < count; ++i) {
    out[i] = static_cast<L>(out[i] + LowBits(LoadBits(data, position), widths[i]));
    position += widths[i];
  }
  return position;
}

// True if vectors have eight integers of 64 bits, so that eight offsets are read at once.
#define CAIRN_HAVE_EIGHT_LATENTS (HWY_ARCH_X86_64 && HWY_TARGET <= HWY_AVX3)

#if CAIRN_HAVE_EIGHT_LATENTS
namespace hn = hwy::HWY_NAMESPACE;

using Eight = hn::FixedTag<uint64_t, 8>;
using EightIntegers = hn::Vec<Eight>;

// The places of eight offsets in 64 bytes, given by the bits before each. An offset has at most
// kMaxLoadBits bits.
class EightPlaces {
 public:
  HWY_INLINE explicit EightPlaces(EightIntegers begins) {
    const auto word = hn::ShiftRight<6>(begins);
    low_ = hn::IndicesFromVec(Eight(), word);
    high_ = hn::IndicesFromVec(Eight(), hn::Add(word, hn::Set(Eight(), 1)));
    shift_ = hn::And(begins, hn::Set(Eight(), 63));
  }

  // Reads the offsets, and other bits above these.
  HWY_INLINE EightIntegers Read(const std::byte* from) const {
    const auto bytes =
        hn::LoadU(hn::FixedTag<uint8_t, 64>(), reinterpret_cast<const uint8_t*>(from));
    const auto words = hn::BitCast(Eight(), bytes);
    const auto low = hn::TableLookupLanes(words, low_);
    const auto high = hn::TableLookupLanes(words, high_);
    // Two shifts, since a single one may be by 64 bits.
    const auto above = hn::Shl(hn::Add(high, high), hn::Xor(shift_, hn::Set(Eight(), 63)));
    return hn::Or(hn::Shr(low, shift_), above);
  }

 private:
  decltype(hn::IndicesFromVec(Eight(), EightIntegers())) low_;
  decltype(hn::IndicesFromVec(Eight(), EightIntegers())) high_;
  EightIntegers shift_;
};

template <Latent L>
using EightLatents = hn::FixedTag<L, 8>;

template <Latent L>
HWY_INLINE EightIntegers LoadEight(const L* from) {
  const auto latents = hn::LoadU(EightLatents<L>(), from);
  if constexpr (sizeof(L) == 8) {
    return latents;
  } else {
    return hn::PromoteTo(Eight(), latents);
  }
}

// Stores the lower bits of integers.
template <Latent L>
HWY_INLINE void StoreEight(EightIntegers integers, L* out) {
  if constexpr (sizeof(L) == 8) {
    hn::StoreU(integers, Eight(), out);
  } else {
    hn::StoreU(hn::TruncateTo(EightLatents<L>(), integers), EightLatents<L>(), out);
  }
}

// Adds offsets of at most kMaxLoadBits bits as AddGroups does, to a multiple of eight latents.
template <Latent L>
HWY_INLINE uint64_t AddEights(const uint8_t* HWY_RESTRICT widths, const std::byte* data,
                              uint64_t position, size_t count, L* HWY_RESTRICT out) {
  // The sums of eight widths fit into 16 bits, of which there are four: one for each pair.
  constexpr uint64_t kInEach = 0x0001000100010001;
  constexpr uint64_t kLowBytes = 0xFF * kInEach;
  const Eight d;
  const auto lane = hn::Iota(d, 0);
  const auto byte_of_lane = hn::ShiftLeft<3>(lane);
  const auto pair_of_lane = hn::ShiftLeft<4>(hn::ShiftRight<1>(lane));
  const auto is_second = hn::Neg(hn::And(lane, hn::Set(d, 1)));
  const auto second_byte = hn::And(is_second, hn::Set(d, 0xFF));
  for (size_t i = 0; i < count; i += 8) {
    const auto bits = LoadLe<uint64_t>(std::as_bytes(std::span(widths + i, 8)).data());
    const uint64_t ends = ((bits & kLowBytes) + (bits >> 8 & kLowBytes)) * kInEach;
    const uint64_t pairs = (ends << 16) + position % 8 * kInEach;
    const auto begins = hn::And(hn::Shr(hn::Set(d, pairs), pair_of_lane), hn::Set(d, 0xFFFF));
    const auto firsts = hn::And(hn::Shr(hn::Set(d, bits << 8), byte_of_lane), second_byte);
    const auto nbits = hn::And(hn::Shr(hn::Set(d, bits), byte_of_lane), hn::Set(d, 0xFF));
    const auto above = hn::Shl(hn::Set(d, ~uint64_t{0}), nbits);
    const EightPlaces places(hn::Add(begins, firsts));
    const auto offsets = hn::AndNot(above, places.Read(data + position / 8));
    StoreEight(hn::Add(LoadEight(out + i), offsets), out + i);
    position += ends >> 48;
  }
  return position;
}

// Unpacks a multiple of eight offsets of at most kMaxLoadBits bits as Unpack does. Eight of them
// take whole bytes, so each eight lie at the same bits as those before.
template <Latent L>
HWY_INLINE void UnpackEights(L lower, unsigned width, const std::byte* data, uint64_t position,
                             size_t count, L* HWY_RESTRICT out) {
  const Eight d;
  const auto begins = hn::Mul(hn::Iota(d, 0), hn::Set(d, width));
  const EightPlaces places(hn::Add(begins, hn::Set(d, position % 8)));
  const auto mask = hn::Set(d, kMasks[width]);
  const auto base = hn::Set(d, lower);
  const std::byte* from = data + position / 8;
  for (size_t i = 0; i < count; i += 8, from += width) {
    StoreEight(hn::Add(base, hn::And(places.Read(from), mask)), out + i);
  }
}
#endif

template <Latent L>
void AddOffsets(const OffsetBits& offset_bits, int most, BitPlace& in, std::span<L> out) {
  const uint8_t* HWY_RESTRICT widths = offset_bits.data();
  L* HWY_RESTRICT to = out.data();
  auto position = static_cast<uint64_t>(in.position);
#if CAIRN_HAVE_EIGHT_LATENTS
  if constexpr (sizeof(L) >= 4) {
    if (most <= kMaxLoadBits) {
      const size_t whole = out.size() / 8 * 8;
      position = AddEights(widths, in.data, position, whole, to);
      position = AddGroups<1>(widths + whole, in.data, position, out.size() - whole, to + whole);
      in.position = static_cast<int64_t>(position);
      return;
    }
  }
#endif
  if (4 * most <= kMaxLoadBits) {
    position = AddGroups<4>(widths, in.data, position, out.size(), to);
  } else if (2 * most <= kMaxLoadBits) {
    position = AddGroups<2>(widths, in.data, position, out.size(), to);
  } else if (most <= kMaxLoadBits) {
    position = AddGroups<1>(widths, in.data, position, out.size(), to);
  } else {
    const std::byte* const data = in.data;
    for (size_t i = 0; i < out.size(); ++i) {
      // Only the bins of rare latents have so many bits.
      uint64_t bits = LoadBits(data, position);
      if (HWY_UNLIKELY(widths[i] > kMaxLoadBits)) bits = LoadWide(data, position);
      to[i] = static_cast<L>(to[i] + (bits & kMasks[widths[i]]));
      position += widths[i];
    }
  }
  in.position = static_cast<int64_t>(position);
}

template <Latent L>
void Unpack(L lower, int bits, BitPlace& in, std::span<L> out) {
  const std::byte* const data = in.data;
  const auto width = static_cast<unsigned>(bits);
  const auto begin = static_cast<uint64_t>(in.position);
  L* HWY_RESTRICT to = out.data();
  if (bits == 0) {
    std::fill_n(to, out.size(), lower);
  } else if (bits <= kMaxLoadBits) {
    size_t i = 0;
#if CAIRN_HAVE_EIGHT_LATENTS
    if constexpr (sizeof(L) >= 4) {
      i = out.size() / 8 * 8;
      UnpackEights(lower, width, data, begin, i, to);
    }
#endif
    for (; i < out.size(); ++i) {
      to[i] = static_cast<L>(lower + LowBits(LoadBits(data, begin + i * width), width));
    }
  } else {
    for (size_t i = 0; i < out.size(); ++i) {
      to[i] = static_cast<L>(lower + (LoadWide(data, begin + i * width) & kMasks[width]));
    }
  }
  in.position = static_cast<int64_t>(begin + out.size() * width);
}

// Replaces deltas, which `flip` moves to 0, by the sums before each. Returns the last sum.
template <Latent L>
HWY_INLINE L SumBefore(L sum, L flip, std::span<L> deltas) {
  for (L& delta : deltas) {
    const L next = static_cast<L>(sum + (delta ^ flip));
    delta = sum;
    sum = next;
  }
  return sum;
}

template <Latent L>
void Sum(std::span<L> moments, size_t stored, std::span<L> deltas) {
  std::fill(deltas.begin() + static_cast<int64_t>(stored), deltas.end(), kMid<L>);
  L flip = kMid<L>;
  for (size_t order = moments.size(); order-- > 0; flip = 0) {
    moments[order] = SumBefore(moments[order], flip, deltas);
  }
  if (flip == 0) return;
  for (L& delta : deltas) delta = static_cast<L>(delta ^ flip);
}

template <Latent L>
L Total(L moment, std::span<const L> deltas) {
  for (const L delta : deltas) moment = static_cast<L>(moment + (delta ^ kMid<L>));
  return moment;
}

template <FloatLatent L>
void JoinFloatMult(L mult, const L* HWY_RESTRICT secondary, std::span<L> primary) {
  using F = FloatOf<L>;
  const auto base = F::FromBits(NumberOf<L>(NumberKind::kFloat, mult));
  L* HWY_RESTRICT to = primary.data();
  for (size_t i = 0; i < primary.size(); ++i) {
    L bits = 0;
    if constexpr (sizeof(L) >= 4) {
      // As below, without branches. Added to the bits of this float, an integer that is smaller
      // stands in the significand, and a greater one counts the floats from there.
      constexpr L kLeast = L{1} << (F::kDigits - 1);
      constexpr auto kLeastFloat = static_cast<typename F::Type>(kLeast);
      const L least_bits = F::ToBits(kLeastFloat);
      const L centered = to[i] ^ kMid<L>;
      const L count = centered ^ SignMask(centered);
      const L small = F::ToBits(F::FromBits((count & (kLeast - 1)) | least_bits) - kLeastFloat);
      const L magnitude = count < kLeast ? small : count - kLeast + least_bits;
      bits = F::ToBits(F::FromBits(magnitude) * base) ^ (centered & kMid<L>);
    } else {
      bits = F::ToBits(WholeFloatOf<L>(to[i]) * base);
    }
    const L latent = static_cast<L>(bits ^ (SignMask(bits) | kMid<L>));
    to[i] = static_cast<L>(static_cast<L>(latent + secondary[i]) ^ kMid<L>);
  }
}

template <Latent L>
void Join(const ChunkMeta& meta, std::span<const L> secondary, std::span<L> primary) {
  L* HWY_RESTRICT to = primary.data();
  const L* HWY_RESTRICT from = secondary.data();
  const size_t count = primary.size();
  if (meta.mode == Mode::kIntMult) {
    const L mult = static_cast<L>(meta.mult);
    for (size_t i = 0; i < count; ++i) to[i] = static_cast<L>(uint64_t{to[i]} * mult + from[i]);
  } else if (meta.mode == Mode::kFloatQuant) {
    const int bits = meta.quant_bits;
    const L first_positive = static_cast<L>(kMid<L> >> bits);
    const L most = static_cast<L>((uint64_t{1} << bits) - 1);
    for (size_t i = 0; i < count; ++i) {
      // The low bits of a negative float are turned around, as the rest is.
      const L low = to[i] >= first_positive ? from[i] : static_cast<L>(most - from[i]);
      to[i] = static_cast<L>(static_cast<L>(to[i] << bits) + low);
    }
  } else if constexpr (FloatLatent<L>) {
    if (meta.mode == Mode::kFloatMult) JoinFloatMult<L>(static_cast<L>(meta.mult), from, primary);
  }
}

template <NumberKind kKind, Latent L>
HWY_INLINE void StoreKind(std::span<const L> latents, std::byte* HWY_RESTRICT out) {
  for (size_t i = 0; i < latents.size(); ++i) {
    const L latent = latents[i];
    L number = latent;
    if constexpr (kKind == NumberKind::kInt) number = static_cast<L>(latent ^ kMid<L>);
    if constexpr (kKind == NumberKind::kFloat) {
      number = static_cast<L>(latent ^ (static_cast<L>(~SignMask(latent)) | kMid<L>));
    }
    StoreLe(out + i * sizeof(L), number);
  }
}

template <Latent L>
void Store(NumberKind kind, std::span<const L> latents, std::byte* out) {
  if (kind == NumberKind::kUint) return StoreKind<NumberKind::kUint>(latents, out);
  if (kind == NumberKind::kInt) return StoreKind<NumberKind::kInt>(latents, out);
  StoreKind<NumberKind::kFloat>(latents, out);
}

template <Latent L>
constexpr LatentKernels<L> kLatentKernels = {&DecodeBins<L>, &AddOffsets<L>, &Unpack<L>, &Sum<L>,
                                             &Total<L>,      &Join<L>,       &Store<L>};

std::tuple<const LatentKernels<uint8_t>&, const LatentKernels<uint16_t>&,
           const LatentKernels<uint32_t>&, const LatentKernels<uint64_t>&>
AllLatentKernels() {
  return {kLatentKernels<uint8_t>, kLatentKernels<uint16_t>, kLatentKernels<uint32_t>,
          kLatentKernels<uint64_t>};
}

}  // namespace cairn::pco::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cairn::pco {

namespace {

CAIRN_EXPORT_KERNEL(AllLatentKernels);

}  // namespace

template <Latent L>
const LatentKernels<L>& KernelsFor() {
  return std::get<const LatentKernels<L>&>(CAIRN_KERNEL(AllLatentKernels)());
}

template const LatentKernels<uint8_t>& KernelsFor();
template const LatentKernels<uint16_t>& KernelsFor();
template const LatentKernels<uint32_t>& KernelsFor();
template const LatentKernels<uint64_t>& KernelsFor();

}  // namespace cairn::pco
#endif  // HWY_ONCE
