#include <algorithm>
#include <cstdint>

#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/filter/filters.h"

namespace cairn::filter {

namespace {

// Returns how many bytes are coded as one unit.
size_t UnitOf(size_t typesize) {
  if (typesize % 8 == 0) return 8;
  return typesize == 2 || typesize == 4 ? typesize : 1;
}

// Computes dst = a XOR b over all of b, and copies the rest of a.
void XorBytes(Bytes a, Bytes b, MutableBytes dst) {
  for (size_t i = 0; i < b.size(); ++i) dst[i] = a[i] ^ b[i];
  CopyBytes(a.subspan(b.size()), dst.subspan(b.size()));
}

// Returns the part of the reference that src is coded against.
Bytes Covering(Bytes reference, Bytes src, size_t unit) {
  return reference.first(std::min(reference.size(), src.size() / unit * unit));
}

template <typename T>
void RunningXor(Bytes src, MutableBytes dst) {
  const size_t filtered = src.size() / sizeof(T) * sizeof(T);
  T value = 0;
  for (size_t i = 0; i < filtered; i += sizeof(T)) {
    value = static_cast<T>(value ^ LoadLe<T>(&src[i]));
    StoreLe(&dst[i], value);
  }
  CopyBytes(src.subspan(filtered), dst.subspan(filtered));
}

}  // namespace

void DeltaForward(size_t typesize, Bytes src, Bytes reference, MutableBytes dst) {
  const size_t unit = UnitOf(typesize);
  if (!reference.empty()) return XorBytes(src, Covering(reference, src, unit), dst);
  if (src.size() < unit) return CopyBytes(src, dst);
  // XOR does not depend on units: each byte is combined with the one that lies a unit before.
  CopyBytes(src.first(unit), dst);
  const Bytes later = src.subspan(unit);
  XorBytes(later, Covering(src, later, unit), dst.subspan(unit));
}

void DeltaBackward(size_t typesize, Bytes src, Bytes reference, MutableBytes dst) {
  const size_t unit = UnitOf(typesize);
  if (!reference.empty()) return XorBytes(src, Covering(reference, src, unit), dst);
  switch (unit) {
    case 8:
      return RunningXor<uint64_t>(src, dst);
    case 4:
      return RunningXor<uint32_t>(src, dst);
    case 2:
      return RunningXor<uint16_t>(src, dst);
    default:
      return RunningXor<uint8_t>(src, dst);
  }
}

}  // namespace cairn::filter
