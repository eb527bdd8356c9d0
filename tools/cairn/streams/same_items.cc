#include "tools/cairn/streams/same_items.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tools/cairn/io/io.h"

namespace cairn::tool {

namespace {

// By what the index says alone. The same place is no sign: it may be in another file.
bool IsSameChunk(const absl::StatusOr<ChunkEntry>& a, const absl::StatusOr<ChunkEntry>& b) {
  if (!a.ok() || !b.ok()) return false;
  if (a->fingerprint && b->fingerprint) return *a->fingerprint == *b->fingerprint;
  return a->special != SpecialValue::kNone && a->special == b->special;
}

// Whether both are stored in the same bytes.
bool HasSameBytes(const absl::StatusOr<Chunk>& a, const absl::StatusOr<Chunk>& b) {
  return a.ok() && b.ok() && std::ranges::equal(a->bytes(), b->bytes());
}

// Whether the chunk has the data that it had; the last one may have grown.
bool HasSameData(const Snapshot& now, const Snapshot& before, int64_t nchunk) {
  const absl::StatusOr<int32_t> size = now.ChunkNbytes(nchunk);
  const absl::StatusOr<int32_t> size_before = before.ChunkNbytes(nchunk);
  if (!size.ok() || !size_before.ok() || *size < *size_before) return false;
  if (*size != *size_before && nchunk + 1 < before.info().nchunks) return false;
  const Buffer data(static_cast<size_t>(*size));
  const Buffer data_before(static_cast<size_t>(*size_before));
  return now.ReadChunk(nchunk, data.bytes()).ok() &&
         before.ReadChunk(nchunk, data_before.bytes()).ok() &&
         std::ranges::equal(data.first(data_before.bytes().size()), data_before.bytes());
}

}  // namespace

bool BeginsWith(const Snapshot& now, const Snapshot& before) {
  if (now.info().typesize != before.info().typesize) return false;
  if (now.info().nchunks < before.info().nchunks) return false;
  for (int64_t i = 0; i < before.info().nchunks; ++i) {
    if (!IsSameChunk(now.GetEntry(i), before.GetEntry(i)) &&
        !HasSameBytes(now.GetChunk(i), before.GetChunk(i)) && !HasSameData(now, before, i)) {
      return false;
    }
  }
  return true;
}

}  // namespace cairn::tool
