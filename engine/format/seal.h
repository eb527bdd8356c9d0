// What Cairn adds to a frame, in two vlmetalayers that other Blosc2 libraries keep and ignore:
// `cairn`, parsed here, and `cairn.fp`, the table of fingerprints, one XXH3-64 a chunk.
#ifndef CAIRN_ENGINE_FORMAT_SEAL_H_
#define CAIRN_ENGINE_FORMAT_SEAL_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "engine/base/extent.h"
#include "engine/format/journal.h"

namespace cairn::format {

inline constexpr std::string_view kSealLayer = "cairn";

// Readers lock the byte past 2^62 that stands for their generation.
inline constexpr uint64_t kMaxGeneration = uint64_t{1} << 61;

// Index entries that one page hash stands for.
inline constexpr int64_t kPageEntries = 2048;

// No index is longer than a chunk can be.
inline constexpr int64_t kMaxPages = kMaxChunkBytes / 8 / kPageEntries + 1;

// Bytes that the checkpoint does not need, but one whose generation is in [born, died), or a commit
// that follows it, may.
struct DeadExtent {
  Extent bytes;
  uint64_t born = 0;
  uint64_t died = 0;
  bool operator==(const DeadExtent&) const = default;
};

// Bytes that were written after the checkpoint of that generation: readers of older ones do not see
// them.
struct BornExtent {
  Extent bytes;
  uint64_t generation = 0;
  bool operator==(const BornExtent&) const = default;
};

// The space of a contiguous frame that may be used again. Each list is in order, and its extents do
// not overlap.
struct SpaceList {
  std::vector<Extent> free;  // before the index
  std::vector<DeadExtent> dead;
  // Also before the index: what lives there, and is not listed, may be as old as the frame. While
  // no reader of an older checkpoint is there, nothing is listed.
  std::vector<BornExtent> born = {};
  // Bytes that lists of these numbers of extents take at most, which end before `end`, in the seal
  // of that generation.
  static int64_t MostBytes(int64_t free, int64_t dead, int64_t born, int64_t end,
                           uint64_t generation);
  bool operator==(const SpaceList&) const = default;
};

// The content of `cairn`.
struct Seal {
  uint64_t nonce = 0;  // random, one a file
  uint64_t generation = 0;
  int64_t previous_end = 0;  // of the checkpoint before this one; 0: there is none
  uint64_t oldest_generation = 0;
  int64_t dead_bytes = 0;  // between header and index; -1: not known
  int64_t uncovered = 0;   // stored chunks that the table has no fingerprint of
  FingerprintType type = FingerprintType::kNone;  // that the frame is to be sealed with
  // What chunks are cut to, where the header cannot say it; 0 elsewhere. A frame of one short chunk
  // gives that chunk's size in its header, or C-Blosc2 could not append to it.
  int32_t chunksize = 0;
  uint64_t header_hash = 0;  // XXH3-64 of all header_len bytes
  uint64_t index_hash = 0;   // XXH3-64 of the stored index chunk; 0 without one
  std::vector<std::byte> header_copy;
  // One XXH3-64 a page of decoded little-endian index entries followed by their fingerprints and
  // their stored sizes.
  // Empty in a frame without a table.
  std::vector<uint64_t> pages;
  SpaceList space;
  std::optional<InheritedJournal> journal;  // without it, one of its own follows the checkpoint
};

absl::StatusOr<Seal> ParseSeal(Bytes payload, int64_t max_pages);
std::vector<std::byte> EncodeSeal(const Seal& seal);

// Hash of one page: of its entries in the index and in both columns of the table.
uint64_t HashPage(Bytes entries, Bytes fingerprints, Bytes sizes);

// Fingerprint of a stored chunk: XXH3-64, where 0 is left to entries without stored bytes.
uint64_t HashChunk(Bytes chunk);

}  // namespace cairn::format

#endif  // CAIRN_ENGINE_FORMAT_SEAL_H_
