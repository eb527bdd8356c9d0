// Chooses the bins of a latent variable, and estimates what its latents then take.
#ifndef CAIRN_ENGINE_CODEC_PCO_BINS_H_
#define CAIRN_ENGINE_CODEC_PCO_BINS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "engine/codec/pco/chunk_meta.h"
#include "engine/codec/pco/latent_sorter.h"
#include "engine/codec/pco/number.h"
#include "engine/codec/pco/range_joiner.h"

namespace cairn::pco {

// Chooses the bins of variables. Keeps its memory from call to call.
template <Latent L>
class BinChooser {
 public:
  // Returns the bins of the least size for these latents, which get sorted. The bins are made of at
  // most 2^bins_log ranges of about as many latents each: runs of ranges become a bin where that
  // saves bits. The weights add up to the states of the table, whose size is chosen too.
  LatentVar Choose(int bins_log, std::span<L> latents);

  // Returns the bits that such bins and `count` latents like these, which get sorted, take
  // together.
  double EstimateBits(int bins_log, int64_t count, std::span<L> latents);

 private:
  LatentSorter<L> sorter_;
  std::vector<LatentRange> ranges_;
  RangeJoiner joiner_;
};

extern template class BinChooser<uint8_t>;
extern template class BinChooser<uint16_t>;
extern template class BinChooser<uint32_t>;
extern template class BinChooser<uint64_t>;

}  // namespace cairn::pco

#endif  // CAIRN_ENGINE_CODEC_PCO_BINS_H_
