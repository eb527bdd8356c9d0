#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/base/names.h"
#include "engine/base/status.h"
#include "engine/filter/filters.h"

namespace cairn::filter {

namespace {

// Returns how many bits of an element may be cleared, or 0 for a typesize that the filter does not
// take.
int BitsAtStake(Filter filter, int32_t typesize) {
  const bool floats = filter == Filter::kTruncPrec;
  switch (typesize) {
    case 1:
    case 2:
      return floats ? 0 : 8 * typesize;
    case 4:
      return floats ? 23 : 32;
    case 8:
      return floats ? 52 : 64;
    default:
      return 0;
  }
}

// Stores for each element what `change` makes of it.
template <typename T, typename Change>
void ForEachElement(Bytes src, MutableBytes dst, Change change) {
  const size_t filtered = src.size() / sizeof(T) * sizeof(T);
  for (size_t i = 0; i < filtered; i += sizeof(T)) {
    StoreLe(&dst[i], static_cast<T>(change(LoadLe<T>(&src[i]))));
  }
  CopyBytes(src.subspan(filtered), dst.subspan(filtered));
}

template <typename T>
void Clear(int bits, Bytes src, MutableBytes dst) {
  const T mask = static_cast<T>(~T{0} << bits);
  ForEachElement<T>(src, dst, [mask](T element) { return element & mask; });
}

// `digits` is the number of bits of a float's fraction.
template <typename T>
void ClearOfFloats(int digits, int bits, Bytes src, MutableBytes dst) {
  const T mask = static_cast<T>(~T{0} << bits);
  const T magnitude = static_cast<T>(~T{0}) >> 1;
  const T infinity = static_cast<T>(magnitude >> digits << digits);
  const T quiet = T{1} << (digits - 1);
  ForEachElement<T>(src, dst, [=](T element) {
    const T kept = element & mask;
    const bool was_nan = (element & magnitude) > infinity;
    return was_nan && (kept & magnitude) == infinity ? kept | quiet : kept;
  });
}

}  // namespace

absl::StatusOr<int> BitsToClear(const FilterStage& stage, int32_t typesize) {
  const int id = static_cast<int>(stage.filter);
  const int all = BitsAtStake(stage.filter, typesize);
  if (all == 0)
    return InvalidArgument("filter id %d%s does not take typesize %d", id, ShownName(stage.filter),
                           typesize);
  const auto meta = static_cast<int8_t>(stage.meta);
  const int bits = meta >= 0 ? all - meta : -meta;
  if (bits < 0 || bits >= all) {
    return InvalidArgument("filter id %d%s: precision %d of typesize %d: expected %d to %d but 0",
                           id, ShownName(stage.filter), meta, typesize, 1 - all, all);
  }
  return bits;
}

void ClearLowBitsOfFloats(size_t typesize, int bits, Bytes src, MutableBytes dst) {
  if (typesize == 8) return ClearOfFloats<uint64_t>(52, bits, src, dst);
  ClearOfFloats<uint32_t>(23, bits, src, dst);
}

void ClearLowBits(size_t typesize, int bits, Bytes src, MutableBytes dst) {
  switch (typesize) {
    case 8:
      return Clear<uint64_t>(bits, src, dst);
    case 4:
      return Clear<uint32_t>(bits, src, dst);
    case 2:
      return Clear<uint16_t>(bits, src, dst);
    default:
      return Clear<uint8_t>(bits, src, dst);
  }
}

}  // namespace cairn::filter
