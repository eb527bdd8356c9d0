// Bytes that belong into a file at a place, and may not be there yet.
#ifndef CAIRN_ENGINE_COLLECTION_LEDGER_FILE_PATCH_H_
#define CAIRN_ENGINE_COLLECTION_LEDGER_FILE_PATCH_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "cairn/types.h"

namespace cairn::collection {

struct FilePatch {
  int64_t offset = 0;
  std::vector<std::byte> bytes;

  int64_t end() const { return offset + static_cast<int64_t>(bytes.size()); }
  bool operator==(const FilePatch&) const = default;
};

// Reads up to the size of dst, or less at the end of the file, which has `size` bytes with the
// patches. A later patch covers an earlier one. Returns the number of bytes read.
absl::StatusOr<size_t> ReadPatched(const File& base, int64_t size,
                                   std::span<const FilePatch> patches, int64_t offset,
                                   MutableBytes dst);

// Returns the patches without the bytes that later ones cover, in the same order.
std::vector<FilePatch> WithoutCovered(std::span<const FilePatch> patches);

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_LEDGER_FILE_PATCH_H_
