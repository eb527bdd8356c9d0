#include "engine/frame/stage/array_editor.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/format/b2nd.h"
#include "engine/format/index_entry.h"
#include "engine/frame/array/array_fit.h"
#include "engine/frame/read/chunk_reader.h"
#include "engine/frame/stage/metadata_edits.h"
#include "engine/frame/stage/special_appender.h"

namespace cairn::frame {

namespace {

bool IsZeros(const State& state, int64_t nchunk) {
  const absl::StatusOr<ChunkRef> chunk = FindChunk(state, nchunk);
  return chunk.ok() && chunk->found.entry.value == format::EntryOfSpecial(SpecialValue::kZeros);
}

absl::Status CheckAxis(std::string_view edit, int axis, std::span<const int64_t> shape) {
  if (axis >= 0 && axis < std::ssize(shape)) return absl::OkStatus();
  return OutOfRange("%s: axis %d, the array has %d dimensions", edit, axis, shape.size());
}

// Returns how many slices along an axis have `nbytes`. Errors: kInvalidArgument if these are not
// whole slices.
absl::StatusOr<int64_t> CountSlices(std::span<const int64_t> shape, size_t axis, int64_t typesize,
                                    int64_t nbytes) {
  std::optional<int64_t> slice = typesize;
  for (size_t d = 0; d < shape.size() && slice.has_value(); ++d) {
    if (d != axis) slice = CheckedMul(*slice, shape[d]);
  }
  if (!slice.has_value() || *slice == 0 || nbytes % *slice != 0) {
    return InvalidArgument(
        "append: %d bytes are not a multiple of %d, the bytes of a slice along axis %d", nbytes,
        slice.value_or(-1), axis);
  }
  return nbytes / *slice;
}

}  // namespace

// Replaces the chunks that the box touches. A new chunk begins with zeros if the box covers all
// items of the array in it, and otherwise with the old content.
absl::Status ArrayEditor::WriteBox(std::span<const int64_t> start, std::span<const int64_t> shape,
                                   Bytes items) {
  CAIRN_RETURN_IF_ERROR(edits_.CheckTakesItems());
  CAIRN_RETURN_IF_ERROR(edits_.chunk_writer().CheckOptions());
  CAIRN_ASSIGN_OR_RETURN(const ArrayGeometry geometry, GeometryOf(*edits_.MakeState()));
  CAIRN_ASSIGN_OR_RETURN(const Box box, geometry.MakeBox(start, shape));
  if (std::ssize(items) != geometry.NbytesOf(box)) {
    return InvalidArgument("box: has %d bytes, the items %d", geometry.NbytesOf(box), items.size());
  }
  CAIRN_RETURN_IF_ERROR(CheckChunkNbytes(*edits_.base(), geometry.chunksize()));
  if (items.empty()) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(stager_.pending().Close());
  CAIRN_ASSIGN_OR_RETURN(const StatePtr state, stager_.View());
  RecodedChunks chunks(edits_);
  std::vector<std::byte> content;
  CAIRN_RETURN_IF_ERROR(geometry.ForEachChunk(box, [&](const ChunkPart& part) {
    if (part.all_items) {
      content.assign(static_cast<size_t>(geometry.chunksize()), std::byte{0});
    } else {
      CAIRN_ASSIGN_OR_RETURN(content, ReadWholeChunk(*state, part.nchunk, state->env()->verify));
    }
    CAIRN_RETURN_IF_ERROR(geometry.ForEachRun(box, part, [&](const Run& run) {
      CopyBytes(items.subspan(static_cast<size_t>(run.in_box), static_cast<size_t>(run.nbytes)),
                MutableBytes(content).subspan(static_cast<size_t>(run.in_chunk)));
      return absl::OkStatus();
    }));
    CAIRN_ASSIGN_OR_RETURN(const ChunkCost old, edits_.CostOf(part.nchunk));
    return chunks.Add(part.nchunk, old, content);
  }));
  chunks.Apply();
  return absl::OkStatus();
}

// Prepares for the step in which the array `from` of the state becomes `to`. Replaces the chunks,
// numbered as in `from`, whose visible part changes and that hold anything but zeros where `from`
// or `to` does not show it.
absl::Status ArrayEditor::ClearPadding(const State& state, const ArrayGeometry& from,
                                       const ArrayGeometry& to, RecodedChunks& chunks) {
  const std::vector<Box> boxes = KeptOfCutChunks(from, to);
  if (boxes.empty()) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(CheckChunkNbytes(state, from.chunksize()));
  std::vector<std::byte> kept(static_cast<size_t>(from.chunksize()));
  for (const Box& box : boxes) {
    CAIRN_RETURN_IF_ERROR(from.ForEachChunk(box, [&](const ChunkPart& part) {
      if (IsZeros(state, part.nchunk)) return absl::OkStatus();
      CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> content,
                             ReadWholeChunk(state, part.nchunk, state.env()->verify));
      FillBytes(kept, std::byte{0});
      CAIRN_RETURN_IF_ERROR(from.ForEachRun(box, part, [&](const Run& run) {
        const auto begin = static_cast<size_t>(run.in_chunk);
        CopyBytes(Bytes(content).subspan(begin, static_cast<size_t>(run.nbytes)),
                  MutableBytes(kept).subspan(begin));
        return absl::OkStatus();
      }));
      if (kept == content) return absl::OkStatus();
      CAIRN_ASSIGN_OR_RETURN(const ChunkCost old, edits_.CostOf(part.nchunk));
      return chunks.Add(part.nchunk, old, kept);
    }));
  }
  return absl::OkStatus();
}

// Checks that new chunks can follow.
absl::Status ArrayEditor::CheckGrowth(const ArrayGeometry& from, const ArrayGeometry& to) const {
  if (to.nchunks() == 0) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(edits_.CheckTakesItems());
  const int32_t chunksize = staged_.header.chunksize;
  if (chunksize != format::kChunksizeUnknown && chunksize != to.chunksize()) {
    return FailedPrecondition("array: needs chunks of %d bytes, the frame's chunksize is %d",
                              to.chunksize(), chunksize);
  }
  return to.nchunks() > from.nchunks()
             ? edits_.CheckCapacity((to.nchunks() - from.nchunks()) * to.chunksize())
             : absl::OkStatus();
}

// A chunk can go even where it, or what the index says of it, cannot be read.
void ArrayEditor::EraseRun(int64_t first, int64_t count) {
  const absl::StatusOr<ChunkCost> cost = edits_.CostOf(first, count);
  staged_.Erase(first, count,
                {.nbytes = count * staged_.header.chunksize,
                 .stored = cost.ok() ? cost->stored : std::nullopt});
}

absl::Status ArrayEditor::PutShape(std::span<const int64_t> shape) {
  const Metalayer& layer = *format::FindB2ndLayer(staged_.metadata->metalayers);
  return edits_.Remember(
      MetadataEdits(stager_).PutMetalayer(layer.name, format::WithShape(layer.content, shape)));
}

absl::Status ArrayEditor::EditGrid(const ArrayGeometry& from, const ArrayGeometry& to) {
  if (to.nchunks() > 0) staged_.FixChunksize(to.chunksize());
  CAIRN_ASSIGN_OR_RETURN(
      const format::IndexedChunk zeros,
      edits_.chunk_writer().FromSpecial(SpecialValue::kZeros, to.chunksize(), {}));
  ResizeGrid(
      from, to, [&](int64_t first, int64_t count) { EraseRun(first, count); },
      [&](int64_t first, int64_t count) {
        for (int64_t i = 0; i < count; ++i) staged_.Insert(first + i, zeros);
      });
  return absl::OkStatus();
}

absl::Status ArrayEditor::ResizeArray(std::span<const int64_t> shape) {
  CAIRN_RETURN_IF_ERROR(edits_.chunk_writer().CheckOptions());
  CAIRN_ASSIGN_OR_RETURN(const ArrayGeometry from, GeometryOf(*edits_.MakeState()));
  ArrayInfo array = *staged_.metadata->array;
  if (shape.size() != array.shape.size()) {
    return InvalidArgument("resize: shape of %d dimensions, the array has %d", shape.size(),
                           array.shape.size());
  }
  if (std::ranges::equal(shape, array.shape)) {
    staged_.needs_same_chunks = true;
    return absl::OkStatus();
  }
  array.shape.assign(shape.begin(), shape.end());
  CAIRN_ASSIGN_OR_RETURN(const ArrayGeometry to,
                         ArrayGeometry::Make(array, staged_.header.typesize));
  CAIRN_RETURN_IF_ERROR(CheckGrowth(from, to));
  CAIRN_RETURN_IF_ERROR(stager_.pending().Close());
  CAIRN_ASSIGN_OR_RETURN(const StatePtr state, stager_.View());
  RecodedChunks chunks(edits_);
  CAIRN_RETURN_IF_ERROR(ClearPadding(*state, from, to, chunks));
  // From here on nothing can be refused.
  staged_.needs_same_chunks = true;
  chunks.Apply();
  CAIRN_RETURN_IF_ERROR(edits_.Remember(EditGrid(from, to)));
  return PutShape(shape);
}

absl::Status ArrayEditor::AppendSlices(int axis, Bytes items) {
  const StatePtr state = edits_.MakeState();
  CAIRN_ASSIGN_OR_RETURN(const ArrayGeometry geometry, GeometryOf(*state));
  CAIRN_RETURN_IF_ERROR(CheckChunkNbytes(*state, geometry.chunksize()));
  std::vector<int64_t> shape = state->metadata->array->shape;
  CAIRN_RETURN_IF_ERROR(CheckAxis("append", axis, shape));
  if (items.empty()) return absl::OkStatus();
  const auto d = static_cast<size_t>(axis);
  std::vector<int64_t> added = shape;
  CAIRN_ASSIGN_OR_RETURN(added[d],
                         CountSlices(shape, d, staged_.header.typesize, std::ssize(items)));
  std::vector<int64_t> start(shape.size());
  start[d] = shape[d];
  const std::optional<int64_t> extent = CheckedAdd(shape[d], added[d]);
  if (!extent.has_value()) return InvalidArgument("append: axis %d: over 2^63 items", axis);
  if (shape.size() == 1) return AppendToLine(geometry, *extent, items);
  shape[d] = *extent;
  CAIRN_RETURN_IF_ERROR(ResizeArray(shape));
  // All that can be wrong with it was seen by ResizeArray.
  return edits_.Remember(WriteBox(start, added, items));
}

absl::Status ArrayEditor::DeleteSlices(int axis, int64_t start, int64_t count) {
  CAIRN_ASSIGN_OR_RETURN(const ArrayGeometry geometry, GeometryOf(*edits_.MakeState()));
  std::vector<int64_t> shape = staged_.metadata->array->shape;
  CAIRN_RETURN_IF_ERROR(CheckAxis("delete", axis, shape));
  const auto d = static_cast<size_t>(axis);
  if (count < 0 || !RangeFits(start, count, shape[d])) {
    return OutOfRange("delete: slices from %d on, %d of them, of %d", start, count, shape[d]);
  }
  if (count == 0) return absl::OkStatus();
  const bool reaches_end = start + count == shape[d];
  shape[d] -= count;
  if (reaches_end) return ResizeArray(shape);
  CAIRN_RETURN_IF_ERROR(stager_.EncodeDirty());
  const int64_t extent = geometry.chunkshape()[d];
  if (start % extent != 0 || count % extent != 0) {
    return InvalidArgument(
        "delete: axis %d: slices %d to %d take whole chunks of %d slices, or must be the last",
        axis, start, start + count, extent);
  }
  staged_.needs_same_chunks = true;
  EraseCells(geometry, d, start / extent, count / extent,
             [&](int64_t first, int64_t chunks) { EraseRun(first, chunks); });
  return PutShape(shape);
}

// Items after the last one of an array of one dimension; of its last chunk `used` bytes are items.
absl::Status ArrayEditor::AppendPadded(int64_t used, Bytes items) {
  const int64_t capacity = ItemsOfChunk(*staged_.metadata) * staged_.header.typesize;
  CAIRN_RETURN_IF_ERROR(stager_.pending().Reopen(used));
  const int32_t chunksize = staged_.header.chunksize;
  CAIRN_RETURN_IF_ERROR(edits_.Remember(stager_.pending().Append(items, capacity, chunksize)));
  staged_.metadata = MetadataWith(staged_.metadata, staged_.chunks.size(), staged_.partial,
                                  staged_.header.typesize);
  return absl::OkStatus();
}

// As many items as an array of one dimension needs to have `length` of them: what fills no chunk
// stays pending.
absl::Status ArrayEditor::AppendToLine(const ArrayGeometry& from, int64_t length, Bytes items) {
  CAIRN_RETURN_IF_ERROR(edits_.chunk_writer().CheckOptions());
  ArrayInfo array = *staged_.metadata->array;
  array.shape = {length};
  CAIRN_ASSIGN_OR_RETURN(const ArrayGeometry to,
                         ArrayGeometry::Make(array, staged_.header.typesize));
  CAIRN_RETURN_IF_ERROR(CheckGrowth(from, to));
  staged_.FixChunksize(to.chunksize());
  const int64_t used = from.shape()[0] % from.chunkshape()[0] * staged_.header.typesize;
  CAIRN_RETURN_IF_ERROR(AppendPadded(used, items));
  if (staged_.partial.is_padded()) return absl::OkStatus();
  return PutShape(array.shape);
}

absl::Status ArrayEditor::BeginFrame() {
  const int32_t typesize = edits_.base()->header().typesize;
  CAIRN_ASSIGN_OR_RETURN(const ArrayGeometry geometry,
                         ArrayGeometry::Make(*edits_.base()->metadata->array, typesize));
  const int64_t nbytes = geometry.nchunks() * geometry.chunksize();
  CAIRN_RETURN_IF_ERROR(
      SpecialAppender(stager_).AppendSpecial(SpecialValue::kZeros, nbytes / typesize, {}));
  edits_.set_is_array(true);
  return absl::OkStatus();
}

}  // namespace cairn::frame
