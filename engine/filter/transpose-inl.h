// Transposes bytes and bits in registers, for the kernels of SHUFFLE and BITSHUFFLE. Included once
// a target.
#if defined(CAIRN_ENGINE_FILTER_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAIRN_ENGINE_FILTER_TRANSPOSE_INL_H_
#undef CAIRN_ENGINE_FILTER_TRANSPOSE_INL_H_
#else
#define CAIRN_ENGINE_FILTER_TRANSPOSE_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace cairn::filter::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The kernels use blocks: the 16-byte parts of a vector, which most instructions treat alike and
// apart from each other. A target without them, or with vectors of unknown size, takes one element
// at a time.
#define CAIRN_HAVE_BLOCKS (HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE)
inline constexpr size_t kBlock = 16;

// Prefetches a line of a row. A dozen rows are written at once, line by line, and processors do not
// predict that. Any address will do, also past the end.
HWY_INLINE void PrefetchToWrite(const uint8_t* line) { __builtin_prefetch(line, 1); }

// Covers the elements [0, count) with calls f(tag, first), each for as many elements as the tag has
// lanes. The last call may overlap the one before. Returns the elements covered: count, or 0 if
// they do not fill a vector.
template <class D, class F>
HWY_INLINE size_t CoverWithVectors(D d, size_t count, const F& f) {
  const size_t lanes = hn::Lanes(d);
  if (count < lanes) {
    if constexpr (hn::MaxLanes(D()) > kBlock) return CoverWithVectors(hn::Half<D>(), count, f);
    return 0;
  }
  size_t first = 0;
  for (; first + lanes <= count; first += lanes) f(d, first);
  if (first < count) f(d, count - lanes);
  return count;
}

// Calls f as above with the widest vectors that this target has.
template <class F>
HWY_INLINE size_t CoverWithVectors(size_t count, const F& f) {
  if constexpr (CAIRN_HAVE_BLOCKS) {
    return CoverWithVectors(hn::ScalableTag<uint8_t>(), count, f);
  } else {
    return 0;
  }
}

#if CAIRN_HAVE_BLOCKS

// Loads one vector whose blocks lie `step` bytes apart.
template <class D>
HWY_INLINE hn::Vec<D> LoadBlocks(D d, const uint8_t* from, size_t step) {
  if constexpr (hn::MaxLanes(D()) == kBlock) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    const size_t blocks = hn::Lanes(half) / kBlock;
    return hn::Combine(d, LoadBlocks(half, from + blocks * step, step),
                       LoadBlocks(half, from, step));
  }
}

// Loads vectors: block b of v[i] is number b * kVecs + i of the blocks that begin every `stride`
// bytes. So the vectors hold consecutive stretches of memory block by block, and an operation on
// the blocks 0 of all vectors applies to each stretch.
template <size_t kVecs, class D>
HWY_INLINE void Load(D d, const uint8_t* from, size_t stride, hn::Vec<D>* v) {
  HWY_UNROLL(16)
  for (size_t i = 0; i < kVecs; ++i) v[i] = LoadBlocks(d, from + i * stride, kVecs * stride);
}

// Undoes Load, in the order of addresses: with a stride under 16 later blocks overwrite the ends of
// earlier ones.
template <size_t kVecs, class D>
HWY_INLINE void Store(D d, const hn::Vec<D>* v, size_t stride, uint8_t* to) {
  if constexpr (hn::MaxLanes(D()) == kBlock) {
    HWY_UNROLL(16)
    for (size_t i = 0; i < kVecs; ++i) hn::StoreU(v[i], d, to + i * stride);
  } else {
    const hn::Half<D> half;
    hn::Vec<hn::Half<D>> lower[kVecs];
    hn::Vec<hn::Half<D>> upper[kVecs];
    HWY_UNROLL(16)
    for (size_t i = 0; i < kVecs; ++i) {
      lower[i] = hn::LowerHalf(half, v[i]);
      upper[i] = hn::UpperHalf(half, v[i]);
    }
    Store<kVecs>(half, lower, stride, to);
    Store<kVecs>(half, upper, stride, to + hn::Lanes(half) / kBlock * kVecs * stride);
  }
}

// Deals the lanes (of type T) of all vectors like a perfect riffle: the first half of the lanes
// goes to the even places, the second half to the odd ones. With lanes numbered through all vectors
// this rotates the bits of a lane's number left by one.
template <typename T, size_t kVecs, class D>
HWY_INLINE void Riffle(D d, hn::Vec<D>* v) {
  const hn::Repartition<T, D> dt;
  hn::Vec<D> out[kVecs];
  HWY_UNROLL(16)
  for (size_t i = 0; i < kVecs / 2; ++i) {
    const auto a = hn::BitCast(dt, v[i]);
    const auto b = hn::BitCast(dt, v[i + kVecs / 2]);
    out[2 * i] = hn::BitCast(d, hn::InterleaveLower(dt, a, b));
    out[2 * i + 1] = hn::BitCast(d, hn::InterleaveUpper(dt, a, b));
  }
  HWY_UNROLL(16)
  for (size_t i = 0; i < kVecs; ++i) v[i] = out[i];
}

// Riffles as often as a vector's number has bits.
template <typename T, size_t kVecs, class D>
HWY_INLINE void RiffleAll(D d, hn::Vec<D>* v) {
  Riffle<T, kVecs>(d, v);
  if constexpr (kVecs > 2) Riffle<T, kVecs>(d, v);
  if constexpr (kVecs > 4) Riffle<T, kVecs>(d, v);
  if constexpr (kVecs > 8) Riffle<T, kVecs>(d, v);
}

// An unsigned integer of 16 / kVecs bytes.
template <size_t kVecs>
using Piece = hwy::UnsignedFromSize<kBlock / kVecs>;

// Blocks hold 16 elements of kVecs bytes one after another. Afterwards v[j] holds their bytes j.
template <size_t kVecs, class D>
HWY_INLINE void GatherBytes(D d, hn::Vec<D>* v) {
  if constexpr (kVecs < kBlock) {
    // The first step is within each block. It leaves pieces to deal out that are as wide as
    // possible.
    constexpr size_t kElements = kBlock / kVecs;
    alignas(kBlock) uint8_t order[kBlock];
    for (size_t i = 0; i < kBlock; ++i) {
      order[i] = static_cast<uint8_t>(i % kElements * kVecs + i / kElements);
    }
    const auto lookup = hn::LoadDup128(d, order);
    HWY_UNROLL(16)
    for (size_t i = 0; i < kVecs; ++i) v[i] = hn::TableLookupBytes(v[i], lookup);
  }
  RiffleAll<Piece<kVecs>, kVecs>(d, v);
}

// Undoes GatherBytes.
template <size_t kVecs, class D>
HWY_INLINE void ScatterBytes(D d, hn::Vec<D>* v) {
  RiffleAll<uint8_t, kVecs>(d, v);
}

// True if vectors of four blocks have an instruction that puts all their bytes into any order:
// AVX-512 with VBMI. Highway 1.0 has no name for it.
#define CAIRN_HAVE_WIDE_ORDERS (HWY_TARGET == HWY_AVX3_DL)
#if CAIRN_HAVE_WIDE_ORDERS

template <class D>
inline constexpr bool kIsWide = hn::MaxLanes(D()) == 4 * kBlock;

struct WideOrder {
  alignas(4 * kBlock) uint8_t places[4 * kBlock];
};

// Load and Store move memory block by block to where the vectors need it. It is faster to move
// vectors as they lie in memory, where block b of v[i] is stretch 4 * i + b. The pieces of rows
// that come from these stretches, or go there, are then in this order.
template <size_t kVecs>
constexpr WideOrder OrderOfStretches() {
  constexpr size_t kPiece = kBlock / kVecs;
  WideOrder order{};
  for (size_t i = 0; i < 4 * kBlock; ++i) {
    const size_t stretch = 4 * (i % kBlock / kPiece) + i / kBlock;
    order.places[i] = static_cast<uint8_t>(stretch * kPiece + i % kPiece);
  }
  return order;
}

template <size_t kVecs>
constexpr WideOrder OrderOfRows() {
  constexpr WideOrder kStretches = OrderOfStretches<kVecs>();
  WideOrder order{};
  for (size_t i = 0; i < 4 * kBlock; ++i)
    order.places[kStretches.places[i]] = static_cast<uint8_t>(i);
  return order;
}

template <size_t kVecs>
inline constexpr WideOrder kStretchOrder = OrderOfStretches<kVecs>();
template <size_t kVecs>
inline constexpr WideOrder kRowOrder = OrderOfRows<kVecs>();

template <size_t kVecs, class D>
HWY_INLINE void Reorder(D d, const WideOrder& order, hn::Vec<D>* v) {
  const auto places = hn::Load(d, order.places);
  HWY_UNROLL(16)
  for (size_t i = 0; i < kVecs; ++i) {
    v[i] = hn::Vec<D>{_mm512_permutexvar_epi8(places.raw, v[i].raw)};
  }
}

// Every such processor has GFNI too, but a virtual one may hide it.
HWY_INLINE bool HaveGfni() { return __builtin_cpu_supports("gfni") != 0; }

// Exchanges bit i of byte k with bit k of byte i, in every 8 bytes. Each byte of the result is the
// product of the matrix of these 64 bits and a byte with one bit. A matrix begins with its last
// row, so the bits come out in reverse, and a second instruction reverses them again.
template <size_t kVecs, class D>
HWY_INLINE void TransposeWords(D d, hn::Vec<D>* v) {
  const hn::Repartition<uint64_t, D> d64;
  const auto bits = hn::BitCast(d, hn::Set(d64, 0x8040201008040201));
  HWY_UNROLL(16)
  for (size_t i = 0; i < kVecs; ++i) {
    // This is assembly because the intrinsic needs a target that Highway's does not include.
    asm("vgf2p8affineqb $0, %1, %2, %0" : "=v"(v[i].raw) : "v"(v[i].raw), "v"(bits.raw));
    asm("vgf2p8affineqb $0, %2, %1, %0" : "=v"(v[i].raw) : "v"(v[i].raw), "v"(bits.raw));
  }
}

#endif  // CAIRN_HAVE_WIDE_ORDERS

// Loads elements of kVecs bytes one after another, enough to fill kVecs vectors. Afterwards v[j]
// holds their bytes j.
template <size_t kVecs, class D>
HWY_INLINE void LoadColumns(D d, const uint8_t* from, hn::Vec<D>* v) {
#if CAIRN_HAVE_WIDE_ORDERS
  if constexpr (kIsWide<D>) {
    HWY_UNROLL(16)
    for (size_t i = 0; i < kVecs; ++i) v[i] = hn::LoadU(d, from + i * hn::Lanes(d));
    GatherBytes<kVecs>(d, v);
    return Reorder<kVecs>(d, kRowOrder<kVecs>, v);
  }
#endif
  Load<kVecs>(d, from, kBlock, v);
  GatherBytes<kVecs>(d, v);
}

// Undoes LoadColumns.
template <size_t kVecs, class D>
HWY_INLINE void StoreColumns(D d, hn::Vec<D>* v, uint8_t* to) {
#if CAIRN_HAVE_WIDE_ORDERS
  if constexpr (kIsWide<D>) {
    Reorder<kVecs>(d, kStretchOrder<kVecs>, v);
    ScatterBytes<kVecs>(d, v);
    HWY_UNROLL(16)
    for (size_t i = 0; i < kVecs; ++i) hn::StoreU(v[i], d, to + i * hn::Lanes(d));
    return;
  }
#endif
  ScatterBytes<kVecs>(d, v);
  Store<kVecs>(d, v, kBlock, to);
}

// Exchanges the upper kShift bits of every 2 * kShift bits of a with the lower ones of b.
template <int kShift, class D>
HWY_INLINE void SwapBits(D d, hn::Vec<D>& a, hn::Vec<D>& b) {
  constexpr uint8_t kLower = kShift == 4 ? 0x0f : kShift == 2 ? 0x33 : 0x55;
  const hn::Repartition<uint64_t, D> d64;
  const auto a_down = hn::BitCast(d, hn::ShiftRight<kShift>(hn::BitCast(d64, a)));
  const auto both = hn::And(hn::Xor(a_down, b), hn::Set(d, kLower));
  b = hn::Xor(b, both);
  a = hn::Xor(a, hn::BitCast(d, hn::ShiftLeft<kShift>(hn::BitCast(d64, both))));
}

// Exchanges bit i of v[k] with bit k of v[i], in every byte.
template <class D>
HWY_INLINE void TransposeBits(D d, hn::Vec<D>* v) {
  HWY_UNROLL(4)
  for (size_t i = 0; i < 4; ++i) SwapBits<4>(d, v[i], v[i + 4]);
  HWY_UNROLL(4)
  for (size_t i = 0; i < 8; i += i % 4 == 1 ? 3 : 1) SwapBits<2>(d, v[i], v[i + 2]);
  HWY_UNROLL(4)
  for (size_t i = 0; i < 8; i += 2) SwapBits<1>(d, v[i], v[i + 1]);
}

// Loads groups of 8 bytes one after another. Afterwards v[k] holds the bits k of all groups' bytes.
template <class D>
HWY_INLINE void LoadBits(D d, const uint8_t* from, hn::Vec<D>* v) {
#if CAIRN_HAVE_WIDE_ORDERS
  if constexpr (kIsWide<D>) {
    if (HaveGfni()) {
      HWY_UNROLL(8)
      for (size_t i = 0; i < 8; ++i) v[i] = hn::LoadU(d, from + i * hn::Lanes(d));
      TransposeWords<8>(d, v);
      GatherBytes<8>(d, v);
      return Reorder<8>(d, kRowOrder<8>, v);
    }
  }
#endif
  LoadColumns<8>(d, from, v);
  TransposeBits(d, v);
}

// Undoes LoadBits.
template <class D>
HWY_INLINE void StoreBits(D d, hn::Vec<D>* v, uint8_t* to) {
#if CAIRN_HAVE_WIDE_ORDERS
  if constexpr (kIsWide<D>) {
    if (HaveGfni()) {
      Reorder<8>(d, kStretchOrder<8>, v);
      ScatterBytes<8>(d, v);
      TransposeWords<8>(d, v);
      HWY_UNROLL(8)
      for (size_t i = 0; i < 8; ++i) hn::StoreU(v[i], d, to + i * hn::Lanes(d));
      return;
    }
  }
#endif
  TransposeBits(d, v);
  StoreColumns<8>(d, v, to);
}

#endif  // CAIRN_HAVE_BLOCKS

}  // namespace cairn::filter::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // CAIRN_ENGINE_FILTER_TRANSPOSE_INL_H_
