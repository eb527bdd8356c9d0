#include <cstdint>

#include "engine/base/kernel_targets.h"
#include "engine/filter/filters.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/filter/bytedelta.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "engine/base/bytes.h"

HWY_BEFORE_NAMESPACE();
namespace cairn::filter::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Computes dst[i] = src[0] + ... + src[i], modulo 256.
void PrefixSums(Bytes src, MutableBytes dst) {
  const auto* from = reinterpret_cast<const uint8_t*>(src.data());
  auto* to = reinterpret_cast<uint8_t*>(dst.data());
  size_t i = 0;
  uint8_t sum = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::FixedTag<uint8_t, 16> d;
  const auto last = hn::Set(d, 15);
  auto before = hn::Zero(d);
  for (; i + 16 <= src.size(); i += 16) {
    auto sums = hn::LoadU(d, from + i);
    sums = hn::Add(sums, hn::ShiftLeftBytes<1>(d, sums));
    sums = hn::Add(sums, hn::ShiftLeftBytes<2>(d, sums));
    sums = hn::Add(sums, hn::ShiftLeftBytes<4>(d, sums));
    sums = hn::Add(sums, hn::ShiftLeftBytes<8>(d, sums));
    sums = hn::Add(sums, before);
    hn::StoreU(sums, d, to + i);
    before = hn::TableLookupBytes(sums, last);
  }
  sum = hn::GetLane(before);
#endif
  for (; i < src.size(); ++i) {
    sum = static_cast<uint8_t>(sum + from[i]);
    to[i] = sum;
  }
}

}  // namespace cairn::filter::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cairn::filter {

namespace {

CAIRN_EXPORT_KERNEL(PrefixSums);

void Differences(Bytes src, MutableBytes dst) {
  if (src.empty()) return;
  dst[0] = src[0];
  for (size_t i = 1; i < src.size(); ++i) {
    dst[i] =
        static_cast<std::byte>(std::to_integer<int>(src[i]) - std::to_integer<int>(src[i - 1]));
  }
}

// Calls f(source, destination) for each channel and copies the rest.
template <typename F>
void ForEachChannel(size_t channels, Bytes src, MutableBytes dst, const F& f) {
  const size_t size = src.size() / channels;
  const size_t coded = size * channels;
  for (size_t at = 0; at < coded; at += size) f(src.subspan(at, size), dst.subspan(at, size));
  CopyBytes(src.subspan(coded), dst.subspan(coded));
}

}  // namespace

void ByteDeltaForward(size_t channels, Bytes src, MutableBytes dst) {
  ForEachChannel(channels, src, dst, Differences);
}

void ByteDeltaBackward(size_t channels, Bytes src, MutableBytes dst) {
  ForEachChannel(channels, src, dst, CAIRN_KERNEL(PrefixSums));
}

void ByteDeltaBuggyBackward(size_t channels, Bytes src, MutableBytes dst) {
  const auto sums = CAIRN_KERNEL(PrefixSums);
  ForEachChannel(channels, src, dst, [sums](Bytes from, MutableBytes to) {
    const size_t restart = from.size() / 16 * 16;
    sums(from.first(restart), to.first(restart));
    sums(from.subspan(restart), to.subspan(restart));
  });
}

}  // namespace cairn::filter
#endif  // HWY_ONCE
