// SHUFFLE and its undoing over a few elements and up to 16 byte columns: what the kernels of
// SHUFFLE and BITSHUFFLE are put together from. Included once a target.
#if defined(CAIRN_ENGINE_FILTER_SHUFFLE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAIRN_ENGINE_FILTER_SHUFFLE_INL_H_
#undef CAIRN_ENGINE_FILTER_SHUFFLE_INL_H_
#else
#define CAIRN_ENGINE_FILTER_SHUFFLE_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"

#include "engine/filter/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cairn::filter::HWY_NAMESPACE {

// `count` elements of `width` bytes, one after another. `size` >= count * width bytes may be
// touched: kernels that move 16 bytes of a narrower element read past it and write past it, and
// what they write there is garbage.
template <typename Byte>
struct Elements {
  Byte* data;
  size_t width;
  size_t count;
  size_t size;

  // How many can be moved 16 bytes at a time.
  size_t CountOfWide() const {
    if (width >= kBlock) return count;
    return size < kBlock ? 0 : std::min(count, (size - kBlock) / width + 1);
  }
  Elements From(size_t first, size_t n) const {
    return {data + first * width, width, n, size - first * width};
  }
};

// Row j holds the bytes of one column of all elements.
template <typename Byte>
struct Rows {
  Byte* data;
  size_t stride;

  Byte* Row(size_t j) const { return data + j * stride; }
};

// Columns that are moved at a time.
inline size_t ColumnsAtOnce(size_t width) { return std::min(width, kBlock); }

// Calls f(column) so that [column, column + ColumnsAtOnce(width)) cover all columns; the last may
// overlap the ones before.
template <class F>
HWY_INLINE void ForEachColumns(size_t width, const F& f) {
  const size_t n = ColumnsAtOnce(width);
  size_t column = 0;
  for (; column + n <= width; column += n) f(column);
  if (column < width) f(width - n);
}

template <size_t kVecs>
HWY_NOINLINE size_t ShuffleWithVectors(Elements<const uint8_t> from, size_t column,
                                       Rows<uint8_t> to) {
  constexpr bool kWide = kVecs == kBlock;
  const size_t stride = kWide ? from.width : kBlock;
  const size_t columns = ColumnsAtOnce(from.width);
  return CoverWithVectors(kWide ? from.CountOfWide() : from.count,
                          [=](auto d, size_t first) HWY_ATTR {
                            hn::Vec<decltype(d)> v[kVecs];
                            Load<kVecs>(d, from.data + first * from.width + column, stride, v);
                            GatherBytes<kVecs>(d, v);
                            HWY_UNROLL(16)
                            for (size_t j = 0; j < kVecs; ++j) {
                              if (!kWide || j < columns) hn::StoreU(v[j], d, to.Row(j) + first);
                            }
                          });
}

template <size_t kVecs>
HWY_NOINLINE size_t UnshuffleWithVectors(Rows<const uint8_t> from, Elements<uint8_t> to,
                                         size_t column) {
  constexpr bool kWide = kVecs == kBlock;
  const size_t stride = kWide ? to.width : kBlock;
  const size_t columns = ColumnsAtOnce(to.width);
  return CoverWithVectors(kWide ? to.CountOfWide() : to.count, [=](auto d, size_t first) HWY_ATTR {
    hn::Vec<decltype(d)> v[kVecs];
    HWY_UNROLL(16)
    for (size_t j = 0; j < kVecs; ++j) {
      v[j] = hn::LoadU(d, from.Row(kWide ? std::min(j, columns - 1) : j) + first);
    }
    ScatterBytes<kVecs>(d, v);
    Store<kVecs>(d, v, stride, to.data + first * to.width + column);
  });
}

// Moves the columns [column, column + ColumnsAtOnce(width)) of all elements to rows 0, 1, ...
HWY_INLINE void ShuffleColumns(Elements<const uint8_t> from, size_t column, Rows<uint8_t> to) {
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

// Moves them back.
HWY_INLINE void UnshuffleColumns(Rows<const uint8_t> from, Elements<uint8_t> to, size_t column) {
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

}  // namespace cairn::filter::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // CAIRN_ENGINE_FILTER_SHUFFLE_INL_H_
