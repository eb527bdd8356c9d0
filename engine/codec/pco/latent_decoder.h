// Decodes one latent variable: tANS codes that name bins, and offsets in these.
#ifndef CAIRN_ENGINE_CODEC_PCO_LATENT_DECODER_H_
#define CAIRN_ENGINE_CODEC_PCO_LATENT_DECODER_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"

#include "engine/codec/pco/bit_reader.h"
#include "engine/codec/pco/chunk_meta.h"
#include "engine/codec/pco/number.h"

namespace cairn::pco {

// Returns the bin of each state of a table. The bins are spread over the states in a fixed order,
// which the format prescribes.
std::vector<uint16_t> SpreadBins(int table_log, std::span<const Bin> bins);

// Decodes pages one after the other. L is the type of these latents.
template <Latent L>
class LatentDecoder {
 public:
  // `meta` must outlive the decoder; `var` is one of its variables.
  LatentDecoder(const ChunkMeta& meta, const LatentVar& var);

  // Reads what a page of `count` numbers begins with. Errors: kDataLoss if the page is too short,
  // or if there are latents but no bins.
  absl::Status BeginPage(int64_t count, BitReader& in);

  // Decodes the next batch of the page: kBatch latents, or those that are left. `lookbacks` are
  // those of the batch, and are empty if the chunk has none. Errors: kDataLoss if one leads out of
  // the window.
  absl::Status NextBatch(std::span<const uint32_t> lookbacks, BitReader& in, std::span<L> out);

 private:
  struct Node {
    uint16_t next;  // state that the next bits are added to
    uint8_t table_bits;
    uint8_t offset_bits;
  };
  using OffsetBits = std::array<uint8_t, kBatch>;

  // Decodes what is stored, which are deltas if the variable has them.
  void DecodeStored(BitReader& in, std::span<L> out);
  void DecodeBins(BitReader& in, std::span<L> out, OffsetBits& offset_bits);
  void AddOffsets(const OffsetBits& offset_bits, BitReader& in, std::span<L> out) const;
  void SumConsecutive(std::span<L> deltas);
  void SumPredictions(std::span<L> deltas);
  absl::Status SumLookbacks(std::span<const uint32_t> lookbacks, std::span<L> deltas);

  const ChunkMeta& meta_;
  const LatentVar& var_;
  int64_t state_count_;  // latents that a page stores as they are
  int most_offset_bits_ = 0;
  std::vector<Node> nodes_;  // by state
  std::vector<L> lowers_;    // by state
  // The state of the page:
  std::array<uint32_t, 4> states_ = {};
  int64_t left_ = 0;  // latents that are not yet decoded
  int64_t done_ = 0;
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
