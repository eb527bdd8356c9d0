#include "engine/codec/pco/deltas.h"

namespace cairn::pco {

Deltas TakeDeltas(int order, int bits, std::span<uint64_t> latents) {
  const uint64_t mask = ~uint64_t{0} >> (64 - bits);
  Deltas deltas;
  for (int i = 0; i < order; ++i) {
    // A page stores a moment for each order, also if it has fewer numbers.
    deltas.moments.push_back(latents.empty() ? 0 : latents[0]);
    if (latents.empty()) continue;
    for (size_t j = latents.size() - 1; j > 0; --j) {
      latents[j] = (latents[j] - latents[j - 1]) & mask;
    }
    latents = latents.subspan(1);
  }
  if (order > 0) {
    // The middle is 0 of signed deltas.
    const uint64_t middle = uint64_t{1} << (bits - 1);
    for (uint64_t& latent : latents) latent ^= middle;
  }
  deltas.stored = latents;
  return deltas;
}

}  // namespace cairn::pco
