#include <algorithm>
#include <array>
#include <cstdint>

#include "engine/base/kernel_targets.h"
#include "engine/filter/filters.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/filter/bitshuffle.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/filter/shuffle-inl.h"
#include "engine/filter/transpose-inl.h"

// BITSHUFFLE is SHUFFLE by typesize, and then, for each of its byte columns, SHUFFLE by 8 with a
// transpose of the bits of every 8 bytes. A tile of 16 columns passes both steps inside the L1
// cache.
HWY_BEFORE_NAMESPACE();
namespace cairn::filter::HWY_NAMESPACE {

// The distance, in bytes, at which a row is prefetched before it is written.
constexpr size_t kAhead = 128;

struct Tile {
  alignas(64) std::array<uint8_t, 16384> bytes;
};

// Returns how many elements fit in a tile: a multiple of what the widest vectors handle at once.
HWY_INLINE size_t ElementsOfTile(size_t typesize) {
  constexpr size_t kOneGo = 512;
  return sizeof(Tile) / ColumnsAtOnce(typesize) / kOneGo * kOneGo;
}

// Exchanges bit i of byte k with bit k of byte i.
HWY_INLINE uint64_t TransposeBits(uint64_t x) {
  uint64_t swap = (x ^ (x >> 7)) & 0x00aa00aa00aa00aa;
  x ^= swap ^ (swap << 7);
  swap = (x ^ (x >> 14)) & 0x0000cccc0000cccc;
  x ^= swap ^ (swap << 14);
  swap = (x ^ (x >> 28)) & 0x00000000f0f0f0f0;
  return x ^ swap ^ (swap << 28);
}

// Cuts the bytes of one column of 8 * groups elements into 8 rows of bits.
HWY_NOINLINE void CutIntoBits(const uint8_t* column, size_t groups, Rows<uint8_t> to) {
  const size_t done = CoverWithVectors(groups, [=](auto d, size_t first) HWY_ATTR {
    hn::Vec<decltype(d)> v[8];
    LoadBits(d, column + 8 * first, v);
    HWY_UNROLL(8)
    for (size_t k = 0; k < 8; ++k) {
      PrefetchToWrite(to.Row(k) + first + kAhead);
      hn::StoreU(v[k], d, to.Row(k) + first);
    }
  });
  for (size_t i = done; i < groups; ++i) {
    const auto* group = reinterpret_cast<const std::byte*>(column + 8 * i);
    const uint64_t bits = TransposeBits(LoadLe<uint64_t>(group));
    for (size_t k = 0; k < 8; ++k) to.Row(k)[i] = static_cast<uint8_t>(bits >> (8 * k));
  }
}

// Makes the column from its 8 rows of bits.
HWY_NOINLINE void JoinBits(Rows<const uint8_t> from, size_t groups, uint8_t* column) {
  const size_t done = CoverWithVectors(groups, [=](auto d, size_t first) HWY_ATTR {
    hn::Vec<decltype(d)> v[8];
    HWY_UNROLL(8)
    for (size_t k = 0; k < 8; ++k) v[k] = hn::LoadU(d, from.Row(k) + first);
    StoreBits(d, v, column + 8 * first);
  });
  for (size_t i = done; i < groups; ++i) {
    uint64_t bits = 0;
    for (size_t k = 0; k < 8; ++k) bits |= uint64_t{from.Row(k)[i]} << (8 * k);
    StoreLe(reinterpret_cast<std::byte*>(column + 8 * i), TransposeBits(bits));
  }
}

// Calls f(first, n, column) for tiles of n elements that cover all columns of all elements. The
// last may overlap the one before, because a full tile is faster than a part of one.
template <typename Byte, class F>
HWY_INLINE void ForEachTile(const Elements<Byte>& all, const F& f) {
  const size_t count = all.count;
  const size_t n = std::min(ElementsOfTile(all.width), count);
  for (size_t first = 0; first < count; first += n) {
    ForEachColumns(all.width,
                   [&](size_t column) HWY_ATTR { f(std::min(first, count - n), n, column); });
  }
}

// These two functions handle only full groups of 8 elements, but src and dst may be longer.
void BitShuffleGroups(size_t typesize, Bytes src, MutableBytes dst) {
  const auto* from = reinterpret_cast<const uint8_t*>(src.data());
  const size_t row = src.size() / typesize / 8;
  const Elements<const uint8_t> all{from, typesize, 8 * row, src.size()};
  const Rows<uint8_t> to{reinterpret_cast<uint8_t*>(dst.data()), row};
  if (typesize == 1) return CutIntoBits(from, row, to);

  Tile tile;
  ForEachTile(all, [&](size_t first, size_t n, size_t column) HWY_ATTR {
    ShuffleColumns(all.From(first, n), column, Rows<uint8_t>{tile.bytes.data(), n});
    for (size_t j = 0; j < ColumnsAtOnce(typesize); ++j) {
      CutIntoBits(tile.bytes.data() + j * n, n / 8,
                  Rows<uint8_t>{to.Row(8 * (column + j)) + first / 8, row});
    }
  });
}

void BitUnshuffleGroups(size_t typesize, Bytes src, MutableBytes dst) {
  auto* to = reinterpret_cast<uint8_t*>(dst.data());
  const size_t row = src.size() / typesize / 8;
  const Rows<const uint8_t> from{reinterpret_cast<const uint8_t*>(src.data()), row};
  const Elements<uint8_t> all{to, typesize, 8 * row, dst.size()};
  if (typesize == 1) return JoinBits(from, row, to);

  Tile tile;
  ForEachTile(all, [&](size_t first, size_t n, size_t column) HWY_ATTR {
    for (size_t j = 0; j < ColumnsAtOnce(typesize); ++j) {
      JoinBits(Rows<const uint8_t>{from.Row(8 * (column + j)) + first / 8, row}, n / 8,
               tile.bytes.data() + j * n);
    }
    UnshuffleColumns(Rows<const uint8_t>{tile.bytes.data(), n}, all.From(first, n), column);
  });
}

}  // namespace cairn::filter::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cairn::filter {

namespace {

CAIRN_EXPORT_KERNEL(BitShuffleGroups);
CAIRN_EXPORT_KERNEL(BitUnshuffleGroups);

size_t TransposedBytes(size_t typesize, size_t size) { return size / typesize / 8 * 8 * typesize; }

}  // namespace

void BitShuffle(size_t typesize, Bytes src, MutableBytes dst) {
  const size_t transposed = TransposedBytes(typesize, src.size());
  if (transposed != 0) CAIRN_KERNEL(BitShuffleGroups)(typesize, src, dst);
  CopyBytes(src.subspan(transposed), dst.subspan(transposed));
}

void BitUnshuffle(size_t typesize, Bytes src, MutableBytes dst) {
  const size_t transposed = TransposedBytes(typesize, src.size());
  if (transposed != 0) CAIRN_KERNEL(BitUnshuffleGroups)(typesize, src, dst);
  CopyBytes(src.subspan(transposed), dst.subspan(transposed));
}

}  // namespace cairn::filter
#endif  // HWY_ONCE
