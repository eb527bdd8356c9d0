#include "engine/frame/read/field_reader.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/chunk/item_fields.h"
#include "engine/frame/array/array_fit.h"
#include "engine/frame/read/array_items.h"
#include "engine/frame/read/chunk_reader.h"
#include "engine/frame/read/range_reader.h"

namespace cairn::frame {

namespace {

absl::Status CheckField(const FieldSpan& field, int64_t nitems, int64_t typesize) {
  if (field.size < 1 || !RangeFits(field.offset, field.size, typesize)) {
    return InvalidArgument("field of %d bytes from byte %d on, of items of %d", field.size,
                           field.offset, typesize);
  }
  const auto value_size = static_cast<int32_t>(field.dst.value_size());
  if (value_size != 0 && field.size % value_size != 0) {
    return InvalidArgument("field of %d bytes: the array has values of %d", field.size, value_size);
  }
  const int64_t got = std::ssize(field.dst.bytes());
  if (got == nitems * field.size) return absl::OkStatus();
  return InvalidArgument("field of %d bytes: %d items need an array of %d, got %d", field.size,
                         nitems, nitems * field.size, got);
}

// Reads items that lie in one chunk, as many as it has. Returns how many. 0 means that the first
// one lies across a border.
absl::StatusOr<int64_t> ReadFromChunk(const State& state, chunk::ItemRange items,
                                      const chunk::ItemFields& fields, ReadAhead& ahead,
                                      chunk::Workspace& workspace) {
  CAIRN_ASSIGN_OR_RETURN(const DecodedOffsets::Place at, FindByte(state, items.begin));
  ahead.Reach(at.nchunk);
  const absl::StatusOr<ChunkReader> chunk =
      ChunkReader::Open(state, at.nchunk, state.env()->verify, workspace.stored);
  if (!chunk.ok()) return chunk.status();
  items.begin -= at.begin;
  const int64_t held = std::max<int64_t>(0, chunk->nbytes() - items.begin) / fields.item_size();
  items.count = std::min(items.count, held);
  const absl::Status status = chunk->ReadFields(items, fields, workspace);
  if (!status.ok()) return AnnotateChunk(at.nchunk, status);
  return items.count;
}

// Reads items that lie side by side in the decoded data.
absl::Status ReadStored(const State& state, chunk::ItemRange rest, const chunk::ItemFields& fields,
                        chunk::Workspace& workspace) {
  const int64_t typesize = fields.item_size();
  const auto read = [&state](int64_t begin, MutableBytes dst) {
    return ReadRange(state, begin, dst);
  };
  // A few items are found faster in a block that is cached.
  constexpr int64_t kFewBytes = 4096;
  if (rest.count * typesize <= kFewBytes) return fields.Read(rest, workspace.gathered, read);
  ReadAhead ahead = AheadOf(state, rest.begin, rest.count * typesize);
  while (rest.count > 0) {
    CAIRN_ASSIGN_OR_RETURN(int64_t done, ReadFromChunk(state, rest, fields, ahead, workspace));
    if (done == 0) {
      done = 1;
      CAIRN_RETURN_IF_ERROR(fields.Read({.begin = rest.begin, .first = rest.first, .count = 1},
                                        workspace.gathered, read));
    }
    rest.begin += done * typesize;
    rest.first += done;
    rest.count -= done;
  }
  return absl::OkStatus();
}

// Reads items of an array whose chunks have padding or several dimensions.
absl::Status ReadOfArray(const State& state, int64_t start, int64_t nitems,
                         const chunk::ItemFields& fields, chunk::Workspace& workspace) {
  const int64_t typesize = fields.item_size();
  const int64_t line = ItemsOfChunk(*state.metadata);  // 0 with several dimensions
  constexpr int64_t kPiece = 1 << 20;
  std::vector<std::byte> items;
  for (int64_t done = 0; done < nitems;) {
    const int64_t at = start + done;
    const int64_t end = line > 0 ? line - at % line : std::max<int64_t>(kPiece / typesize, 1);
    chunk::ItemRange range = {.begin = 0, .first = done, .count = std::min(end, nitems - done)};
    if (line > 0) {
      range.begin = at / line * state.chunksize + at % line * typesize;
      CAIRN_RETURN_IF_ERROR(ReadStored(state, range, fields, workspace));
    } else {
      items.resize(static_cast<size_t>(range.count * typesize));
      CAIRN_RETURN_IF_ERROR(ReadArrayItems(state, at, items));
      fields.Gather(items, range);
    }
    done += range.count;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadFields(const State& state, int64_t start, int64_t nitems,
                        std::span<const FieldSpan> spans) {
  const int64_t typesize = state.header().typesize;
  if (const int64_t held = CountItems(state); !RangeFits(start, nitems, held)) {
    return OutOfRange("%d items from number %d on: there are %d", nitems, start, held);
  }
  for (const FieldSpan& field : spans) CAIRN_RETURN_IF_ERROR(CheckField(field, nitems, typesize));
  if (spans.empty()) return absl::OkStatus();
  const chunk::ItemFields fields(typesize, spans);
  const chunk::WorkspacePool::Lease lease = state.env()->pool.Acquire();
  if (LiesInOrder(state)) {
    return ReadStored(state, {.begin = start * typesize, .first = 0, .count = nitems}, fields,
                      *lease);
  }
  CAIRN_RETURN_IF_ERROR(GeometryOf(state).status());
  return ReadOfArray(state, start, nitems, fields, *lease);
}

}  // namespace cairn::frame
