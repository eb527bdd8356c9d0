#include "engine/base/bytes.h"
#include "engine/base/endian.h"
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

template <typename T>
void Clear(int bits, Bytes src, MutableBytes dst) {
  const T mask = static_cast<T>(~T{0} << bits);
  const size_t filtered = src.size() / sizeof(T) * sizeof(T);
  for (size_t i = 0; i < filtered; i += sizeof(T)) {
    StoreLe(&dst[i], static_cast<T>(LoadLe<T>(&src[i]) & mask));
  }
  CopyBytes(src.subspan(filtered), dst.subspan(filtered));
}

}  // namespace

absl::StatusOr<int> BitsToClear(const FilterStage& stage, int32_t typesize) {
  const int id = static_cast<int>(stage.filter);
  const int all = BitsAtStake(stage.filter, typesize);
  if (all == 0) return InvalidArgument("filter id %d does not take typesize %d", id, typesize);
  const auto meta = static_cast<int8_t>(stage.meta);
  const int bits = meta >= 0 ? all - meta : -meta;
  if (bits < 0 || bits >= all) {
    return InvalidArgument("filter id %d: precision %d of typesize %d: expected %d to %d but 0", id,
                           meta, typesize, 1 - all, all);
  }
  return bits;
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
