#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "engine/base/kernel_targets.h"
#include "engine/filter/filters.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/filter/shuffle.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "engine/base/bytes.h"
#include "engine/filter/shuffle-inl.h"
#include "engine/filter/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cairn::filter::HWY_NAMESPACE {

// The distance, in bytes, at which rows and elements are prefetched before they are written.
constexpr size_t kAhead = 512;

// These two functions handle the elements that fill vectors, and return how many those are. They
// are functions of their own so that each loop has all registers to itself. They copy there once
// what they need of the elements.
template <size_t kVecs>
HWY_NOINLINE HWY_FLATTEN size_t ShuffleWithVectors(const Elements<const uint8_t>& from,
                                                   size_t column, Rows<uint8_t> to) {
  constexpr bool kWide = kVecs == kBlock;
  const uint8_t* const data = from.data;
  const size_t width = kWide ? from.width : kVecs;
  const size_t stride = kWide ? width : kBlock;
  const size_t columns = ColumnsAtOnce(width);
  return CoverWithVectors(kWide ? from.CountOfWide() : from.count,
                          [=](auto d, size_t first) HWY_ATTR {
                            hn::Vec<decltype(d)> v[kVecs];
                            const uint8_t* start = data + first * width + column;
                            if (stride == kBlock) {
                              LoadColumns<kVecs>(d, start, v);
                            } else {
                              Load<kVecs>(d, start, stride, v);
                              GatherBytes<kVecs>(d, v);
                            }
                            HWY_UNROLL(16)
                            for (size_t j = 0; j < kVecs; ++j) {
                              if (!kWide || j < columns) {
                                PrefetchToWrite(to.Row(j) + first + kAhead);
                                hn::StoreU(v[j], d, to.Row(j) + first);
                              }
                            }
                          });
}

template <size_t kVecs>
HWY_NOINLINE HWY_FLATTEN size_t UnshuffleWithVectors(Rows<const uint8_t> from,
                                                     const Elements<uint8_t>& to, size_t column) {
  constexpr bool kWide = kVecs == kBlock;
  uint8_t* const data = to.data;
  const size_t width = kWide ? to.width : kVecs;
  const size_t stride = kWide ? width : kBlock;
  const size_t columns = ColumnsAtOnce(width);
  return CoverWithVectors(kWide ? to.CountOfWide() : to.count, [=](auto d, size_t first) HWY_ATTR {
    hn::Vec<decltype(d)> v[kVecs];
    // Narrow elements lack these rows, which become garbage from the bytes after the elements. Any
    // bytes will do.
    HWY_UNROLL(16)
    for (size_t j = 0; j < kVecs; ++j) {
      v[j] = hn::LoadU(d, from.Row(kWide ? std::min(j, columns - 1) : j) + first);
    }
    uint8_t* start = data + first * width + column;
    if (width == kVecs) {
      // Elements lie one after another, but the processor does not see that, because this many rows
      // are read.
      HWY_UNROLL(16)
      for (size_t j = 0; j < kVecs; ++j) {
        const size_t at = j * hn::Lanes(d);
        if (at % 64 == 0) PrefetchToWrite(start + kAhead + at);
      }
    }
    if (stride == kBlock) {
      StoreColumns<kVecs>(d, v, start);
    } else {
      ScatterBytes<kVecs>(d, v);
      Store<kVecs>(d, v, stride, start);
    }
  });
}

void ShuffleColumns(const Elements<const uint8_t>& from, size_t column, Rows<uint8_t> to) {
  const size_t done = from.width == 2   ? ShuffleWithVectors<2>(from, column, to)
                      : from.width == 4 ? ShuffleWithVectors<4>(from, column, to)
                      : from.width == 8 ? ShuffleWithVectors<8>(from, column, to)
                                        : ShuffleWithVectors<16>(from, column, to);
  for (size_t i = done; i < from.count; ++i) {
    for (size_t j = 0; j < ColumnsAtOnce(from.width); ++j) {
      to.Row(j)[i] = from.data[i * from.width + column + j];
    }
  }
}

void UnshuffleColumns(Rows<const uint8_t> from, const Elements<uint8_t>& to, size_t column) {
  const size_t done = to.width == 2   ? UnshuffleWithVectors<2>(from, to, column)
                      : to.width == 4 ? UnshuffleWithVectors<4>(from, to, column)
                      : to.width == 8 ? UnshuffleWithVectors<8>(from, to, column)
                                      : UnshuffleWithVectors<16>(from, to, column);
  for (size_t i = done; i < to.count; ++i) {
    for (size_t j = 0; j < ColumnsAtOnce(to.width); ++j) {
      to.data[i * to.width + column + j] = from.Row(j)[i];
    }
  }
}

// Returns how many elements to handle at a time: all of them, or as many wide ones as fit the L1
// cache, because wide ones take several rounds over their columns.
size_t TileOf(size_t width, size_t count) {
  constexpr size_t kTileBytes = 16384;
  constexpr size_t kWidestVector = 64;
  if (width <= kBlock) return count;
  return std::max(kWidestVector, kTileBytes / width / kWidestVector * kWidestVector);
}

// Shuffles elements that are wider than a vector's block. This many rows at equal distances would
// push each other's lines out of the cache, so they are made in a tile and leave it row by row.
void ShuffleWideElements(Elements<const uint8_t> all, uint8_t* to) {
  constexpr size_t kMost = 1024;
  alignas(64) std::array<uint8_t, kBlock * kMost> tile;
  const size_t n = std::min(kMost, TileOf(all.width, all.count));
  for (size_t first = 0; first < all.count; first += n) {
    const Elements<const uint8_t> elements = all.From(first, std::min(n, all.count - first));
    ForEachColumns(all.width, [&](size_t column) HWY_ATTR {
      ShuffleColumns(elements, column, Rows<uint8_t>{tile.data(), n});
      for (size_t j = 0; j < kBlock; ++j) {
        uint8_t* row = to + (column + j) * all.count + first;
        for (size_t i = 0; i < elements.count; i += 64) PrefetchToWrite(row + all.count + i);
        std::memcpy(row, tile.data() + j * n, elements.count);
      }
    });
  }
}

void ShuffleElements(size_t width, size_t count, Bytes src, MutableBytes dst) {
  const Elements<const uint8_t> all{reinterpret_cast<const uint8_t*>(src.data()), width, count,
                                    src.size()};
  const Rows<uint8_t> to{reinterpret_cast<uint8_t*>(dst.data()), count};
  constexpr size_t kFar = 4096;
  if (width < kBlock || (width == kBlock && count < kFar)) {
    ShuffleColumns(all, 0, to);
  } else {
    ShuffleWideElements(all, to.data);
  }
}

void UnshuffleElements(size_t width, size_t count, size_t stride, Bytes src, MutableBytes dst) {
  const auto* from = reinterpret_cast<const uint8_t*>(src.data());
  auto* to = reinterpret_cast<uint8_t*>(dst.data());
  const size_t tile = TileOf(width, count);
  const Elements<uint8_t> all{to, width, count, dst.size()};
  for (size_t first = 0; first < count; first += tile) {
    const Elements<uint8_t> elements = all.From(first, std::min(tile, count - first));
    ForEachColumns(width, [&](size_t column) HWY_ATTR {
      UnshuffleColumns(Rows<const uint8_t>{from + column * stride + first, stride}, elements,
                       column);
    });
  }
}

}  // namespace cairn::filter::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cairn::filter {

namespace {
CAIRN_EXPORT_KERNEL(ShuffleElements);
CAIRN_EXPORT_KERNEL(UnshuffleElements);
}  // namespace

void Shuffle(size_t width, Bytes src, MutableBytes dst) {
  const size_t count = width > 1 ? src.size() / width : 0;
  const size_t filtered = count * width;
  if (filtered != 0) CAIRN_KERNEL(ShuffleElements)(width, count, src, dst);
  CopyBytes(src.subspan(filtered), dst.subspan(filtered));
}

void Unshuffle(size_t width, Bytes src, MutableBytes dst) {
  const size_t count = width > 1 ? src.size() / width : 0;
  const size_t filtered = count * width;
  if (filtered != 0) CAIRN_KERNEL(UnshuffleElements)(width, count, count, src, dst);
  CopyBytes(src.subspan(filtered), dst.subspan(filtered));
}

void UnshufflePlanes(size_t width, Bytes planes, size_t stride, MutableBytes dst) {
  if (width == 1) return CopyBytes(planes.first(dst.size()), dst);
  const size_t count = dst.size() / width;
  if (count != 0) CAIRN_KERNEL(UnshuffleElements)(width, count, stride, planes, dst);
}

}  // namespace cairn::filter
#endif  // HWY_ONCE
