#include "engine/collection/file_patch.h"

#include <algorithm>

#include "engine/base/status.h"

namespace cairn::collection {

absl::StatusOr<size_t> ReadPatched(const File& base, int64_t size,
                                   std::span<const FilePatch> patches, int64_t offset,
                                   MutableBytes dst) {
  if (offset >= size) return 0;
  dst = dst.first(static_cast<size_t>(std::min(std::ssize(dst), size - offset)));
  CAIRN_ASSIGN_OR_RETURN(const size_t read, base.ReadSome(offset, dst));
  std::ranges::fill(dst.subspan(read), std::byte{0});
  const int64_t end = offset + std::ssize(dst);
  for (const FilePatch& patch : patches) {
    const int64_t from = std::max(offset, patch.offset);
    const int64_t to = std::min(end, patch.end());
    if (from >= to) continue;
    std::ranges::copy(
        Bytes(patch.bytes)
            .subspan(static_cast<size_t>(from - patch.offset), static_cast<size_t>(to - from)),
        dst.begin() + (from - offset));
  }
  return dst.size();
}

}  // namespace cairn::collection
