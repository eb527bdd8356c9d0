// The loops over the latents of a batch that decoding spends its time in. They are compiled for
// each kind of processor, and give the same on all.
#ifndef CAIRN_ENGINE_CODEC_PCO_LATENT_KERNELS_H_
#define CAIRN_ENGINE_CODEC_PCO_LATENT_KERNELS_H_

#include <array>
#include <cstdint>
#include <span>

#include "cairn/types.h"
#include "engine/codec/pco/chunk_meta.h"
#include "engine/codec/pco/number.h"

namespace cairn::pco {

// An entry of a decoding table, for a state: the bits to read in the lowest byte, the bits of the
// offsets of its bin in the next one, and above them the state that the read bits are added to. So
// a sum of entries has the sum of their bits, and processors that take counts from the lowest byte
// of a register need no other step.
using Node = uint32_t;

constexpr Node MakeNode(uint32_t next, int table_bits, int offset_bits) {
  return next << 16 | static_cast<uint32_t>(offset_bits << 8 | table_bits);
}

// The bits of the offsets of a batch.
using OffsetBits = std::array<uint8_t, kBatch>;

// A place in a stream, in bits. The loops read what a BitReader says may be read.
struct BitPlace {
  const std::byte* data;
  int64_t position;
};

template <Latent L>
struct LatentKernels {
  // Decodes the bins of a batch: each latent becomes the lower end of its bin.
  void (*decode_bins)(const Node* nodes, const L* lowers, std::array<uint32_t, 4>& states,
                      BitPlace& in, std::span<L> out, OffsetBits& offset_bits);
  // Adds offsets, none of more than `most` bits.
  void (*add_offsets)(const OffsetBits& offset_bits, int most, BitPlace& in, std::span<L> out);
  // Fills `out` with `lower` plus offsets of `bits` bits each.
  void (*unpack)(L lower, int bits, BitPlace& in, std::span<L> out);
  // Turns deltas of each order into latents. A moment of an order is the sum before the batch. The
  // first `stored` deltas are stored around the middle, and the others are 0.
  void (*sum)(std::span<L> moments, size_t stored, std::span<L> deltas);
  // Returns the sum of `moment` and of deltas that are stored around the middle.
  L (*total)(L moment, std::span<const L> deltas);
  // Writes the latents of numbers over the primary ones.
  void (*join)(const ChunkMeta& meta, std::span<const L> secondary, std::span<L> primary);
  // Stores the numbers in little endian.
  void (*store)(NumberKind kind, std::span<const L> latents, std::byte* out);
};

// Returns the loops for this processor.
template <Latent L>
const LatentKernels<L>& KernelsFor();

}  // namespace cairn::pco

#endif  // CAIRN_ENGINE_CODEC_PCO_LATENT_KERNELS_H_
