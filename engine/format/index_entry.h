// Entries of the offsets index, and the index chunk that holds them.
#ifndef CAIRN_ENGINE_FORMAT_INDEX_ENTRY_H_
#define CAIRN_ENGINE_FORMAT_INDEX_ENTRY_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "engine/chunk/workspace.h"

namespace cairn::format {

inline constexpr int kIndexTypesize = 8;
inline constexpr int32_t kIndexBlockSize = 16384;

// The entry of one chunk in the index.
struct IndexEntry {
  // An offset from the end of the header, or the code of a special value, as the format writes it.
  int64_t value = 0;
  uint64_t fingerprint = 0;  // 0: none
  int32_t cbytes = 0;        // size of the stored chunk; 0: not known, or a special value
  bool operator==(const IndexEntry&) const = default;
};

// A chunk that is stored or special.
struct IndexedChunk {
  IndexEntry entry;
  int32_t nbytes = 0;  // decoded
  bool operator==(const IndexedChunk&) const = default;
};

// Returns true for a negative entry, which names the value of a chunk that is not stored.
constexpr bool IsSpecialEntry(int64_t entry) { return entry < 0; }

// Returns true for a value that the index can stand for: zeros, NaNs and uninitialised items.
constexpr bool IsIndexSpecial(SpecialValue special) {
  return special == SpecialValue::kZeros || special == SpecialValue::kNans ||
         special == SpecialValue::kUninit;
}
// Returns the entry of such a value: the highest bit, and the value in the rest of the highest
// byte.
constexpr int64_t EntryOfSpecial(SpecialValue special) {
  return static_cast<int64_t>((uint64_t{0x80} | static_cast<uint64_t>(special)) << 56);
}
// Returns the value of an entry. Only the codes that the format defines pass, and only with the
// other bits zero. Errors: kDataLoss for any other code.
absl::StatusOr<SpecialValue> SpecialOfEntry(int64_t entry);

// Encodes the index chunk of these entries (at least one).
absl::StatusOr<std::vector<std::byte>> EncodeIndex(std::span<const int64_t> entries,
                                                   chunk::WorkspacePool* pool);
// Encodes the index chunk with blocks, whatever the entries are, unless they do not compress at
// all.
absl::StatusOr<std::vector<std::byte>> EncodeIndexBlocks(std::span<const int64_t> entries,
                                                         chunk::WorkspacePool* pool);

}  // namespace cairn::format

#endif  // CAIRN_ENGINE_FORMAT_INDEX_ENTRY_H_
