#include "engine/filter/block_part.h"

#include <algorithm>

#include "engine/base/bytes.h"

namespace cairn::filter {

size_t BlockPart::EndWithin(size_t from, size_t to) const {
  if (to <= begin) return from;
  const size_t last = std::min(planes - 1, (to - 1 - begin) / stride);
  return std::max(from, std::min(to, last * stride + begin + piece));
}

void BlockPart::Gather(size_t from, Bytes held, MutableBytes small) const {
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

BlockPart PartOfPlain(size_t block, size_t begin, size_t size) {
  return {.planes = 1, .stride = block, .begin = begin, .piece = size, .skip = 0};
}

}  // namespace cairn::filter
