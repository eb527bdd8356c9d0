#include "engine/frame/read/array_items.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/frame/array/array_fit.h"
#include "engine/frame/read/range_reader.h"
#include "engine/frame/read/scattered_reader.h"

namespace cairn::frame {

namespace {

absl::Status OutsideArray(const State& state, int64_t start, int64_t count) {
  return OutOfRange("%d items from number %d on: there are %d", count, start, CountItems(state));
}

// The largest box of consecutive items that begins with item `at` and ends at `end` or before.
struct ItemBox {
  std::vector<int64_t> start;
  std::vector<int64_t> shape;
  int64_t count = 0;
};

ItemBox BoxAt(std::span<const int64_t> shape, int64_t at, int64_t end) {
  ItemBox box{.start = std::vector<int64_t>(shape.size()),
              .shape = std::vector<int64_t>(shape.size(), 1),
              .count = 1};
  bool joined = true;  // true if all faster dimensions are in the box as a whole
  int64_t rest = at;
  for (size_t d = shape.size(); d-- > 0;) {
    box.start[d] = rest % shape[d];
    rest /= shape[d];
    if (!joined) continue;
    box.shape[d] = std::min(shape[d] - box.start[d], (end - at) / box.count);
    joined = box.shape[d] == shape[d];
    box.count *= box.shape[d];
  }
  return box;
}

}  // namespace

absl::Status ReadArrayItems(const State& state, int64_t start, MutableBytes dst) {
  const int64_t typesize = state.header().typesize;
  const int64_t count = std::ssize(dst) / typesize;
  if (!RangeFits(start, count, CountItems(state))) return OutsideArray(state, start, count);
  if (LiesInOrder(state)) return ReadRange(state, start * typesize, dst);
  CAIRN_RETURN_IF_ERROR(GeometryOf(state).status());
  const std::vector<int64_t>& shape = state.metadata->array->shape;
  for (int64_t at = start; at < start + count;) {
    const ItemBox box = BoxAt(shape, at, start + count);
    const auto size = static_cast<size_t>(box.count * typesize);
    CAIRN_RETURN_IF_ERROR(ReadBox(state, box.start, box.shape, dst.first(size)));
    dst = dst.subspan(size);
    at += box.count;
  }
  return absl::OkStatus();
}

}  // namespace cairn::frame
