#include "engine/frame/gather.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "engine/base/status.h"
#include "engine/frame/block_cursor.h"
#include "engine/frame/chunk_reader.h"

namespace cairn::frame {

namespace {

// Finds each byte's chunk on the way from one item to the next.
class ItemCursor {
 public:
  explicit ItemCursor(const State& state) : state_(state), blocks_(state) {}

  absl::Status Read(int64_t position, MutableBytes dst) {
    if (position < chunk_begin_ || position >= chunk_begin_ + blocks_.nbytes()) {
      CAIRN_ASSIGN_OR_RETURN(const ChunkStarts::Place at, FindByte(state_, position));
      CAIRN_RETURN_IF_ERROR(blocks_.MoveTo(at.nchunk));
      chunk_begin_ = at.begin;
    }
    const int64_t begin = position - chunk_begin_;
    const bool crosses = begin + static_cast<int64_t>(dst.size()) > blocks_.nbytes();
    return crosses ? ReadRange(state_, position, dst) : blocks_.Read(begin, dst);
  }

 private:
  const State& state_;
  BlockCursor blocks_;
  int64_t chunk_begin_ = 0;
};

}  // namespace

absl::Status GatherItems(const State& state, std::span<const int64_t> items, MutableBytes dst) {
  const int64_t typesize = state.header.typesize;
  if (dst.size() / static_cast<size_t>(typesize) != items.size() ||
      dst.size() % static_cast<size_t>(typesize) != 0) {
    return InvalidArgument("a buffer of %d bytes does not hold %d items of %d", dst.size(),
                           items.size(), typesize);
  }
  const int64_t nitems = state.info.nbytes / typesize;
  std::vector<size_t> order(items.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return items[i]; });
  ItemCursor cursor(state);
  for (const size_t i : order) {
    if (items[i] < 0 || items[i] >= nitems) return OutOfRange("item %d of %d", items[i], nitems);
    CAIRN_RETURN_IF_ERROR(
        cursor.Read(items[i] * typesize,
                    dst.subspan(i * static_cast<size_t>(typesize), static_cast<size_t>(typesize))));
  }
  return absl::OkStatus();
}

}  // namespace cairn::frame
