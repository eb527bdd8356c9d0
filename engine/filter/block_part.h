// Puts together a part of a block without undoing the filter of the rest.
#ifndef CAIRN_ENGINE_FILTER_BLOCK_PART_H_
#define CAIRN_ENGINE_FILTER_BLOCK_PART_H_

#include <algorithm>
#include <cstddef>

#include "cairn/types.h"
#include "engine/base/bytes.h"

namespace cairn::filter {

// SHUFFLE and BITSHUFFLE sort a block into planes of bytes. Some items of the block are the same
// piece of every plane: bytes [begin, begin + piece) of each. The pieces one after another are a
// small block, which is filtered in the same way.
struct BlockPart {
  size_t planes = 1;
  size_t stride = 0;  // from one plane to the next
  size_t begin = 0;   // of the piece, in its plane
  size_t piece = 0;
  size_t skip = 0;  // bytes of the small block, unfiltered, before the wanted ones

  size_t size() const { return planes * piece; }
  // Returns where the last piece ends within bytes [from, to) of the filtered block, or `from` if
  // none has bytes there.
  size_t EndWithin(size_t from, size_t to) const {
    if (to <= begin) return from;
    const size_t last = std::min(planes - 1, (to - 1 - begin) / stride);
    return std::max(from, std::min(to, last * stride + begin + piece));
  }
  // Copies the bytes that the pieces have from `from` on in the filtered block to their places in
  // `small`. `held` are the bytes of the block from there on, at least up to EndWithin.
  void Gather(size_t from, Bytes held, MutableBytes small) const {
    const size_t to = from + held.size();
    for (size_t plane = from / stride; plane < planes && plane * stride + begin < to; ++plane) {
      const size_t start = plane * stride + begin;
      const size_t first = std::max(start, from);
      const size_t end = std::min(start + piece, to);
      if (first >= end) continue;
      CopyBytes(held.subspan(first - from, end - first),
                small.subspan(plane * piece + first - start, end - first));
    }
  }
};

}  // namespace cairn::filter

#endif  // CAIRN_ENGINE_FILTER_BLOCK_PART_H_
