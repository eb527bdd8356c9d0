#include "engine/codec/pco/chunk_encoder.h"

#include <algorithm>

#include "engine/base/check.h"
#include "engine/codec/pco/bins.h"
#include "engine/codec/pco/bit_writer.h"
#include "engine/codec/pco/chunk_meta.h"
#include "engine/codec/pco/encode_kernels.h"
#include "engine/codec/pco/page_encoder.h"
#include "engine/codec/pco/planner.h"

namespace cairn::pco {

namespace {

template <Latent L>
class ChunkEncoderOf final : public ChunkEncoder {
 public:
  const EncodedChunk& Encode(std::span<const NumberKind> kinds, Bytes numbers, int64_t page_count,
                             int level) override {
    CAIRN_DCHECK(numbers.size() % sizeof(L) == 0);
    const Plan plan = ChoosePlan(kinds, numbers, page_count);
    const bool classic = plan.splitting.mode == Mode::kClassic;
    primary_.resize(latents_.size());
    secondary_.resize(classic ? 0 : latents_.size());
    if (!classic) {
      kernels_.split(plan.splitting, latents_, primary_.data(), secondary_.data());
      latents_.swap(primary_);
    }
    TakeDeltas(plan.order, static_cast<size_t>(page_count));
    ChunkMeta meta = {.mode = plan.splitting.mode,
                      .mult = plan.splitting.mult,
                      .quant_bits = plan.splitting.quant_bits,
                      .delta = plan.order > 0 ? Delta::kConsecutive : Delta::kNone,
                      .order = plan.order};
    sorted_ = primary_;
    meta.primary = bins_.Choose(level, sorted_);
    primary_pages_.BeginChunk(meta.primary, primary_);
    if (!classic) {
      sorted_ = secondary_;
      meta.secondary = bins_.Choose(level, sorted_);
      secondary_pages_.BeginChunk(*meta.secondary, secondary_);
    }
    chunk_.meta.clear();
    WriteChunkMeta(meta, {.kind = chunk_.kind, .size = sizeof(L)}, chunk_.meta);
    WritePages(numbers.size() / sizeof(L), static_cast<size_t>(page_count),
               static_cast<size_t>(plan.order), !classic);
    return chunk_;
  }

 private:
  // Loads the latents of the numbers as those of the best kind.
  Plan ChoosePlan(std::span<const NumberKind> kinds, Bytes numbers, int64_t page_count) {
    latents_.resize(numbers.size() / sizeof(L));
    Plan best;
    NumberKind loaded = kinds[0];
    for (const NumberKind kind : kinds) {
      kernels_.load(kind, numbers.data(), latents_);
      loaded = kind;
      const Plan plan = planner_.Choose(kind, latents_, page_count);
      if (plan.bits >= best.bits && kind != kinds[0]) continue;
      best = plan;
      chunk_.kind = kind;
    }
    if (loaded != chunk_.kind) kernels_.load(chunk_.kind, numbers.data(), latents_);
    return best;
  }

  // Writes the deltas of latents_ that pages store to primary_, and their moments.
  void TakeDeltas(int order, size_t page_count) {
    moments_.clear();
    if (order == 0) {
      primary_.swap(latents_);
      return;
    }
    size_t stored = 0;
    for (size_t begin = 0; begin < latents_.size(); begin += page_count) {
      std::span<L> page = std::span(latents_).subspan(begin);
      page = page.first(std::min(page_count, page.size()));
      // A page stores a moment for each order, also if it has fewer numbers.
      for (int i = 0; i < order; ++i) {
        moments_.push_back(page.empty() ? L{0} : page[0]);
        if (page.empty()) continue;
        kernels_.differ(page, i + 1 == order ? kMid<L> : L{0}, page.data());
        page = page.first(page.size() - 1);
      }
      std::ranges::copy(page, primary_.begin() + static_cast<int64_t>(stored));
      stored += page.size();
    }
    primary_.resize(stored);
  }

  void WritePages(size_t numbers, size_t page_count, size_t order, bool has_secondary) {
    chunk_.page_sizes.clear();
    size_t written = 0;
    size_t page = 0;
    for (size_t begin = 0; begin < numbers; begin += page_count, ++page) {
      const size_t count = std::min(page_count, numbers - begin);
      const size_t most =
          primary_pages_.MaxBytes(count) + (has_secondary ? secondary_pages_.MaxBytes(count) : 0);
      if (chunk_.pages.size() < written + most) {
        chunk_.pages.resize(std::max(written + most, 2 * chunk_.pages.size()));
      }
      std::byte* const start = chunk_.pages.data() + written;
      BitSink out(start);
      primary_pages_.BeginPage(count - std::min(count, order));
      primary_pages_.WriteHead(std::span(moments_).subspan(page * order, order), out);
      if (has_secondary) {
        secondary_pages_.BeginPage(count);
        secondary_pages_.WriteHead({}, out);
      }
      out.Align();
      for (size_t batch = 0; batch < count; batch += kBatch) {
        primary_pages_.WriteBatch(batch, out);
        if (has_secondary) secondary_pages_.WriteBatch(batch, out);
      }
      chunk_.page_sizes.push_back(static_cast<size_t>(out.Align() - start));
      written += chunk_.page_sizes.back();
    }
  }

  const EncodeKernels<L>& kernels_ = EncodeKernelsFor<L>();
  Planner<L> planner_;
  BinChooser<L> bins_;
  PageEncoder<L> primary_pages_;
  PageEncoder<L> secondary_pages_;
  std::vector<L> latents_;
  std::vector<L> primary_;  // those that pages store
  std::vector<L> secondary_;
  std::vector<L> moments_;  // by page and order
  std::vector<L> sorted_;
  EncodedChunk chunk_;
};

}  // namespace

std::unique_ptr<ChunkEncoder> ChunkEncoder::Make(int size) {
  switch (size) {
    case 1:
      return std::make_unique<ChunkEncoderOf<uint8_t>>();
    case 2:
      return std::make_unique<ChunkEncoderOf<uint16_t>>();
    case 4:
      return std::make_unique<ChunkEncoderOf<uint32_t>>();
    default:
      CAIRN_DCHECK(size == 8);
      return std::make_unique<ChunkEncoderOf<uint64_t>>();
  }
}

}  // namespace cairn::pco
