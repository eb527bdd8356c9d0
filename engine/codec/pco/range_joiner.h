// Joins ranges of sorted latents into bins.
#ifndef CAIRN_ENGINE_CODEC_PCO_RANGE_JOINER_H_
#define CAIRN_ENGINE_CODEC_PCO_RANGE_JOINER_H_

#include <cstdint>
#include <vector>

namespace cairn::pco {

// A run of sorted latents.
struct LatentRange {
  uint64_t lower = 0;
  uint64_t upper = 0;
  int64_t count = 0;
};

// Keeps its memory from call to call.
class RangeJoiner {
 public:
  // Joins neighbours so that the bins and their latents take the fewest bits in all, and returns
  // these. `bits_of_bin` is what the description of a bin takes. Each latent stands for `scale`.
  double Join(double bits_of_bin, double scale, std::vector<LatentRange>& ranges);

 private:
  void FindBest(float bin_bits, const std::vector<LatentRange>& ranges);

  std::vector<int32_t> before_;  // latents before each range
  std::vector<uint64_t> lowers_;
  std::vector<float> best_;     // bits of the ranges before each
  std::vector<uint16_t> from_;  // where the last bin of these begins
};

}  // namespace cairn::pco

#endif  // CAIRN_ENGINE_CODEC_PCO_RANGE_JOINER_H_
