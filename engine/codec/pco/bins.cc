#include "engine/codec/pco/bins.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/base/check.h"

namespace cairn::pco {

namespace {

// A run of sorted latents.
struct Range {
  uint64_t lower;
  uint64_t upper;
  int64_t count;
};

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
    const auto bits = std::bit_cast<uint32_t>(value);
    return static_cast<float>(bits >> 23) + fractions_[bits >> (23 - kStepBits) & (kSteps - 1)];
  }

 private:
  static constexpr int kStepBits = 8;
  static constexpr int kSteps = 1 << kStepBits;
  std::array<float, kSteps> fractions_;
};

int BitsOf(uint64_t value) { return static_cast<int>(std::bit_width(value)); }

// Cuts sorted latents into at most 2^bins_log ranges. Equal latents are in one range, and a latent
// that is frequent enough has one of its own.
std::vector<Range> CutIntoRanges(std::span<const uint64_t> sorted, int bins_log) {
  std::vector<Range> ranges;
  const size_t most = size_t{1} << bins_log;
  const size_t share = std::max<size_t>((sorted.size() + most - 1) / most, 1);
  size_t begin = 0;  // of the range that is being made
  for (size_t i = 0; i < sorted.size();) {
    size_t end = i + 1;
    while (end < sorted.size() && sorted[end] == sorted[i]) ++end;
    const bool frequent = end - i >= share;
    if (frequent && begin < i) {
      ranges.push_back({sorted[begin], sorted[i - 1], static_cast<int64_t>(i - begin)});
      begin = i;
    }
    if (frequent || end - begin >= share || end == sorted.size()) {
      ranges.push_back({sorted[begin], sorted[i], static_cast<int64_t>(end - begin)});
      begin = end;
    }
    i = end;
  }
  return ranges;
}

// The bits of one bin in the metadata of a chunk.
double BitsOfBin(int bits, int table_log) {
  return table_log + bits + BitsOf(static_cast<uint64_t>(bits));
}

// Joins neighbours so that the bins and their latents take the fewest bits in all. `scale` is how
// many latents each stands for. Returns the joined ranges and the bits.
struct Joined {
  std::vector<Range> ranges;
  double bits = 0;
};

Joined JoinRanges(const std::vector<Range>& ranges, double bits_of_bin, double scale) {
  const size_t n = ranges.size();
  std::vector<int64_t> before(n + 1, 0);  // latents before each range
  for (size_t i = 0; i < n; ++i) before[i + 1] = before[i] + ranges[i].count;
  const auto total = static_cast<float>(before[n]);
  static const FastLog2 log2;
  const float log_total = log2(total);
  // best[i]: the bits of the ranges before i; from[i]: where the last bin of these begins.
  std::vector<float> best(n + 1, 0);
  std::vector<size_t> from(n + 1, 0);
  const auto bin_bits = static_cast<float>(bits_of_bin / scale);
  const auto cost = [&](size_t begin, size_t end) {
    const auto count = static_cast<float>(before[end] - before[begin]);
    const auto offset = static_cast<float>(BitsOf(ranges[end - 1].upper - ranges[begin].lower));
    return bin_bits + (log_total - log2(count) + offset) * count;
  };
  for (size_t end = 1; end <= n; ++end) {
    best[end] = std::numeric_limits<float>::max();
    for (size_t begin = end; begin-- > 0;) {
      const float bits = best[begin] + cost(begin, end);
      if (bits < best[end]) {
        best[end] = bits;
        from[end] = begin;
      }
    }
  }
  Joined joined;
  const float slack = static_cast<float>(kWorthOfSimpleBins) * total;
  const float whole = cost(0, n);
  const bool trivial =
      std::ranges::all_of(ranges, [](const Range& r) { return r.lower == r.upper; });
  float apart = 0;
  for (size_t i = 0; trivial && i < n; ++i) apart += cost(i, i + 1);
  if (whole < best[n] + slack) {
    joined.ranges = {{ranges[0].lower, ranges[n - 1].upper, before[n]}};
    joined.bits = whole * scale;
  } else if (trivial && apart < best[n] + slack) {
    joined.ranges = ranges;
    joined.bits = apart * scale;
  } else {
    for (size_t end = n; end > 0; end = from[end]) {
      const size_t begin = from[end];
      joined.ranges.push_back(
          {ranges[begin].lower, ranges[end - 1].upper, before[end] - before[begin]});
    }
    std::ranges::reverse(joined.ranges);
    joined.bits = best[n] * scale;
  }
  return joined;
}

// Gives each range a weight of at least 1, about in proportion to its count. They add up to 2^log.
std::vector<uint32_t> WeightsOf(const std::vector<Range>& ranges, int log) {
  const int64_t size = int64_t{1} << log;
  int64_t total = 0;
  for (const Range& range : ranges) total += range.count;
  std::vector<uint32_t> weights;
  int64_t sum = 0;
  for (const Range& range : ranges) {
    const double exact =
        static_cast<double>(range.count) * static_cast<double>(size) / static_cast<double>(total);
    weights.push_back(static_cast<uint32_t>(std::max(std::lround(exact), 1L)));
    sum += weights.back();
  }
  // States that are missing or too many go where they change the size least: one state costs
  // about count / weight bits.
  const auto price = [&](size_t i) { return static_cast<double>(ranges[i].count) / weights[i]; };
  while (sum != size) {
    const bool grow = sum < size;
    size_t chosen = ranges.size();
    for (size_t i = 0; i < ranges.size(); ++i) {
      if (!grow && weights[i] == 1) continue;
      if (chosen == ranges.size() || (grow ? price(i) > price(chosen) : price(i) < price(chosen))) {
        chosen = i;
      }
    }
    weights[chosen] += grow ? 1 : -1;
    sum += grow ? 1 : -1;
  }
  return weights;
}

int TableLog(size_t bins, int bins_log, int64_t count) {
  if (bins < 2) return 0;
  const int least = BitsOf(bins - 1);
  const int useful = std::min({bins_log + 2, kMaxTableLog, BitsOf(static_cast<uint64_t>(count))});
  return std::max(least, useful);
}

int ExpectedTableLog(int bins_log, int64_t count) {
  return TableLog(size_t{1} << bins_log, bins_log, count);
}

}  // namespace

std::span<const uint64_t> LatentSorter::Sort(std::span<const uint64_t> latents) {
  constexpr int kDigit = 11;
  constexpr size_t kBuckets = size_t{1} << kDigit;
  sorted_.assign(latents.begin(), latents.end());
  if (latents.size() < kBuckets / 8) {
    std::ranges::sort(sorted_);
    return sorted_;
  }
  other_.resize(latents.size());
  const auto [least, greatest] = std::ranges::minmax(latents);
  const uint64_t base = least;
  for (int shift = 0; shift < 64 && (greatest - base) >> shift != 0; shift += kDigit) {
    std::array<uint32_t, kBuckets> place = {};
    const auto digit = [&](uint64_t value) { return (value - base) >> shift & (kBuckets - 1); };
    for (const uint64_t value : sorted_) ++place[digit(value)];
    uint32_t sum = 0;
    for (uint32_t& begin : place) begin = std::exchange(sum, sum + begin);
    for (const uint64_t value : sorted_) other_[place[digit(value)]++] = value;
    sorted_.swap(other_);
  }
  return sorted_;
}

LatentVar ChooseBins(std::span<const uint64_t> sorted, int bits, int bins_log) {
  LatentVar var = {.bits = bits};
  if (sorted.empty()) return var;
  const auto count = static_cast<int64_t>(sorted.size());
  const Joined joined = JoinRanges(CutIntoRanges(sorted, bins_log),
                                   BitsOfBin(bits, ExpectedTableLog(bins_log, count)), 1);
  var.table_log = TableLog(joined.ranges.size(), bins_log, count);
  std::vector<uint32_t> weights = WeightsOf(joined.ranges, var.table_log);
  // Weights that are all even need half the states.
  while (var.table_log > 0 &&
         std::ranges::none_of(weights, [](uint32_t w) { return w % 2 != 0; })) {
    for (uint32_t& weight : weights) weight /= 2;
    --var.table_log;
  }
  for (size_t i = 0; i < weights.size(); ++i) {
    const Range& range = joined.ranges[i];
    var.bins.push_back({.weight = weights[i],
                        .lower = range.lower,
                        .offset_bits = BitsOf(range.upper - range.lower)});
  }
  return var;
}

double EstimateBits(std::span<const uint64_t> sorted, int bits, int bins_log, int64_t count) {
  if (sorted.empty()) return 0;
  return JoinRanges(CutIntoRanges(sorted, bins_log),
                    BitsOfBin(bits, ExpectedTableLog(bins_log, count)),
                    static_cast<double>(count) / static_cast<double>(sorted.size()))
      .bits;
}

}  // namespace cairn::pco
