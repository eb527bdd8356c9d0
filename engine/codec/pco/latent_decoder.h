// Decodes one latent variable: tANS codes that name bins, and offsets in these.
#ifndef CAIRN_ENGINE_CODEC_PCO_LATENT_DECODER_H_
#define CAIRN_ENGINE_CODEC_PCO_LATENT_DECODER_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"

#include "engine/codec/pco/bit_reader.h"
#include "engine/codec/pco/chunk_meta.h"
#include "engine/codec/pco/latent_kernels.h"
#include "engine/codec/pco/number.h"

namespace cairn::pco {

// Finds the bin of each state of a table. The bins are spread over the states in a fixed order,
// which the format prescribes.
void SpreadBins(int table_log, std::span<const Bin> bins, std::vector<uint16_t>& bin_of_state);

template <Latent L>
using Batch = std::array<L, kBatch>;

// Decodes pages one after the other. L is the type of these latents. Keeps its memory from chunk to
// chunk.
template <Latent L>
class LatentDecoder {
 public:
  // Makes the tables of a chunk. `meta` must stay as it is until the next chunk; `var` is one of
  // its variables. If it is the last one, nothing of a batch follows it.
  void BeginChunk(const ChunkMeta& meta, const LatentVar& var, bool is_last);

  // Reads what a page of `count` numbers begins with. Errors: kDataLoss if the page is too short,
  // or if there are latents but no bins.
  absl::Status BeginPage(int64_t count, BitReader& in);

  // Decodes latents [begin, end) of the next batch of the page, which has kBatch of them, or those
  // that are left. They get to their places in `out`. If there are others after them in the batch,
  // no other batch may follow. `lookbacks` are those of the batch, and are empty if the chunk has
  // none. Errors: kDataLoss if one leads out of the window.
  absl::Status NextBatch(std::span<const uint32_t> lookbacks, BitReader& in, size_t begin,
                         size_t end, Batch<L>& out);

  // Passes the next batch over, and decodes only what later ones need of it. Errors are those of
  // NextBatch.
  absl::Status SkipBatch(std::span<const uint32_t> lookbacks, BitReader& in);

 private:
  // Returns true if the sum of all earlier deltas is what a later batch needs of them.
  bool HasSums() const { return meta_->delta == Delta::kConsecutive && state_count_ == 1; }
  size_t BatchSize() const { return static_cast<size_t>(std::min<int64_t>(left_, kBatch)); }
  // Returns how many of the batch are stored.
  size_t StoredSize() const {
    return static_cast<size_t>(std::clamp<int64_t>(left_ - state_count_, 0, kBatch));
  }
  // Decodes what is stored of a batch, which are deltas if the variable has them. Only the first
  // `wanted` count. If these are some but not all, no other batch follows.
  void DecodeStored(BitReader& in, size_t wanted, std::span<L> out);
  void SumPredictions(std::span<L> deltas);
  absl::Status SumLookbacks(std::span<const uint32_t> lookbacks, std::span<L> deltas);

  const LatentKernels<L>& kernels_ = KernelsFor<L>();
  const ChunkMeta* meta_ = nullptr;
  const LatentVar* var_ = nullptr;
  bool is_last_ = false;
  int64_t state_count_ = 0;  // latents that a page stores as they are
  int most_offset_bits_ = 0;
  std::vector<Node> nodes_;  // by state
  std::vector<L> lowers_;    // by state
  std::vector<uint16_t> bin_of_state_;
  std::vector<uint32_t> next_;  // by bin
  // The state of the page:
  std::array<uint32_t, 4> states_ = {};
  int64_t left_ = 0;  // latents that are not yet decoded
  int64_t done_ = 0;  // those that looks back led to
  // Earlier latents: for consecutive deltas the moments, for predictions the latents before the
  // batch, for looks back all latents of the page.
  std::vector<L> past_;
};

extern template class LatentDecoder<uint8_t>;
extern template class LatentDecoder<uint16_t>;
extern template class LatentDecoder<uint32_t>;
extern template class LatentDecoder<uint64_t>;

}  // namespace cairn::pco

#endif  // CAIRN_ENGINE_CODEC_PCO_LATENT_DECODER_H_
