#include "engine/codec/bitpack/vector_kernels.h"

#include <algorithm>
#include <tuple>

#include "engine/base/kernel_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/codec/bitpack/vector_kernels.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "engine/base/endian.h"

HWY_BEFORE_NAMESPACE();
namespace cairn::bitpack::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using numbers::kBits;
using numbers::kMid;
using numbers::Latent;
using numbers::NumberKind;
using numbers::SignMask;

template <Latent L>
HWY_INLINE L LowMask(unsigned width) {
  return width == 0 ? L{0} : static_cast<L>(static_cast<L>(~L{0}) >> (kBits<L> - width));
}

template <Latent L>
void Unpack(const std::byte* words, int width, size_t rows, L base, Values<L>& values) {
  L* HWY_RESTRICT out = values.data();
  const auto bits = static_cast<unsigned>(width);
  if (bits == 0) {
    std::fill_n(out, rows * kLanes, base);
    return;
  }
  constexpr size_t kRow = kLanes * sizeof(L);
  const L mask = LowMask<L>(bits);
  unsigned used = 0;  // bits of the word
  for (size_t row = 0; row < rows; ++row, out += kLanes) {
    const std::byte* HWY_RESTRICT const next = words + kRow;
    if (used + bits <= kBits<L>) {
      for (size_t i = 0; i < kLanes; ++i) {
        const L word = LoadLe<L>(words + i * sizeof(L));
        out[i] = static_cast<L>((static_cast<L>(word >> used) & mask) + base);
      }
    } else {
      const unsigned rest = kBits<L> - used;
      for (size_t i = 0; i < kLanes; ++i) {
        const L low = static_cast<L>(LoadLe<L>(words + i * sizeof(L)) >> used);
        const L high = static_cast<L>(LoadLe<L>(next + i * sizeof(L)) << rest);
        out[i] = static_cast<L>(((low | high) & mask) + base);
      }
    }
    used += bits;
    if (used >= kBits<L>) {
      used -= kBits<L>;
      words = next;
    }
  }
}

template <Latent L>
void Sum(size_t rows, Values<L>& values) {
  L sums[kLanes];
  std::copy_n(values.data(), kLanes, sums);
  for (size_t row = 1; row < rows; ++row) {
    L* HWY_RESTRICT out = values.data() + row * kLanes;
    for (size_t i = 0; i < kLanes; ++i) {
      sums[i] = static_cast<L>(sums[i] + out[i]);
      out[i] = sums[i];
    }
  }
}

template <bool kMultiplied, HasDecimals L>
HWY_INLINE void ToFloats(Scale scale, size_t count, L* HWY_RESTRICT values) {
  const auto factor = FactorOf<L>(scale);
  for (size_t i = 0; i < count; ++i) values[i] = BitsOfDecimal<kMultiplied>(values[i], factor);
}

template <Latent L>
void Finish(Form form, Scale scale, size_t rows, Values<L>& values) {
  const size_t count = rows * kLanes;
  if (form == Form::kFloatBits) {
    L* HWY_RESTRICT out = values.data();
    for (size_t i = 0; i < count; ++i) {
      out[i] = static_cast<L>(out[i] ^ (static_cast<L>(~SignMask(out[i])) | kMid<L>));
    }
  } else if constexpr (HasDecimals<L>) {
    if (form != Form::kDecimals) return;
    if (scale.multiplied) return ToFloats<true>(scale, count, values.data());
    ToFloats<false>(scale, count, values.data());
  }
}

// Stores `count` values that are `step` apart.
template <Latent L>
HWY_INLINE void StoreValues(const L* HWY_RESTRICT from, size_t step, size_t count,
                            std::byte* HWY_RESTRICT to, size_t stride) {
  if (stride == sizeof(L)) {
    for (size_t i = 0; i < count; ++i) StoreLe(to + i * sizeof(L), from[i * step]);
  } else {
    for (size_t i = 0; i < count; ++i) StoreLe(to + i * stride, from[i * step]);
  }
}

#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE

// Transposes a square of values that fill a register of 16 bytes in each row.
template <class D, size_t kSize, class V>
HWY_INLINE void Transpose(D d, V (&rows)[kSize]) {
  if constexpr (kSize == 2) {
    const V low = hn::InterleaveLower(d, rows[0], rows[1]);
    rows[1] = hn::InterleaveUpper(d, rows[0], rows[1]);
    rows[0] = low;
  } else {
    // Each round interleaves the rows of both halves, as a perfect shuffle.
    for (size_t round = 1; round < kSize; round *= 2) {
      V next[kSize];
      for (size_t i = 0; i < kSize / 2; ++i) {
        next[2 * i] = hn::InterleaveLower(d, rows[i], rows[i + kSize / 2]);
        next[2 * i + 1] = hn::InterleaveUpper(d, rows[i], rows[i + kSize / 2]);
      }
      for (size_t i = 0; i < kSize; ++i) rows[i] = next[i];
    }
  }
}

// Stores a whole vector whose neighbours are in lanes. Several rows fill a register.
template <Latent L>
HWY_INLINE void StoreLanes(const Values<L>& values, std::byte* to) {
  constexpr size_t kSize = 16 / sizeof(L);
  constexpr size_t kRows = kVector / kLanes;
  const hn::FixedTag<L, kSize> d;
  for (size_t lane = 0; lane < kLanes; lane += kSize) {
    for (size_t row = 0; row < kRows; row += kSize) {
      hn::Vec<decltype(d)> square[kSize];
      for (size_t i = 0; i < kSize; ++i) {
        square[i] = hn::LoadU(d, values.data() + (row + i) * kLanes + lane);
      }
      Transpose(d, square);
      for (size_t i = 0; i < kSize; ++i) {
        L piece[kSize];
        hn::StoreU(square[i], d, piece);
        std::byte* const at = to + ((lane + i) * kRows + row) * sizeof(L);
        for (size_t j = 0; j < kSize; ++j) StoreLe(at + j * sizeof(L), piece[j]);
      }
    }
  }
}

#else

template <Latent L>
HWY_INLINE void StoreLanes(const Values<L>& values, std::byte* to) {
  constexpr size_t kRows = kVector / kLanes;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    StoreValues(values.data() + lane, kLanes, kRows, to + lane * kRows * sizeof(L), sizeof(L));
  }
}

#endif

template <Latent L>
void Store(const Values<L>& values, size_t rows, bool by_lanes, const Target& target) {
  std::byte* const to = target.to;
  if (!by_lanes) {
    StoreValues(values.data() + target.begin, 1, target.end - target.begin, to, target.stride);
    return;
  }
  if (target.begin == 0 && target.end == kVector && target.stride == sizeof(L)) {
    return StoreLanes(values, to);
  }
  for (size_t lane = target.begin / rows; lane * rows < target.end; ++lane) {
    const size_t begin = std::max(target.begin, lane * rows);
    const size_t end = std::min(target.end, (lane + 1) * rows);
    StoreValues(values.data() + (begin - lane * rows) * kLanes + lane, kLanes, end - begin,
                to + (begin - target.begin) * target.stride, target.stride);
  }
}

template <NumberKind kKind, Latent L>
HWY_INLINE void LoadKind(const std::byte* HWY_RESTRICT from, size_t count, L* HWY_RESTRICT to) {
  for (size_t i = 0; i < count; ++i) {
    const L bits = LoadLe<L>(from + i * sizeof(L));
    L flip = 0;
    if constexpr (kKind == NumberKind::kInt) flip = kMid<L>;
    if constexpr (kKind == NumberKind::kFloat) flip = static_cast<L>(SignMask(bits) | kMid<L>);
    to[i] = static_cast<L>(bits ^ flip);
  }
}

template <Latent L>
void Load(NumberKind kind, const std::byte* from, std::span<L> latents) {
  if (kind == NumberKind::kUint) {
    return LoadKind<NumberKind::kUint>(from, latents.size(), latents.data());
  }
  if (kind == NumberKind::kInt) {
    return LoadKind<NumberKind::kInt>(from, latents.size(), latents.data());
  }
  LoadKind<NumberKind::kFloat>(from, latents.size(), latents.data());
}

template <bool kMultiplied, HasDecimals L>
HWY_INLINE size_t ToWholes(Scale scale, std::span<const L> latents, L* HWY_RESTRICT wholes,
                           uint8_t* HWY_RESTRICT exact) {
  const auto factor = FactorOf<L>(scale);
  const double power = DecimalsOf<uint64_t>::kPowers[static_cast<size_t>(scale.power)];
  L inexact = 0;
  for (size_t i = 0; i < latents.size(); ++i) {
    const L latent = latents[i];
    const auto bits = static_cast<L>(latent ^ (static_cast<L>(~SignMask(latent)) | kMid<L>));
    bool same = false;
    wholes[i] = WholeOfFloat<kMultiplied>(bits, power, factor, same) ^ kMid<L>;
    exact[i] = same ? 1 : 0;
    inexact += same ? 0 : 1;
  }
  return static_cast<size_t>(inexact);
}

template <Latent L>
size_t ToDecimals(Scale scale, std::span<const L> latents, L* wholes, uint8_t* exact) {
  if constexpr (HasDecimals<L>) {
    return scale.multiplied ? ToWholes<true>(scale, latents, wholes, exact)
                            : ToWholes<false>(scale, latents, wholes, exact);
  } else {
    return latents.size();
  }
}

template <Latent L>
void FindRange(std::span<const L> values, L& least, L& greatest) {
  L low = values[0];
  L high = values[0];
  for (const L value : values) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  least = low;
  greatest = high;
}

template <Latent L>
void Pack(const Values<L>& values, size_t rows, int width, L base, std::byte* words) {
  if (width == 0) return;
  const auto bits = static_cast<unsigned>(width);
  L held[kLanes] = {};
  unsigned used = 0;
  const auto flush = [&] {
    for (size_t i = 0; i < kLanes; ++i) StoreLe(words + i * sizeof(L), held[i]);
    words += kLanes * sizeof(L);
  };
  for (size_t row = 0; row < rows; ++row) {
    const L* HWY_RESTRICT from = values.data() + row * kLanes;
    for (size_t i = 0; i < kLanes; ++i) {
      held[i] = static_cast<L>(held[i] | static_cast<L>(static_cast<L>(from[i] - base) << used));
    }
    used += bits;
    if (used < kBits<L>) continue;
    flush();
    used -= kBits<L>;
    const unsigned stored = bits - used;
    for (size_t i = 0; i < kLanes; ++i) {
      held[i] = used == 0 ? L{0} : static_cast<L>(static_cast<L>(from[i] - base) >> stored);
    }
  }
  if (used > 0) flush();
}

template <Latent L>
constexpr VectorKernels<L> kVectorKernels = {&Unpack<L>, &Sum<L>,        &Finish<L>,    &Store<L>,
                                             &Load<L>,   &ToDecimals<L>, &FindRange<L>, &Pack<L>};

std::tuple<const VectorKernels<uint8_t>&, const VectorKernels<uint16_t>&,
           const VectorKernels<uint32_t>&, const VectorKernels<uint64_t>&>
AllVectorKernels() {
  return {kVectorKernels<uint8_t>, kVectorKernels<uint16_t>, kVectorKernels<uint32_t>,
          kVectorKernels<uint64_t>};
}

}  // namespace cairn::bitpack::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cairn::bitpack {

namespace {

CAIRN_EXPORT_KERNEL(AllVectorKernels);

}  // namespace

template <numbers::Latent L>
const VectorKernels<L>& KernelsFor() {
  return std::get<const VectorKernels<L>&>(CAIRN_KERNEL(AllVectorKernels)());
}

template const VectorKernels<uint8_t>& KernelsFor();
template const VectorKernels<uint16_t>& KernelsFor();
template const VectorKernels<uint32_t>& KernelsFor();
template const VectorKernels<uint64_t>& KernelsFor();

}  // namespace cairn::bitpack
#endif  // HWY_ONCE
