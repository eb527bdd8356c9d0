// A part of a block, put together without undoing the filter of the rest.
#ifndef CAIRN_ENGINE_FILTER_BLOCK_PART_H_
#define CAIRN_ENGINE_FILTER_BLOCK_PART_H_

#include <cstddef>

#include "cairn/types.h"

namespace cairn::filter {

// SHUFFLE and BITSHUFFLE sort a block into planes of bytes. Some items of the block are the same
// piece of every plane: bytes [begin, begin + piece) of each. The pieces one after another are a
// small block, filtered in the same way.
struct BlockPart {
  size_t planes = 1;
  size_t stride = 0;  // from one plane to the next
  size_t begin = 0;   // of the piece, in its plane
  size_t piece = 0;
  size_t skip = 0;  // bytes of the small block, unfiltered, before those that are wanted

  size_t size() const { return planes * piece; }
  // The end of what bytes [from, to) of the filtered block hold of the pieces; `from` if nothing.
  size_t EndWithin(size_t from, size_t to) const;
  // Copies what the bytes from `from` on of the filtered block hold of the pieces to their places
  // in `small`. `held` are these bytes, at least up to EndWithin.
  void Gather(size_t from, Bytes held, MutableBytes small) const;
};

// Bytes [begin, begin + size) of a block that no filter changed.
BlockPart PartOfPlain(size_t block, size_t begin, size_t size);

}  // namespace cairn::filter

#endif  // CAIRN_ENGINE_FILTER_BLOCK_PART_H_
