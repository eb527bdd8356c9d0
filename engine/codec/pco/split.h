// Modes: how numbers are split into latents.
#ifndef CAIRN_ENGINE_CODEC_PCO_SPLIT_H_
#define CAIRN_ENGINE_CODEC_PCO_SPLIT_H_

#include <cstdint>
#include <span>
#include <vector>

#include "engine/codec/pco/chunk_meta.h"
#include "engine/codec/pco/number.h"

namespace cairn::pco {

// A mode with what it needs to know.
struct Splitting {
  Mode mode = Mode::kClassic;
  uint64_t mult = 0;   // as in ChunkMeta
  double inverse = 0;  // kFloatMult: numbers are multiplied by this, not divided by the base
  int quant_bits = 0;
};

// Returns modes that may suit numbers like these, given by their latents, the plain one first.
// Which of them is best must be estimated.
template <Latent L>
std::vector<Splitting> FindSplittings(NumberKind kind, std::span<const L> sample);

}  // namespace cairn::pco

#endif  // CAIRN_ENGINE_CODEC_PCO_SPLIT_H_
