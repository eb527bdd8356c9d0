// Encodes one latent variable: tANS codes that name bins, and offsets in these.
#ifndef CAIRN_ENGINE_CODEC_PCO_PAGE_ENCODER_H_
#define CAIRN_ENGINE_CODEC_PCO_PAGE_ENCODER_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/codec/pco/bit_writer.h"
#include "engine/codec/pco/chunk_meta.h"
#include "engine/codec/pco/encode_kernels.h"
#include "engine/codec/pco/number.h"

namespace cairn::pco {

// Encodes pages one after the other. Keeps its memory from chunk to chunk.
template <Latent L>
class PageEncoder {
 public:
  // Makes the tables of a chunk, and finds the bins of all latents that its pages store. They must
  // stay alive until the next chunk.
  void BeginChunk(const LatentVar& var, std::span<const L> latents);

  // Encodes the next `count` latents as a page.
  void BeginPage(size_t count);
  // Writes what the page begins with. Consecutive deltas have a moment for each order.
  void WriteHead(std::span<const L> moments, BitSink& out) const;
  // Writes kBatch latents of the page from latent `begin` on, or those that are left.
  void WriteBatch(size_t begin, BitSink& out) const;

  // Returns how many bytes a page of `count` latents has at most.
  size_t MaxBytes(size_t count) const;

 private:
  void MakeCodes(const LatentVar& var);

  const EncodeKernels<L>& kernels_ = EncodeKernelsFor<L>();
  int table_log_ = 0;
  BinTable<L> table_;
  std::vector<uint16_t> bin_of_state_;
  std::span<const L> left_;     // latents that no page has yet
  std::vector<uint16_t> bins_;  // of all latents; empty if there is one bin
  size_t begin_ = 0;            // of the page
  // The page:
  std::span<const L> latents_;
  std::array<uint32_t, 4> states_ = {};  // each plus the size of the table
  std::vector<CodeGroup> groups_;
};

extern template class PageEncoder<uint8_t>;
extern template class PageEncoder<uint16_t>;
extern template class PageEncoder<uint32_t>;
extern template class PageEncoder<uint64_t>;

}  // namespace cairn::pco

#endif  // CAIRN_ENGINE_CODEC_PCO_PAGE_ENCODER_H_
