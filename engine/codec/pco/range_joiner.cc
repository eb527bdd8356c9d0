#include "engine/codec/pco/range_joiner.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "engine/codec/pco/number.h"

namespace cairn::pco {

namespace {

// Bins decode faster if there is one, or if none has offsets: that is worth this many bits a
// latent.
constexpr double kWorthOfSimpleBins = 0.1;

// Returns the logarithm to base 2 of a positive number, within 0.003.
class FastLog2 {
 public:
  FastLog2() {
    for (int i = 0; i < kSteps; ++i) {
      fractions_[static_cast<size_t>(i)] =
          static_cast<float>(std::log2(1 + (i + 0.5) / kSteps) - 127);
    }
  }
  float operator()(float value) const {
    const auto bits = FloatOf<uint32_t>::ToBits(value);
    return static_cast<float>(bits >> 23) + fractions_[bits >> (23 - kStepBits) & (kSteps - 1)];
  }

 private:
  static constexpr int kStepBits = 8;
  static constexpr int kSteps = 1 << kStepBits;
  std::array<float, kSteps> fractions_;
};

const FastLog2& Log2() {
  static const FastLog2 log2;
  return log2;
}

// Returns the bits of one bin that takes `count` of the latents.
float CostOf(float bin_bits, float log_total, int64_t count, uint64_t range) {
  const auto latents = static_cast<float>(count);
  const auto offset = static_cast<float>(std::bit_width(range));
  return bin_bits + (log_total - Log2()(latents) + offset) * latents;
}

}  // namespace

void RangeJoiner::FindBest(float bin_bits, const std::vector<LatentRange>& ranges) {
  const size_t n = ranges.size();
  before_.assign(n + 1, 0);
  lowers_.resize(n);
  for (size_t i = 0; i < n; ++i) {
    before_[i + 1] = before_[i] + static_cast<int32_t>(ranges[i].count);
    lowers_[i] = ranges[i].lower;
  }
  const FastLog2& log2 = Log2();
  const float log_total = log2(static_cast<float>(before_[n]));
  best_.assign(n + 1, 0);
  from_.assign(n + 1, 0);
  for (size_t end = 1; end <= n; ++end) {
    float least = std::numeric_limits<float>::max();
    size_t begin_of_least = 0;
    const uint64_t upper = ranges[end - 1].upper;
    for (size_t begin = end; begin-- > 0;) {
      const auto latents = static_cast<float>(before_[end] - before_[begin]);
      const auto offset =
          static_cast<float>(static_cast<int>(std::bit_width(upper - lowers_[begin])));
      const float bits = best_[begin] + (log_total - log2(latents) + offset) * latents;
      if (bits < least) {
        least = bits;
        begin_of_least = begin;
      }
    }
    best_[end] = least + bin_bits;
    from_[end] = static_cast<uint16_t>(begin_of_least);
  }
}

double RangeJoiner::Join(double bits_of_bin, double scale, std::vector<LatentRange>& ranges) {
  const size_t n = ranges.size();
  const auto bin_bits = static_cast<float>(bits_of_bin / scale);
  FindBest(bin_bits, ranges);
  const auto total = static_cast<float>(before_[n]);
  const float log_total = Log2()(total);
  const float slack = static_cast<float>(kWorthOfSimpleBins) * total;
  const float whole =
      CostOf(bin_bits, log_total, before_[n], ranges[n - 1].upper - ranges[0].lower);
  if (whole < best_[n] + slack) {
    ranges = {{ranges[0].lower, ranges[n - 1].upper, before_[n]}};
    return whole * scale;
  }
  const auto is_one_latent = [](const LatentRange& r) { return r.lower == r.upper; };
  if (std::ranges::all_of(ranges, is_one_latent)) {
    float apart = 0;
    for (const LatentRange& range : ranges) apart += CostOf(bin_bits, log_total, range.count, 0);
    if (apart < best_[n] + slack) return apart * scale;
  }
  // The joined ranges are written from the last place on, where no range is needed any more.
  size_t to = n;
  for (size_t end = n; end > 0; end = from_[end]) {
    const size_t begin = from_[end];
    ranges[--to] = {ranges[begin].lower, ranges[end - 1].upper, before_[end] - before_[begin]};
  }
  ranges.erase(ranges.begin(), ranges.begin() + static_cast<int64_t>(to));
  return best_[n] * scale;
}

}  // namespace cairn::pco
