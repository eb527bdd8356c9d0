#include "engine/codec/pco/bins.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace cairn::pco {

namespace {

// A gather makes the tables of a block for a few pages, and small tables stay in the cache. That is
// worth this many bits a latent. From 0.001 to 0.008 streams have about the same size, because
// pages also store states.
constexpr double kWorthOfSmallTable = 0.008;

int BitsOf(uint64_t value) { return static_cast<int>(std::bit_width(value)); }

// Cuts sorted latents into at most 2^bins_log ranges. Equal latents are in one range, and a latent
// that is frequent enough has one of its own.
template <Latent L>
void CutIntoRanges(std::span<const L> sorted, int bins_log, std::vector<LatentRange>& ranges) {
  ranges.clear();
  const size_t most = size_t{1} << bins_log;
  const size_t share = std::max<size_t>((sorted.size() + most - 1) / most, 1);
  const auto add = [&](size_t begin, size_t end) {
    ranges.push_back({sorted[begin], sorted[end - 1], static_cast<int64_t>(end - begin)});
  };
  for (size_t begin = 0; begin < sorted.size();) {
    // A frequent latent that begins in this range is the last of it.
    const size_t last = std::min(begin + share, sorted.size()) - 1;
    const L latent = sorted[last];
    size_t first = last;
    while (first > begin && sorted[first - 1] == latent) --first;
    size_t step = 1;
    size_t end = last + 1;
    while (end + step <= sorted.size() && sorted[end + step - 1] == latent) {
      end += step;
      step *= 2;
    }
    for (; step > 0; step /= 2) {
      if (end + step <= sorted.size() && sorted[end + step - 1] == latent) end += step;
    }
    if (first > begin && end - first >= share) {
      add(begin, first);
      begin = first;
    }
    add(begin, end);
    begin = end;
  }
}

// The bits of one bin in the metadata of a chunk.
double BitsOfBin(int bits, int table_log) {
  return table_log + bits + BitsOf(static_cast<uint64_t>(bits));
}

// Gives each range a weight of at least 1, about in proportion to its count. They add up to 2^log.
std::vector<uint32_t> WeightsOf(const std::vector<LatentRange>& ranges, int log) {
  const int64_t size = int64_t{1} << log;
  int64_t total = 0;
  for (const LatentRange& range : ranges) total += range.count;
  std::vector<uint32_t> weights;
  int64_t sum = 0;
  for (const LatentRange& range : ranges) {
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

int LeastTableLog(size_t bins) { return bins < 2 ? 0 : BitsOf(bins - 1); }

int MaxTableLog(size_t bins, int bins_log, int64_t count) {
  if (bins < 2) return 0;
  const int useful = std::min({bins_log + 2, kMaxTableLog, BitsOf(static_cast<uint64_t>(count))});
  return std::max(LeastTableLog(bins), useful);
}

int ExpectedTableLog(int bins_log, int64_t count) {
  return MaxTableLog(size_t{1} << bins_log, bins_log, count);
}

// Returns the bits that the codes of all latents take.
double BitsOfCodes(const std::vector<LatentRange>& ranges, const std::vector<uint32_t>& weights,
                   int table_log) {
  double bits = 0;
  for (size_t i = 0; i < ranges.size(); ++i) {
    bits += static_cast<double>(ranges[i].count) * (table_log - std::log2(weights[i]));
  }
  return bits;
}

// Returns the weights in the least table whose codes are hardly longer than in the greatest.
std::vector<uint32_t> ChooseWeights(const std::vector<LatentRange>& ranges, int bins_log,
                                    int64_t count, int& table_log) {
  const int most = MaxTableLog(ranges.size(), bins_log, count);
  std::vector<uint32_t> best = WeightsOf(ranges, most);
  const double enough =
      BitsOfCodes(ranges, best, most) + kWorthOfSmallTable * static_cast<double>(count);
  for (table_log = LeastTableLog(ranges.size()); table_log < most; ++table_log) {
    std::vector<uint32_t> weights = WeightsOf(ranges, table_log);
    if (BitsOfCodes(ranges, weights, table_log) <= enough) return weights;
  }
  return best;
}

}  // namespace

template <Latent L>
LatentVar BinChooser<L>::Choose(int bins_log, std::span<L> latents) {
  LatentVar var = {.bits = kBits<L>};
  if (latents.empty()) return var;
  const auto count = static_cast<int64_t>(latents.size());
  sorter_.Sort(latents);
  CutIntoRanges<L>(latents, bins_log, ranges_);
  joiner_.Join(BitsOfBin(kBits<L>, ExpectedTableLog(bins_log, count)), 1, ranges_);
  const std::vector<uint32_t> weights = ChooseWeights(ranges_, bins_log, count, var.table_log);
  for (size_t i = 0; i < weights.size(); ++i) {
    const LatentRange& range = ranges_[i];
    var.bins.push_back({.weight = weights[i],
                        .lower = range.lower,
                        .offset_bits = BitsOf(range.upper - range.lower)});
  }
  return var;
}

template <Latent L>
double BinChooser<L>::EstimateBits(int bins_log, int64_t count, std::span<L> latents) {
  if (latents.empty()) return 0;
  sorter_.Sort(latents);
  CutIntoRanges<L>(latents, bins_log, ranges_);
  return joiner_.Join(BitsOfBin(kBits<L>, ExpectedTableLog(bins_log, count)),
                      static_cast<double>(count) / static_cast<double>(latents.size()), ranges_);
}

template class BinChooser<uint8_t>;
template class BinChooser<uint16_t>;
template class BinChooser<uint32_t>;
template class BinChooser<uint64_t>;

}  // namespace cairn::pco
