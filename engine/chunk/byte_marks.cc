#include "engine/chunk/byte_marks.h"

#include "engine/base/kernel_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/chunk/byte_marks.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "engine/base/check.h"
#include "engine/base/endian.h"

HWY_BEFORE_NAMESPACE();
namespace cairn::chunk::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void MarkLines(const uint8_t* bytes, size_t lines, const BytePattern& pattern, uint64_t* marks) {
  const hn::CappedTag<uint8_t, kLine> d;
  const size_t lanes = hn::Lanes(d);
  const auto mask = hn::Set(d, pattern.mask);
  const auto next_mask = hn::Set(d, pattern.next_mask);
  const auto value = hn::Set(d, pattern.value);
  const auto difference = [&](size_t i) HWY_ATTR {
    return hn::Or(hn::And(hn::Xor(hn::LoadU(d, bytes + i), value), mask),
                  hn::And(hn::Xor(hn::LoadU(d, bytes + i + 1), value), next_mask));
  };
  for (size_t line = 0; line < lines; ++line, bytes += kLine) {
    marks[line] = 0;
    for (size_t i = 0; i < kLine; i += lanes) {
      std::byte bits[8] = {};
      hn::StoreMaskBits(d, hn::Eq(difference(i), hn::Zero(d)), reinterpret_cast<uint8_t*>(bits));
      marks[line] |= LoadLe<uint64_t>(bits) << i;
    }
  }
}

}  // namespace cairn::chunk::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cairn::chunk {

namespace {
CAIRN_EXPORT_KERNEL(MarkLines);
}  // namespace

size_t MarkBytes(Bytes bytes, const BytePattern& pattern, std::span<uint64_t> marks) {
  const size_t lines = bytes.empty() ? 0 : (bytes.size() - 1) / kLine;
  CAIRN_DCHECK(lines <= marks.size());
  CAIRN_KERNEL(MarkLines)
  (reinterpret_cast<const uint8_t*>(bytes.data()), lines, pattern, marks.data());
  return lines;
}

}  // namespace cairn::chunk
#endif  // HWY_ONCE
