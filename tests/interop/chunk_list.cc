#include "tests/interop/chunk_list.h"

#include <algorithm>
#include <numeric>

namespace cairn::interop {

Buffer Join(const ChunkList& chunks) {
  Buffer joined;
  for (const Buffer& chunk : chunks) joined.insert(joined.end(), chunk.begin(), chunk.end());
  return joined;
}

std::vector<int64_t> MakeOrder(const ChunkList& chunks, Random& random) {
  std::vector<int64_t> order(chunks.size());
  std::iota(order.begin(), order.end(), 0);
  const bool keep_last = !chunks.empty() && chunks.back().size() != chunks.front().size();
  std::shuffle(order.begin(), order.end() - (keep_last ? 1 : 0), random);
  return order;
}

ChunkList Reordered(const ChunkList& chunks, std::span<const int64_t> order) {
  ChunkList moved;
  for (const int64_t i : order) moved.push_back(chunks[static_cast<size_t>(i)]);
  return moved;
}

Buffer NonzeroItems(int64_t nitems, int32_t typesize, Random& random) {
  return MakeData(DataKind::kRandom, static_cast<size_t>(nitems * typesize), typesize, random);
}

}  // namespace cairn::interop
