// Moves up to 16 byte columns of some elements. SHUFFLE and BITSHUFFLE are put together from this.
// Included once a target. shuffle.cc has the code.
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

// `count` elements of `width` bytes, one after another. Kernels may touch `size` >= count * width
// bytes, because those that move 16 bytes of a narrower element read and write past it. The bytes
// that they write there are garbage.
template <typename Byte>
struct Elements {
  Byte* data;
  size_t width;
  size_t count;
  size_t size;

  // Returns how many elements can be moved 16 bytes at a time.
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

// Returns how many columns are moved at a time.
inline size_t ColumnsAtOnce(size_t width) { return std::min(width, kBlock); }

// Calls f(column) so that [column, column + ColumnsAtOnce(width)) cover all columns. The last may
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

// Moves rows 0, 1, ... back to the columns.
void UnshuffleColumns(Rows<const uint8_t> from, const Elements<uint8_t>& to, size_t column);

}  // namespace cairn::filter::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // CAIRN_ENGINE_FILTER_SHUFFLE_INL_H_
