#include "engine/codec/pco/chunk_encoder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/endian.h"
#include "engine/codec/pco/bit_writer.h"
#include "engine/codec/pco/chunk_meta.h"
#include "engine/codec/pco/deltas.h"
#include "engine/codec/pco/latent_decoder.h"
#include "engine/codec/pco/split.h"

namespace cairn::pco {

namespace {

// Numbers whose cost is estimated, and the runs of neighbours that they are taken in.
constexpr size_t kSample = 2048;
constexpr size_t kRun = 256;
constexpr int kSampleBinsLog = 6;
constexpr int kMostTriedOrders = 4;

template <Latent L>
std::vector<uint64_t> LatentsOf(NumberKind kind, Bytes numbers) {
  std::vector<uint64_t> latents(numbers.size() / sizeof(L));
  for (size_t i = 0; i < latents.size(); ++i) {
    latents[i] = LatentOf<L>(kind, LoadLe<L>(numbers.data() + i * sizeof(L)));
  }
  return latents;
}

std::vector<uint64_t> LatentsOf(NumberType type, Bytes numbers) {
  switch (type.size) {
    case 1:
      return LatentsOf<uint8_t>(type.kind, numbers);
    case 2:
      return LatentsOf<uint16_t>(type.kind, numbers);
    case 4:
      return LatentsOf<uint32_t>(type.kind, numbers);
    default:
      return LatentsOf<uint64_t>(type.kind, numbers);
  }
}

// Returns runs of neighbours from all over the numbers, or all if they are few.
std::vector<uint64_t> SampleOf(std::span<const uint64_t> latents) {
  if (latents.size() <= kSample) return {latents.begin(), latents.end()};
  std::vector<uint64_t> sample;
  constexpr size_t kRuns = kSample / kRun;
  for (size_t i = 0; i < kRuns; ++i) {
    const size_t begin = (latents.size() - kRun) * i / (kRuns - 1);
    sample.insert(sample.end(), latents.begin() + static_cast<int64_t>(begin),
                  latents.begin() + static_cast<int64_t>(begin + kRun));
  }
  return sample;
}

// How the numbers of a chunk are encoded.
struct Plan {
  Splitting splitting;
  int order = 0;
};

// Encodes tANS codes from the last to the first, as a decoder reads them from the first to the
// last.
class BinEncoder {
 public:
  explicit BinEncoder(const LatentVar& var) : table_log_(var.table_log) {
    std::vector<uint16_t> bin_of_state;
    SpreadBins(table_log_, var.bins, bin_of_state);
    places_.resize(var.bins.size() + 1);
    for (size_t i = 0; i < var.bins.size(); ++i) {
      places_[i + 1] = places_[i] + var.bins[i].weight;
      weights_.push_back(var.bins[i].weight);
    }
    states_.resize(bin_of_state.size());
    std::vector<uint32_t> next(places_);
    for (size_t state = 0; state < bin_of_state.size(); ++state) {
      states_[next[bin_of_state[state]]++] = static_cast<uint32_t>(state);
    }
  }

  // Bits that a state leaves behind.
  struct Code {
    uint16_t bits;
    uint8_t count;
  };

  // Moves a state to one of the bin, from [0, size) to [0, size).
  Code Encode(size_t bin, uint32_t& state) const {
    const uint32_t weight = weights_[bin];
    const uint32_t full = state + (uint32_t{1} << table_log_);
    int count = static_cast<int>(std::bit_width(full) - std::bit_width(weight));
    if (full >> count < weight) --count;
    const auto bits = static_cast<uint16_t>(full & ((uint32_t{1} << count) - 1));
    state = states_[places_[bin] + (full >> count) - weight];
    return {.bits = bits, .count = static_cast<uint8_t>(count)};
  }

 private:
  int table_log_;
  std::vector<uint32_t> weights_;
  std::vector<uint32_t> places_;  // where the states of each bin begin
  std::vector<uint32_t> states_;  // of all bins, ascending
};

// The part of a page that belongs to one variable.
struct PageVar {
  std::vector<uint64_t> moments;
  std::array<uint32_t, 4> states = {};
  std::vector<BinEncoder::Code> codes = {};  // by latent; empty if there is one bin
  std::vector<uint16_t> bins = {};           // by latent
  std::span<const uint64_t> latents;
};

class VarEncoder {
 public:
  explicit VarEncoder(const LatentVar& var) : var_(var), encoder_(var) {
    for (const Bin& bin : var.bins) lowers_.push_back(bin.lower);
  }

  PageVar Encode(Deltas deltas) const {
    PageVar page = {.moments = std::move(deltas.moments), .latents = deltas.stored};
    page.bins.resize(page.latents.size());
    if (var_.bins.size() < 2) return page;
    for (size_t i = 0; i < page.latents.size(); ++i) {
      const auto after = std::ranges::upper_bound(lowers_, page.latents[i]);
      CAIRN_DCHECK(after != lowers_.begin());
      page.bins[i] = static_cast<uint16_t>(after - lowers_.begin() - 1);
    }
    page.codes.resize(page.latents.size());
    for (size_t i = page.latents.size(); i-- > 0;) {
      page.codes[i] = encoder_.Encode(page.bins[i], page.states[i % 4]);
    }
    return page;
  }

  void WriteHead(const PageVar& page, BitWriter& out) const {
    for (const uint64_t moment : page.moments) out.Write(moment, var_.bits);
    for (const uint32_t state : page.states) out.Write(state, var_.table_log);
  }

  // Writes a batch from latent `begin` on.
  void WriteBatch(const PageVar& page, size_t begin, BitWriter& out) const {
    const size_t end = std::min(begin + kBatch, page.latents.size());  // deltas are fewer
    if (!page.codes.empty()) {
      for (size_t i = begin; i < end; ++i) out.Write(page.codes[i].bits, page.codes[i].count);
    }
    for (size_t i = begin; i < end; ++i) {
      const Bin& bin = var_.bins[page.bins[i]];
      out.Write(page.latents[i] - bin.lower, bin.offset_bits);
    }
  }

 private:
  const LatentVar& var_;
  BinEncoder encoder_;
  std::vector<uint64_t> lowers_;
};

// The latents of one variable, and what pages store of them.
struct EncodedVar {
  std::vector<uint64_t> latents;
  std::vector<Deltas> pages;

  EncodedVar(std::vector<uint64_t> all, int order, int bits, int64_t page_count)
      : latents(std::move(all)) {
    const auto size = static_cast<size_t>(page_count);
    for (size_t begin = 0; begin < latents.size(); begin += size) {
      const auto page =
          std::span(latents).subspan(begin).first(std::min(size, latents.size() - begin));
      pages.push_back(TakeDeltas(order, bits, page));
    }
  }

  std::vector<uint64_t> Stored() const {
    std::vector<uint64_t> stored;
    for (const Deltas& page : pages) {
      stored.insert(stored.end(), page.stored.begin(), page.stored.end());
    }
    return stored;
  }
};

// Estimates the bits of `count` numbers like those of the sample.
double EstimatePlan(NumberType type, const Plan& plan, std::span<const uint64_t> sample,
                    int64_t count, LatentSorter& sorter) {
  const int bits = 8 * type.size;
  Split split = SplitNumbers(type, plan.splitting, sample);
  // Runs are estimated apart from each other, since they are not neighbours.
  const EncodedVar primary(std::move(split.primary), plan.order, bits, kRun);
  double total = EstimateBits(sorter.Sort(primary.Stored()), bits, kSampleBinsLog, count);
  if (!split.secondary.empty()) {
    total += EstimateBits(sorter.Sort(split.secondary), bits, kSampleBinsLog, count);
  }
  return total;
}

Plan ChoosePlan(NumberType type, std::span<const uint64_t> latents, LatentSorter& sorter) {
  const std::vector<uint64_t> sample = SampleOf(latents);
  const auto count = static_cast<int64_t>(latents.size());
  Plan best;
  double least = std::numeric_limits<double>::max();
  const int64_t most_orders = std::clamp<int64_t>(count - 1, 1, kMostTriedOrders);
  for (const Splitting& splitting : FindSplittings(type, sample)) {
    double before = std::numeric_limits<double>::max();
    for (int order = 0; order < most_orders; ++order) {
      const Plan plan = {.splitting = splitting, .order = order};
      const double bits = EstimatePlan(type, plan, sample, count, sorter);
      if (bits < least) {
        least = bits;
        best = plan;
      }
      // Higher orders do not help once one made it worse.
      if (bits > before) break;
      before = bits;
    }
  }
  return best;
}

}  // namespace

EncodedChunk ChunkEncoder::Encode(NumberType type, Bytes numbers, int64_t page_count, int level) {
  const int bits = 8 * type.size;
  const std::vector<uint64_t> latents = LatentsOf(type, numbers);
  const Plan plan = ChoosePlan(type, latents, sorter_);
  Split split = SplitNumbers(type, plan.splitting, latents);
  EncodedVar primary(std::move(split.primary), plan.order, bits, page_count);
  EncodedVar secondary(std::move(split.secondary), 0, bits, page_count);

  ChunkMeta meta = {.mode = plan.splitting.mode,
                    .mult = plan.splitting.mult,
                    .quant_bits = plan.splitting.quant_bits,
                    .delta = plan.order > 0 ? Delta::kConsecutive : Delta::kNone,
                    .order = plan.order};
  meta.primary = ChooseBins(sorter_.Sort(primary.Stored()), bits, level);
  if (!secondary.latents.empty()) {
    meta.secondary = ChooseBins(sorter_.Sort(secondary.latents), bits, level);
  }

  EncodedChunk chunk;
  WriteChunkMeta(meta, type, chunk.meta);
  const VarEncoder primary_encoder(meta.primary);
  std::optional<VarEncoder> secondary_encoder;
  if (meta.secondary) secondary_encoder.emplace(*meta.secondary);
  for (size_t i = 0; i < primary.pages.size(); ++i) {
    const PageVar first = primary_encoder.Encode(std::move(primary.pages[i]));
    std::optional<PageVar> second;
    if (secondary_encoder) second = secondary_encoder->Encode(std::move(secondary.pages[i]));
    BitWriter out(chunk.pages.emplace_back());
    primary_encoder.WriteHead(first, out);
    if (second) secondary_encoder->WriteHead(*second, out);
    out.Align();
    const size_t most = std::max(first.latents.size(), second ? second->latents.size() : 0);
    for (size_t begin = 0; begin < most; begin += kBatch) {
      primary_encoder.WriteBatch(first, begin, out);
      if (second) secondary_encoder->WriteBatch(*second, begin, out);
    }
  }
  return chunk;
}

}  // namespace cairn::pco
