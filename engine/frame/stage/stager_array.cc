#include <algorithm>
#include <optional>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/format/b2nd.h"
#include "engine/frame/array/array_fit.h"
#include "engine/frame/read/chunk_reader.h"
#include "engine/frame/stage/stager.h"

namespace cairn::frame {

// For edits that change which chunks there are, or where. A frame whose metalayer asks for other
// chunks than it has is no array: it may be mended, or not be complete yet.
absl::Status Stager::CheckMayRecut(std::string_view edit) const {
  if (!is_array_) return absl::OkStatus();
  return FailedPrecondition(
      "%s: the frame is an n-dimensional array, whose chunks follow from its shape: resize it, "
      "append along an axis or write a box instead",
      edit);
}

// Of a chunk that another program made for the array.
absl::Status Stager::CheckBlocks(int64_t nchunk, const chunk::Header& header) const {
  const int32_t typesize = staged_.header.typesize;
  CAIRN_ASSIGN_OR_RETURN(const ArrayInfo array, format::FindB2nd(staged_.metadata->metalayers));
  CAIRN_ASSIGN_OR_RETURN(const ArrayGeometry geometry, ArrayGeometry::Make(array, typesize));
  const absl::Status status = CheckArrayChunk(header, geometry, typesize);
  if (status.ok()) return absl::OkStatus();
  return FailedPrecondition("chunk %d: %s", nchunk, status.message());
}

absl::Status Stager::WriteBox(const BoxItems& box) {
  CAIRN_RETURN_IF_ERROR(CheckTakesItems());
  CAIRN_RETURN_IF_ERROR(chunk_writer_.CheckOptions());
  CAIRN_RETURN_IF_ERROR(ClosePartialChunk());
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<const State> state, View());
  std::vector<Update> updates;
  CAIRN_RETURN_IF_ERROR(frame::WriteBox(*state, box, [&](int64_t nchunk, Bytes content) {
    CAIRN_ASSIGN_OR_RETURN(updates.emplace_back(), Recode(nchunk, content));
    return absl::OkStatus();
  }));
  Apply(updates);
  return absl::OkStatus();
}

// Whether new chunks can follow.
absl::Status Stager::CheckGrowth(const ArrayGeometry& from, const ArrayGeometry& to) {
  if (to.nchunks() == 0) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(CheckTakesItems());
  const int32_t chunksize = staged_.header.chunksize;
  if (chunksize != format::kChunksizeUnknown && chunksize != to.chunksize()) {
    return FailedPrecondition("array: needs chunks of %d bytes, the frame's chunksize is %d",
                              to.chunksize(), chunksize);
  }
  return to.nchunks() > from.nchunks() ? CheckRoom((to.nchunks() - from.nchunks()) * to.chunksize())
                                       : absl::OkStatus();
}

// A chunk can go even where it, or what the index says of it, cannot be read.
void Stager::EraseRun(int64_t first, int64_t count) {
  const absl::StatusOr<ChunkCost> cost = CostOf(first, count);
  staged_.Erase(first, count,
                {.nbytes = count * staged_.header.chunksize,
                 .stored = cost.ok() ? cost->stored : std::nullopt});
}

absl::Status Stager::EditGrid(const ArrayGeometry& from, const ArrayGeometry& to) {
  if (to.nchunks() > 0) FixChunksize(to.chunksize());
  CAIRN_ASSIGN_OR_RETURN(const format::IndexedChunk zeros,
                         chunk_writer_.FromSpecial(SpecialValue::kZeros, to.chunksize(), {}));
  ResizeGrid(
      from, to, [&](int64_t first, int64_t count) { EraseRun(first, count); },
      [&](int64_t first, int64_t count) {
        for (int64_t i = 0; i < count; ++i) staged_.Insert(first + i, zeros);
      });
  return absl::OkStatus();
}

absl::Status Stager::Resize(std::span<const int64_t> shape) {
  CAIRN_RETURN_IF_ERROR(chunk_writer_.CheckOptions());
  CAIRN_RETURN_IF_ERROR(ClosePartialChunk());
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<const State> state, View());
  CAIRN_ASSIGN_OR_RETURN(const ArrayGeometry from, GeometryOf(*state));
  ArrayInfo array = *state->metadata->array;
  if (shape.size() != array.shape.size()) {
    return InvalidArgument("resize: shape of %d dimensions, the array has %d", shape.size(),
                           array.shape.size());
  }
  if (std::ranges::equal(shape, array.shape)) return absl::OkStatus();
  array.shape.assign(shape.begin(), shape.end());
  CAIRN_ASSIGN_OR_RETURN(const ArrayGeometry to,
                         ArrayGeometry::Make(array, staged_.header.typesize));
  CAIRN_RETURN_IF_ERROR(CheckGrowth(from, to));
  std::vector<Update> updates;
  CAIRN_RETURN_IF_ERROR(ClearPadding(*state, from, to, [&](int64_t nchunk, Bytes content) {
    CAIRN_ASSIGN_OR_RETURN(updates.emplace_back(), Recode(nchunk, content));
    return absl::OkStatus();
  }));
  // From here on nothing can be refused.
  Apply(updates);
  CAIRN_RETURN_IF_ERROR(Remember(EditGrid(from, to)));
  const Metalayer& layer = *format::FindB2ndLayer(staged_.metadata->metalayers);
  return Remember(PutMetalayer(layer.name, format::WithShape(layer.content, shape)));
}

// The items of so many slices along an axis; kInvalidArgument for a part of one.
absl::StatusOr<int64_t> Stager::CountSlices(std::span<const int64_t> shape, size_t axis,
                                            int64_t nbytes) const {
  std::optional<int64_t> slice = staged_.header.typesize;
  for (size_t d = 0; d < shape.size() && slice.has_value(); ++d) {
    if (d != axis) slice = CheckedMul(*slice, shape[d]);
  }
  if (!slice.has_value() || *slice == 0 || nbytes % *slice != 0) {
    return InvalidArgument("append: %d bytes are no whole slices along axis %d, of %d bytes each",
                           nbytes, axis, slice.value_or(-1));
  }
  return nbytes / *slice;
}

absl::Status Stager::AppendAlong(int axis, Bytes items) {
  const std::shared_ptr<const State> state = MakeState();
  CAIRN_ASSIGN_OR_RETURN(const ArrayGeometry geometry, GeometryOf(*state));
  CAIRN_RETURN_IF_ERROR(CheckChunkNbytes(*state, geometry.chunksize()));
  std::vector<int64_t> shape = state->metadata->array->shape;
  if (axis < 0 || axis >= std::ssize(shape)) {
    return OutOfRange("append: axis %d, the array has %d dimensions", axis, shape.size());
  }
  if (items.empty()) return absl::OkStatus();
  const auto d = static_cast<size_t>(axis);
  std::vector<int64_t> added = shape;
  CAIRN_ASSIGN_OR_RETURN(added[d], CountSlices(shape, d, std::ssize(items)));
  std::vector<int64_t> start(shape.size());
  start[d] = shape[d];
  const std::optional<int64_t> extent = CheckedAdd(shape[d], added[d]);
  if (!extent.has_value()) return InvalidArgument("append: axis %d: over 2^63 items", axis);
  shape[d] = *extent;
  CAIRN_RETURN_IF_ERROR(Resize(shape));
  // All that can be wrong with it was seen by Resize.
  return Remember(WriteBox({.start = start, .shape = added, .items = items}));
}

// Fills a new frame with the zeros of its array.
absl::Status Stager::MakeArray() {
  CAIRN_ASSIGN_OR_RETURN(const ArrayGeometry geometry,
                         ArrayGeometry::Make(*base_->metadata->array, base_->header().typesize));
  const int64_t nbytes = geometry.nchunks() * geometry.chunksize();
  CAIRN_RETURN_IF_ERROR(AppendSpecial(SpecialValue::kZeros, nbytes / base_->header().typesize, {}));
  is_array_ = true;
  return absl::OkStatus();
}

}  // namespace cairn::frame
