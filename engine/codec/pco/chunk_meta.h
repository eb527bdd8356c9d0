// Chunk metadata of pco: how the numbers of a chunk became latents, and the bins of each latent
// variable.
#ifndef CAIRN_ENGINE_CODEC_PCO_CHUNK_META_H_
#define CAIRN_ENGINE_CODEC_PCO_CHUNK_META_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"

#include "engine/codec/pco/bit_reader.h"
#include "engine/codec/pco/number.h"

namespace cairn::pco {

// The version of the format, which a stream begins with.
struct Version {
  int major = 4;
  int minor = 1;
};

// Reads the version: one byte, from major 4 on two. Errors: kUnimplemented for a major version
// after
// 4. A later minor version may still be readable.
absl::StatusOr<Version> ReadVersion(BitReader& in);

enum class Mode : uint8_t { kClassic, kIntMult, kFloatMult, kFloatQuant, kDict };
enum class Delta : uint8_t { kNone, kConsecutive, kLookback, kConv1 };

inline constexpr int kMaxTableLog = 14;
inline constexpr int kMaxOrder = 7;  // of consecutive deltas
inline constexpr int kBatch = 256;   // numbers

struct Bin {
  uint32_t weight = 1;  // states of the table
  uint64_t lower = 0;   // the least latent
  int offset_bits = 0;  // bits of what is added to it
  bool operator==(const Bin&) const = default;
};

// A sequence of latents. A chunk interleaves up to three of them.
struct LatentVar {
  int bits = 64;  // of a latent
  int table_log = 0;
  std::vector<Bin> bins = {};
  // True if deltas of these latents are stored.
  bool has_deltas = false;
};

struct ChunkMeta {
  Mode mode = Mode::kClassic;
  uint64_t mult = 0;                // kIntMult: the base; kFloatMult: the latent of the base
  int quant_bits = 0;               // kFloatQuant
  std::vector<uint64_t> dict = {};  // latents

  Delta delta = Delta::kNone;
  int order = 0;                      // kConsecutive, kConv1
  int window_log = 0;                 // kLookback
  int state_log = 0;                  // kLookback
  int quantization = 0;               // kConv1
  int64_t bias = 0;                   // kConv1
  std::vector<int64_t> weights = {};  // kConv1

  std::optional<LatentVar> lookbacks = {};
  LatentVar primary = {};
  std::optional<LatentVar> secondary = {};

  // Returns how many latents at the beginning of a page are stored as they are.
  int64_t StateCount() const;
};

// Parses the metadata of a chunk of `type`. Leaves `in` after it.
//
// Errors: kDataLoss if it is malformed, or contradicts itself or the type; kUnimplemented for a
// mode or delta encoding of a later version.
absl::StatusOr<ChunkMeta> ReadChunkMeta(Version version, NumberType type, BitReader& in);

// Appends the metadata in the newest version of the format. Only modes and deltas that Cairn writes
// are supported: not dictionaries, looks back and predictions.
void WriteChunkMeta(const ChunkMeta& meta, NumberType type, std::vector<std::byte>& out);

}  // namespace cairn::pco

#endif  // CAIRN_ENGINE_CODEC_PCO_CHUNK_META_H_
