// Chooses the bins of a latent variable, and estimates what its latents then take.
#ifndef CAIRN_ENGINE_CODEC_PCO_BINS_H_
#define CAIRN_ENGINE_CODEC_PCO_BINS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "engine/codec/pco/chunk_meta.h"

namespace cairn::pco {

// Sorts latents. Faster than std::sort, in time proportional to their number and to the bits in
// which they differ.
class LatentSorter {
 public:
  // Returns the sorted latents, which stay valid until the next call.
  std::span<const uint64_t> Sort(std::span<const uint64_t> latents);

 private:
  std::vector<uint64_t> sorted_;
  std::vector<uint64_t> other_;
};

// Returns the bins of the least size for `sorted` latents of `bits` bits. They are made of at most
// 2^bins_log ranges of about as many latents each: runs of ranges become a bin where that saves
// bits. The weights add up to the states of the table, whose size is chosen too.
LatentVar ChooseBins(std::span<const uint64_t> sorted, int bits, int bins_log);

// Returns the bits that such bins and `count` latents like the sorted ones take together.
double EstimateBits(std::span<const uint64_t> sorted, int bits, int bins_log, int64_t count);

}  // namespace cairn::pco

#endif  // CAIRN_ENGINE_CODEC_PCO_BINS_H_
