// Chooses how the numbers of a chunk become latents: the mode, and the order of deltas.
#ifndef CAIRN_ENGINE_CODEC_PCO_PLANNER_H_
#define CAIRN_ENGINE_CODEC_PCO_PLANNER_H_

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "engine/codec/pco/bins.h"
#include "engine/codec/pco/encode_kernels.h"
#include "engine/codec/pco/number.h"
#include "engine/codec/pco/split.h"

namespace cairn::pco {

struct Plan {
  Splitting splitting = {};
  int order = 0;                                     // of consecutive deltas
  double bits = std::numeric_limits<double>::max();  // estimate for all numbers
};

// Keeps its memory from call to call.
template <Latent L>
class Planner {
 public:
  // Estimates plans by a sample, and returns the best one. The numbers are given by their latents;
  // a page has `page_count` of them.
  Plan Choose(NumberKind kind, std::span<const L> latents, int64_t page_count);

 private:
  // Takes runs of `run` neighbours from all over the numbers, or all if they are few.
  void TakeSample(size_t run, std::span<const L> latents);
  // Splits the sample, and estimates the bits of its secondary latents.
  double Split(const Splitting& splitting, int64_t count);
  // Replaces each run of primary_ by its deltas.
  void TakeDeltas();
  // Estimates the bits of primary_ and its moments.
  double EstimatePrimary(int64_t count, int64_t page_count);
  // Estimates the plans with this splitting.
  void TrySplitting(const Splitting& splitting, int64_t count, int64_t page_count);

  const EncodeKernels<L>& kernels_ = EncodeKernelsFor<L>();
  BinChooser<L> bins_;
  std::vector<Plan> plans_;
  std::vector<L> sample_;
  size_t run_ = 0;  // latents of each run of the sample
  std::vector<L> primary_;
  int order_ = 0;  // of the deltas that primary_ has
  std::vector<L> secondary_;
  std::vector<L> sorted_;
};

extern template class Planner<uint8_t>;
extern template class Planner<uint16_t>;
extern template class Planner<uint32_t>;
extern template class Planner<uint64_t>;

}  // namespace cairn::pco

#endif  // CAIRN_ENGINE_CODEC_PCO_PLANNER_H_
