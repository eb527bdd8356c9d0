#include "engine/frame/stage/item_writer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/frame/read/chunk_reader.h"
#include "engine/frame/read/range_reader.h"

namespace cairn::frame {

// Compresses the chunk that holds byte `begin` again, with as many of the items as it takes.
// Returns how many bytes those are.
absl::StatusOr<int64_t> ItemWriter::OverwriteAt(const State& state, int64_t begin, Bytes items,
                                                RecodedChunks& chunks) {
  CAIRN_ASSIGN_OR_RETURN(const DecodedOffsets::Place at, FindByte(state, begin));
  CAIRN_ASSIGN_OR_RETURN(const ChunkCost old, edits_.CostOf(at.nchunk));
  const int64_t from = begin - at.begin;
  const int64_t taken = std::min<int64_t>(std::ssize(items), old.nbytes - from);
  std::vector<std::byte> content;
  if (taken < old.nbytes) {
    CAIRN_ASSIGN_OR_RETURN(content, ReadWholeChunk(state, at.nchunk, state.env()->verify));
  } else {
    content.resize(static_cast<size_t>(taken));
  }
  // Another process may have changed the chunk's own header since it was read.
  if (taken <= 0 || !RangeFits(from, taken, std::ssize(content))) {
    return DataLoss("chunk %d: its size has changed", at.nchunk);
  }
  CopyBytes(items.first(static_cast<size_t>(taken)),
            MutableBytes(content).subspan(static_cast<size_t>(from)));
  CAIRN_RETURN_IF_ERROR(chunks.Add(at.nchunk, old, content));
  return taken;
}

// Writes to chunks that may be held. Only the first and the last of them can be covered in part:
// both are read before anything changes.
absl::Status ItemWriter::WriteDirty(int64_t begin, Bytes items) {
  const int64_t chunksize = edits_.staged().header.chunksize;
  const int64_t end = begin + std::ssize(items);
  const int64_t first = begin / chunksize;
  const int64_t last = (end - 1) / chunksize;
  CAIRN_RETURN_IF_ERROR(dirty_.MakeRoom(first, last));
  std::vector<std::pair<int64_t, std::vector<std::byte>>> parts;
  for (const int64_t nchunk : {first, last}) {
    const bool all = begin <= nchunk * chunksize && (nchunk + 1) * chunksize <= end;
    if (all || dirty_.Has(nchunk)) continue;
    CAIRN_ASSIGN_OR_RETURN(std::vector<std::byte> content, dirty_.Read(nchunk));
    if (std::ssize(content) != chunksize) return DataLoss("chunk %d: its size has changed", nchunk);
    parts.emplace_back(nchunk, std::move(content));
  }
  for (const auto& [nchunk, content] : parts) CopyBytes(content, dirty_.Put(nchunk));
  for (int64_t nchunk = first; nchunk <= last; ++nchunk) {
    const int64_t from = std::max(begin - nchunk * chunksize, int64_t{0});
    const auto size = static_cast<size_t>(std::min<int64_t>(chunksize - from, std::ssize(items)));
    CopyBytes(items.first(size), dirty_.Put(nchunk).subspan(static_cast<size_t>(from)));
    items = items.subspan(size);
  }
  return absl::OkStatus();
}

absl::Status ItemWriter::WriteItems(int64_t start, Bytes items) {
  const int64_t typesize = edits_.staged().header.typesize;
  const auto size = static_cast<int64_t>(items.size());
  if (size % typesize != 0) {
    return InvalidArgument("%d bytes are not a multiple of the item size %d", size, typesize);
  }
  if (!RangeFits(start, size / typesize, edits_.staged().nbytes() / typesize)) {
    return OutOfRange("%d items from number %d on: there are %d", size / typesize, start,
                      edits_.staged().nbytes() / typesize);
  }
  if (items.empty()) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(edits_.CheckTakesItems());
  CAIRN_RETURN_IF_ERROR(edits_.chunk_writer().CheckOptions());
  CAIRN_RETURN_IF_ERROR(stager_.pending().Close());
  int64_t begin = start * typesize;
  const int64_t chunksize = edits_.staged().header.chunksize;
  if (chunksize > 0 && dirty_.MayHold((begin + size - 1) / chunksize) &&
      dirty_.CanHold(size / chunksize + 2)) {
    return WriteDirty(begin, items);
  }
  CAIRN_ASSIGN_OR_RETURN(const StatePtr state, stager_.View());
  // All chunks are made before the first takes its place, so that one that cannot be read leaves
  // nothing half changed.
  RecodedChunks chunks(edits_);
  while (!items.empty()) {
    CAIRN_ASSIGN_OR_RETURN(const int64_t taken, OverwriteAt(*state, begin, items, chunks));
    items = items.subspan(static_cast<size_t>(taken));
    begin += taken;
  }
  chunks.Apply();
  return absl::OkStatus();
}

}  // namespace cairn::frame
