#include "engine/filter/shuffle.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/filter/shuffle.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "engine/base/bytes.h"
#include "engine/filter/shuffle-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cairn::filter::HWY_NAMESPACE {

// Elements to do at a time: all of them, or as many wide ones as fit the L1 cache, for it takes
// several rounds over their columns.
size_t TileOf(size_t width, size_t count) {
  constexpr size_t kTileBytes = 16384;
  constexpr size_t kWidestVector = 64;
  if (width <= kBlock) return count;
  return std::max(kWidestVector, kTileBytes / width / kWidestVector * kWidestVector);
}

void ShuffleElements(size_t width, Bytes src, MutableBytes dst) {
  const auto* from = reinterpret_cast<const uint8_t*>(src.data());
  auto* to = reinterpret_cast<uint8_t*>(dst.data());
  const size_t count = src.size() / width;
  const size_t tile = TileOf(width, count);
  const Elements<const uint8_t> all{from, width, count, src.size()};
  for (size_t first = 0; first < count; first += tile) {
    const Elements<const uint8_t> elements = all.From(first, std::min(tile, count - first));
    ForEachColumns(width, [&](size_t column) HWY_ATTR {
      ShuffleColumns(elements, column, Rows<uint8_t>{to + column * count + first, count});
    });
  }
}

void UnshuffleElements(size_t width, Bytes src, MutableBytes dst) {
  const auto* from = reinterpret_cast<const uint8_t*>(src.data());
  auto* to = reinterpret_cast<uint8_t*>(dst.data());
  const size_t count = src.size() / width;
  const size_t tile = TileOf(width, count);
  const Elements<uint8_t> all{to, width, count, src.size()};
  for (size_t first = 0; first < count; first += tile) {
    const Elements<uint8_t> elements = all.From(first, std::min(tile, count - first));
    ForEachColumns(width, [&](size_t column) HWY_ATTR {
      UnshuffleColumns(Rows<const uint8_t>{from + column * count + first, count}, elements, column);
    });
  }
}

}  // namespace cairn::filter::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cairn::filter {

namespace {
HWY_EXPORT(ShuffleElements);
HWY_EXPORT(UnshuffleElements);
}  // namespace

void Shuffle(size_t width, Bytes src, MutableBytes dst) {
  const size_t whole = width > 1 ? src.size() / width * width : 0;
  if (whole != 0) HWY_DYNAMIC_DISPATCH(ShuffleElements)(width, src, dst);
  CopyBytes(src.subspan(whole), dst.subspan(whole));
}

void Unshuffle(size_t width, Bytes src, MutableBytes dst) {
  const size_t whole = width > 1 ? src.size() / width * width : 0;
  if (whole != 0) HWY_DYNAMIC_DISPATCH(UnshuffleElements)(width, src, dst);
  CopyBytes(src.subspan(whole), dst.subspan(whole));
}

}  // namespace cairn::filter
#endif  // HWY_ONCE
