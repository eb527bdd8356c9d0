// What SHUFFLE and BITSHUFFLE are put together from: moving up to 16 byte columns of some elements.
// Included once a target; shuffle.cc has the code.
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

// Moves the columns [column, column + ColumnsAtOnce(width)) of all elements to rows 0, 1, ...
void ShuffleColumns(const Elements<const uint8_t>& from, size_t column, Rows<uint8_t> to);

// Moves them back.
void UnshuffleColumns(Rows<const uint8_t> from, const Elements<uint8_t>& to, size_t column);

}  // namespace cairn::filter::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // CAIRN_ENGINE_FILTER_SHUFFLE_INL_H_
