#include "engine/codec/pco/encode_kernels.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "absl/numeric/int128.h"

#include "engine/base/kernel_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/codec/pco/encode_kernels.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "engine/base/endian.h"

HWY_BEFORE_NAMESPACE();
namespace cairn::pco::HWY_NAMESPACE {

template <NumberKind kKind, Latent L>
HWY_INLINE void LoadKind(const std::byte* HWY_RESTRICT numbers, std::span<L> latents) {
  L* HWY_RESTRICT to = latents.data();
  for (size_t i = 0; i < latents.size(); ++i) {
    const L bits = LoadLe<L>(numbers + i * sizeof(L));
    L flip = 0;
    if constexpr (kKind == NumberKind::kInt) flip = kMid<L>;
    if constexpr (kKind == NumberKind::kFloat) flip = static_cast<L>(SignMask(bits) | kMid<L>);
    to[i] = static_cast<L>(bits ^ flip);
  }
}

template <Latent L>
void LoadLatents(NumberKind kind, const std::byte* numbers, std::span<L> latents) {
  if (kind == NumberKind::kUint) return LoadKind<NumberKind::kUint>(numbers, latents);
  if (kind == NumberKind::kInt) return LoadKind<NumberKind::kInt>(numbers, latents);
  LoadKind<NumberKind::kFloat>(numbers, latents);
}

template <Latent L>
HWY_INLINE void SplitIntMult(L mult, std::span<const L> latents, L* HWY_RESTRICT primary,
                             L* HWY_RESTRICT secondary) {
  // The product with the inverse is the quotient, or one less.
  const uint64_t inverse = ~uint64_t{0} / mult;
  for (size_t i = 0; i < latents.size(); ++i) {
    const uint64_t latent = latents[i];
    L quotient = 0;
    if constexpr (sizeof(L) == 8) {
      quotient = static_cast<L>(absl::Uint128High64(absl::uint128(latent) * inverse));
    } else {
      quotient = static_cast<L>(static_cast<uint32_t>(latent) / static_cast<uint32_t>(mult));
    }
    L rest = static_cast<L>(latent - uint64_t{quotient} * mult);
    const bool one_less = rest >= mult;
    primary[i] = static_cast<L>(quotient + (one_less ? 1 : 0));
    secondary[i] = static_cast<L>(rest - (one_less ? mult : 0));
  }
}

template <FloatLatent L>
HWY_INLINE void SplitFloatMult(const Splitting& splitting, std::span<const L> latents,
                               L* HWY_RESTRICT primary, L* HWY_RESTRICT secondary) {
  using F = FloatOf<L>;
  using Float = typename F::Type;
  const Float base = F::FromBits(NumberOf<L>(NumberKind::kFloat, static_cast<L>(splitting.mult)));
  const auto inverse = static_cast<Float>(splitting.inverse);
  for (size_t i = 0; i < latents.size(); ++i) {
    const L latent = latents[i];
    const Float value =
        F::FromBits(static_cast<L>(latent ^ (static_cast<L>(~SignMask(latent)) | kMid<L>)));
    // The rounding may come out either way: what it leaves is in the secondary latent.
    const Float whole = std::rint(value * inverse);
    L product = 0;
    if constexpr (sizeof(L) >= 4) {
      // As below, without branches. See the inverse in JoinFloatMult.
      constexpr L kLeast = L{1} << (F::kDigits - 1);
      constexpr auto kLeastFloat = static_cast<Float>(kLeast);
      const L least_bits = F::ToBits(kLeastFloat);
      const L bits = F::ToBits(whole);
      const L magnitude = bits & ~kMid<L>;
      const L small = F::ToBits(F::FromBits(magnitude) + kLeastFloat) - least_bits;
      const L count = magnitude < least_bits ? small : magnitude - least_bits + kLeast;
      primary[i] = count ^ SignMask(bits) ^ kMid<L>;
      product = F::ToBits(F::FromBits(magnitude) * base) ^ (bits & kMid<L>);
    } else {
      primary[i] = LatentOfWholeFloat<L>(F::FromBits(F::ToBits(whole)));
      product = F::ToBits(WholeFloatOf<L>(primary[i]) * base);
    }
    const L nearby = static_cast<L>(product ^ (SignMask(product) | kMid<L>));
    secondary[i] = static_cast<L>(static_cast<L>(latent - nearby) ^ kMid<L>);
  }
}

template <Latent L>
void SplitLatents(const Splitting& splitting, std::span<const L> latents, L* HWY_RESTRICT primary,
                  L* HWY_RESTRICT secondary) {
  const L* HWY_RESTRICT from = latents.data();
  if (splitting.mode == Mode::kIntMult) {
    SplitIntMult(static_cast<L>(splitting.mult), latents, primary, secondary);
  } else if (splitting.mode == Mode::kFloatQuant) {
    const int bits = splitting.quant_bits;
    const L first_positive = static_cast<L>(kMid<L> >> bits);
    const L most = static_cast<L>((uint64_t{1} << bits) - 1);
    for (size_t i = 0; i < latents.size(); ++i) {
      const L low = static_cast<L>(from[i] & most);
      primary[i] = static_cast<L>(from[i] >> bits);
      secondary[i] = primary[i] >= first_positive ? low : static_cast<L>(most - low);
    }
  } else if constexpr (FloatLatent<L>) {
    SplitFloatMult(splitting, latents, primary, secondary);
  }
}

template <Latent L>
void Differ(std::span<const L> latents, L flip, L* deltas) {
  const L* const from = latents.data();
  for (size_t i = 0; i + 1 < latents.size(); ++i) {
    deltas[i] = static_cast<L>(static_cast<L>(from[i + 1] - from[i]) ^ flip);
  }
}

// Latents that lie this close together are looked up in a table.
constexpr size_t kMostLookedUp = 1 << 13;

template <Latent L>
void FindBins(const BinTable<L>& table, std::span<const L> latents, uint16_t* HWY_RESTRICT bins) {
  const L* HWY_RESTRICT lowers = table.lowers.data();
  const auto last = static_cast<uint16_t>(table.count - 1);
  const size_t half = table.lowers.size() / 2;
  const L least = lowers[0];
  // The last bin may reach far, but there is nothing to find beyond its begin.
  const auto range = static_cast<uint64_t>(static_cast<L>(lowers[last] - least));
  if (range < kMostLookedUp && range < latents.size()) {
    std::array<uint16_t, kMostLookedUp> bin_of;
    for (size_t bin = 0; bin < last; ++bin) {
      std::fill(bin_of.data() + static_cast<L>(lowers[bin] - least),
                bin_of.data() + static_cast<L>(lowers[bin + 1] - least),
                static_cast<uint16_t>(bin));
    }
    bin_of[range] = last;
    for (size_t i = 0; i < latents.size(); ++i) {
      const auto place = static_cast<uint64_t>(static_cast<L>(latents[i] - least));
      bins[i] = bin_of[std::min(place, range)];
    }
    return;
  }
  for (size_t i = 0; i < latents.size(); ++i) {
    const L latent = latents[i];
    size_t bin = 0;
    for (size_t step = half; step > 0; step /= 2) {
      bin += step & (0 - static_cast<size_t>(lowers[bin + step] <= latent));
    }
    bins[i] = std::min(static_cast<uint16_t>(bin), last);
  }
}

// Moves a state to one of the bin, and puts the code before those of the group.
HWY_INLINE void Push(const CodeOfBin* HWY_RESTRICT codes, const uint16_t* HWY_RESTRICT next_states,
                     size_t bin, uint64_t& state, CodeGroup& group) {
  const CodeOfBin code = codes[bin];
  const uint64_t count = (state + code.bits_bias) >> 16;
  group.bits = group.bits << count | (state & ((uint64_t{1} << count) - 1));
  group.count += static_cast<uint32_t>(count);
  state = next_states[static_cast<int64_t>(state >> count) + code.place_bias];
}

template <Latent L>
void EncodeBins(const BinTable<L>& table, std::span<const uint16_t> bins,
                std::array<uint32_t, 4>& states, CodeGroup* HWY_RESTRICT groups) {
  const CodeOfBin* HWY_RESTRICT codes = table.codes.data();
  const uint16_t* HWY_RESTRICT next = table.next_states.data();
  uint64_t s[4] = {states[0], states[1], states[2], states[3]};
  const size_t whole = bins.size() / 4;
  if (bins.size() % 4 != 0) {
    CodeGroup group;
    for (size_t i = bins.size() % 4; i-- > 0;) Push(codes, next, bins[whole * 4 + i], s[i], group);
    groups[whole] = group;
  }
  for (size_t i = whole; i-- > 0;) {
    CodeGroup group;
    Push(codes, next, bins[i * 4 + 3], s[3], group);
    Push(codes, next, bins[i * 4 + 2], s[2], group);
    Push(codes, next, bins[i * 4 + 1], s[1], group);
    Push(codes, next, bins[i * 4], s[0], group);
    groups[i] = group;
  }
  for (size_t i = 0; i < 4; ++i) states[i] = static_cast<uint32_t>(s[i]);
}

void WriteCodes(std::span<const CodeGroup> groups, BitSink& out) {
  BitSink sink = out;
  for (const CodeGroup& group : groups) sink.Write(group.bits, group.count);
  out = sink;
}

// Writes offsets of which kGroup together have at most BitSink::kMaxBits bits.
template <size_t kGroup, bool kOneBin, Latent L>
HWY_INLINE void WriteGroups(const BinTable<L>& table, const uint16_t* HWY_RESTRICT bins,
                            std::span<const L> latents, BitSink& out) {
  const L* HWY_RESTRICT lowers = table.lowers.data();
  const uint8_t* HWY_RESTRICT widths = table.offset_bits.data();
  BitSink sink = out;
  size_t i = 0;
  for (; i + kGroup <= latents.size(); i += kGroup) {
    uint64_t bits = 0;
    unsigned count = 0;
    for (size_t j = i; j < i + kGroup; ++j) {
      const size_t bin = kOneBin ? 0 : bins[j];
      bits |= uint64_t{static_cast<L>(latents[j] - lowers[bin])} << count;
      count += widths[bin];
    }
    sink.Write(bits, count);
  }
  for (; i < latents.size(); ++i) {
    const size_t bin = kOneBin ? 0 : bins[i];
    sink.Write(static_cast<L>(latents[i] - lowers[bin]), widths[bin]);
  }
  out = sink;
}

template <bool kOneBin, Latent L>
HWY_INLINE void WriteOffsetsOf(const BinTable<L>& table, const uint16_t* HWY_RESTRICT bins,
                               std::span<const L> latents, BitSink& out) {
  const int most = table.most_offset_bits;
  if (4 * most <= BitSink::kMaxBits) return WriteGroups<4, kOneBin>(table, bins, latents, out);
  if (2 * most <= BitSink::kMaxBits) return WriteGroups<2, kOneBin>(table, bins, latents, out);
  if (most <= BitSink::kMaxBits) return WriteGroups<1, kOneBin>(table, bins, latents, out);
  BitSink sink = out;
  for (size_t i = 0; i < latents.size(); ++i) {
    const size_t bin = kOneBin ? 0 : bins[i];
    const L offset = static_cast<L>(latents[i] - table.lowers[bin]);
    const unsigned width = table.offset_bits[bin];
    if (HWY_UNLIKELY(width > BitSink::kMaxBits)) {
      sink.WriteWide(offset, width);
    } else {
      sink.Write(offset, width);
    }
  }
  out = sink;
}

template <Latent L>
void WriteOffsets(const BinTable<L>& table, const uint16_t* bins, std::span<const L> latents,
                  BitSink& out) {
  if (table.most_offset_bits == 0) return;
  if (bins == nullptr) return WriteOffsetsOf<true>(table, bins, latents, out);
  WriteOffsetsOf<false>(table, bins, latents, out);
}

template <Latent L>
constexpr EncodeKernels<L> kEncodeKernels = {&LoadLatents<L>, &SplitLatents<L>, &Differ<L>,
                                             &FindBins<L>,    &EncodeBins<L>,   &WriteCodes,
                                             &WriteOffsets<L>};

std::tuple<const EncodeKernels<uint8_t>&, const EncodeKernels<uint16_t>&,
           const EncodeKernels<uint32_t>&, const EncodeKernels<uint64_t>&>
AllEncodeKernels() {
  return {kEncodeKernels<uint8_t>, kEncodeKernels<uint16_t>, kEncodeKernels<uint32_t>,
          kEncodeKernels<uint64_t>};
}

}  // namespace cairn::pco::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cairn::pco {

namespace {

CAIRN_EXPORT_KERNEL(AllEncodeKernels);

}  // namespace

template <Latent L>
const EncodeKernels<L>& EncodeKernelsFor() {
  return std::get<const EncodeKernels<L>&>(CAIRN_KERNEL(AllEncodeKernels)());
}

template const EncodeKernels<uint8_t>& EncodeKernelsFor();
template const EncodeKernels<uint16_t>& EncodeKernelsFor();
template const EncodeKernels<uint32_t>& EncodeKernelsFor();
template const EncodeKernels<uint64_t>& EncodeKernelsFor();

}  // namespace cairn::pco
#endif  // HWY_ONCE
