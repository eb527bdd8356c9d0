#include "tools/cairn/streams/same_items.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/cairn/io/io.h"

namespace cairn::tool {

namespace {

// Compares by the index alone. An equal place shows nothing, because it may be in another file.
bool IsSameChunk(const absl::StatusOr<ChunkEntry>& a, const absl::StatusOr<ChunkEntry>& b) {
  if (!a.ok() || !b.ok()) return false;
  if (a->fingerprint && b->fingerprint) return *a->fingerprint == *b->fingerprint;
  return a->special != SpecialValue::kNone && a->special == b->special;
}

// Returns true if both are stored in equal bytes.
bool HasSameBytes(const absl::StatusOr<Chunk>& a, const absl::StatusOr<Chunk>& b) {
  return a.ok() && b.ok() && std::ranges::equal(a->bytes(), b->bytes());
}

// Returns true if the chunk has the data that it had. The last one may have grown.
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

// Returns true if a chunk of an array has the items that it had. There may be more items where
// padding was. Both arrays have the same grid of chunks except along the first dimension.
bool HasSameItems(const Snapshot& now, const Snapshot& before, int64_t nchunk) {
  const ArrayInfo& array = *before.array();
  std::vector<int64_t> start(array.shape.size());
  std::vector<int64_t> shape(array.shape.size(), 1);
  int64_t size = before.info().typesize;
  for (size_t d = array.shape.size(); d-- > 0;) {
    const int64_t extent = std::max(array.chunkshape[d], 1);
    const int64_t cells = (array.shape[d] + extent - 1) / extent;
    start[d] = nchunk % cells * extent;
    nchunk /= cells;
    shape[d] = std::min(extent, array.shape[d] - start[d]);
    size *= shape[d];
  }
  const Buffer items(static_cast<size_t>(size));
  const Buffer items_before(static_cast<size_t>(size));
  return now.ReadBox(start, shape, items.bytes()).ok() &&
         before.ReadBox(start, shape, items_before.bytes()).ok() &&
         std::ranges::equal(items.bytes(), items_before.bytes());
}

// Returns true if the first items of one array can be those of the other.
bool IsGrownArray(const ArrayInfo& now, const ArrayInfo& before) {
  return now.shape.size() == before.shape.size() && now.chunkshape == before.chunkshape &&
         (now.shape.empty() ||
          (now.shape[0] >= before.shape[0] &&
           std::equal(now.shape.begin() + 1, now.shape.end(), before.shape.begin() + 1)));
}

}  // namespace

bool BeginsWith(const Snapshot& now, const Snapshot& before) {
  if (now.info().typesize != before.info().typesize) return false;
  if (now.info().nchunks < before.info().nchunks) return false;
  if (now.array().has_value() != before.array().has_value()) return false;
  const bool array = now.array().has_value();
  if (array && !IsGrownArray(*now.array(), *before.array())) return false;
  for (int64_t i = 0; i < before.info().nchunks; ++i) {
    if (!IsSameChunk(now.GetEntry(i), before.GetEntry(i)) &&
        !HasSameBytes(now.GetChunk(i), before.GetChunk(i)) &&
        !(array ? HasSameItems(now, before, i) : HasSameData(now, before, i))) {
      return false;
    }
  }
  return true;
}

}  // namespace cairn::tool
