// Turns latents into the deltas that pages store.
#ifndef CAIRN_ENGINE_CODEC_PCO_DELTAS_H_
#define CAIRN_ENGINE_CODEC_PCO_DELTAS_H_

#include <cstdint>
#include <span>
#include <vector>

namespace cairn::pco {

// Consecutive deltas as a page stores them.
struct Deltas {
  std::vector<uint64_t> moments;  // one for each order
  std::span<uint64_t> stored;     // the others; they lie in the latents
};

// Replaces latents of `bits` bits by their deltas, `order` times. 0 leaves them as they are.
Deltas TakeDeltas(int order, int bits, std::span<uint64_t> latents);

}  // namespace cairn::pco

#endif  // CAIRN_ENGINE_CODEC_PCO_DELTAS_H_
