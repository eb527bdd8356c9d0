// The data that Cairn adds to a frame, in two vlmetalayers that other Blosc2 libraries keep and
// ignore: `cairn`, parsed here, and `cairn.fp`, the table of fingerprints, one XXH3-64 for each
// chunk.
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

// Each page hash stands for this many index entries.
inline constexpr int64_t kPageEntries = 2048;

// No index is longer than a chunk can be.
inline constexpr int64_t kMaxPages = kMaxChunkBytes / 8 / kPageEntries + 1;

// Bytes that this checkpoint does not need. A checkpoint whose generation is in [born, died), or a
// commit that follows it, may still need them.
struct DeadExtent {
  Extent bytes;
  uint64_t born = 0;
  uint64_t died = 0;
  bool operator==(const DeadExtent&) const = default;
};

// Bytes that were written after the checkpoint of that generation. Readers of older checkpoints do
// not see them.
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
  // These also lie before the index. Live bytes that are not listed may be as old as the frame.
  // While there is no reader of an older checkpoint, nothing is listed.
  std::vector<BornExtent> born = {};
  // Returns the most bytes that lists of these numbers of extents take, which end before `end`, in
  // the seal of that generation.
  static int64_t MostBytes(int64_t free, int64_t dead, int64_t born, int64_t end,
                           uint64_t generation);
  bool operator==(const SpaceList&) const = default;
};

// The content of `cairn`.
struct Seal {
  uint64_t nonce = 0;  // random, one for each file
  uint64_t generation = 0;
  int64_t previous_end = 0;  // end of the checkpoint before this one; 0: there is none
  uint64_t oldest_generation = 0;
  int64_t dead_bytes = 0;  // between header and index; -1: not known
  int64_t uncovered = 0;   // stored chunks without a fingerprint in the table
  FingerprintType type = FingerprintType::kNone;  // the type that the frame will be sealed with
  // The size that chunks are cut to, if the header cannot hold it; otherwise 0. A frame of one
  // short chunk has that chunk's size in its header, because C-Blosc2 could not append to it
  // otherwise.
  int32_t chunksize = 0;
  uint64_t header_hash = 0;  // XXH3-64 of all header_len bytes
  uint64_t index_hash = 0;   // XXH3-64 of the stored index chunk; 0 without one
  std::vector<std::byte> header_copy;
  // An XXH3-64 for each page of decoded little-endian index entries followed by their fingerprints
  // and their stored sizes. Empty in a frame without a table.
  std::vector<uint64_t> pages;
  SpaceList space;
  // without it, the checkpoint's own journal follows the checkpoint
  std::optional<InheritedJournal> journal;
};

absl::StatusOr<Seal> ParseSeal(Bytes payload, int64_t max_pages);
std::vector<std::byte> EncodeSeal(const Seal& seal);

// Returns the hash of one page: of its entries in the index and in both columns of the table.
uint64_t HashPage(Bytes entries, Bytes fingerprints, Bytes sizes);

// Returns the fingerprint of a stored chunk: XXH3-64, but never 0, which means an entry without
// stored bytes.
uint64_t HashChunk(Bytes chunk);

}  // namespace cairn::format

#endif  // CAIRN_ENGINE_FORMAT_SEAL_H_
