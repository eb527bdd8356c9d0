// Sorts latents by their digits, faster than std::sort.
#ifndef CAIRN_ENGINE_CODEC_PCO_LATENT_SORTER_H_
#define CAIRN_ENGINE_CODEC_PCO_LATENT_SORTER_H_

#include <span>
#include <vector>

#include "engine/codec/pco/number.h"

namespace cairn::pco {

// Keeps its memory from call to call.
template <Latent L>
class LatentSorter {
 public:
  void Sort(std::span<L> latents);

 private:
  // Sorts by the highest `bits` bits of the distance to `least`, from bit `shift` on.
  void SortByDigits(L least, int shift, int bits, std::span<L> latents);
  // Sorts within the runs that have the same bits from `shift` on.
  void SortRuns(L least, int shift, std::span<L> latents);

  std::vector<L> other_;
};

extern template class LatentSorter<uint8_t>;
extern template class LatentSorter<uint16_t>;
extern template class LatentSorter<uint32_t>;
extern template class LatentSorter<uint64_t>;

}  // namespace cairn::pco

#endif  // CAIRN_ENGINE_CODEC_PCO_LATENT_SORTER_H_
