// The loops over latents that encoding spends its time in. They are compiled for each kind of
// processor, and give the same on all.
#ifndef CAIRN_ENGINE_CODEC_PCO_ENCODE_KERNELS_H_
#define CAIRN_ENGINE_CODEC_PCO_ENCODE_KERNELS_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "cairn/types.h"
#include "engine/codec/pco/bit_writer.h"
#include "engine/codec/pco/number.h"
#include "engine/codec/pco/split.h"

namespace cairn::pco {

// How the codes of a bin move the states, each plus the size of the table.
struct CodeOfBin {
  uint32_t bits_bias = 0;  // plus a state, then shifted by 16: the bits that leave the state
  int32_t place_bias = 0;  // plus what is left of the state: the place of the next one
};

// The codes of up to four latents, the first in the lowest bits.
struct CodeGroup {
  uint64_t bits = 0;
  uint32_t count = 0;
};

// The bins of a variable as loops need them.
template <Latent L>
struct BinTable {
  // The lower ends, and after them the greatest latent up to a power of two.
  std::vector<L> lowers = {};
  size_t count = 0;
  std::vector<uint8_t> offset_bits = {};
  int most_offset_bits = 0;
  std::vector<CodeOfBin> codes = {};
  std::vector<uint16_t> next_states = {};  // of all bins one after the other
};

template <Latent L>
struct EncodeKernels {
  // Takes the latents of little endian numbers.
  void (*load)(NumberKind kind, const std::byte* numbers, std::span<L> latents);
  void (*split)(const Splitting& splitting, std::span<const L> latents, L* primary, L* secondary);
  // Writes the differences of neighbours, each moved by `flip`. There is one less than latents, and
  // they may lie over the latents.
  void (*differ)(std::span<const L> latents, L flip, L* deltas);
  // Finds the bin of each latent.
  void (*find_bins)(const BinTable<L>& table, std::span<const L> latents, uint16_t* bins);
  // Finds the codes of latents in these bins, from the last to the first.
  void (*encode_bins)(const BinTable<L>& table, std::span<const uint16_t> bins,
                      std::array<uint32_t, 4>& states, CodeGroup* groups);
  void (*write_codes)(std::span<const CodeGroup> groups, BitSink& out);
  // Writes the offsets of latents in their bins. Without `bins`, all are in the first one.
  void (*write_offsets)(const BinTable<L>& table, const uint16_t* bins, std::span<const L> latents,
                        BitSink& out);
};

// Returns the loops for this processor.
template <Latent L>
const EncodeKernels<L>& EncodeKernelsFor();

}  // namespace cairn::pco

#endif  // CAIRN_ENGINE_CODEC_PCO_ENCODE_KERNELS_H_
