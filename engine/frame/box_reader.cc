#include "engine/frame/box_reader.h"

#include "engine/base/status.h"
#include "engine/format/b2nd.h"
#include "engine/frame/block_cursor.h"
#include "engine/frame/chunk_reader.h"

namespace cairn::frame {

absl::StatusOr<ArrayGeometry> GeometryOf(const State& state) {
  if (!state.array.has_value()) {
    // A metalayer that does not parse makes no array either, but says why.
    const absl::Status status = format::FindB2nd(state.header.metalayers).status();
    return absl::IsNotFound(status) ? absl::FailedPreconditionError(status.message()) : status;
  }
  absl::StatusOr<ArrayGeometry> geometry = ArrayGeometry::Make(*state.array, state.header.typesize);
  if (absl::IsInvalidArgument(geometry.status())) {
    return absl::DataLossError(geometry.status().message());
  }
  CAIRN_RETURN_IF_ERROR(geometry.status());
  if (CountChunks(state) != geometry->nchunks()) {
    return DataLoss("array: needs %d chunks, the frame has %d", geometry->nchunks(),
                    CountChunks(state));
  }
  if (geometry->nchunks() == 0) return geometry;
  if (state.header.chunksize != geometry->chunksize()) {
    return DataLoss("array: needs chunks of %d bytes, the frame's chunksize is %d",
                    geometry->chunksize(), state.header.chunksize);
  }
  // As many chunks, the last of them short.
  if (state.info.nbytes != geometry->nchunks() * geometry->chunksize()) {
    return DataLoss("array: needs %d bytes in %d chunks, the frame holds %d",
                    geometry->nchunks() * geometry->chunksize(), geometry->nchunks(),
                    state.info.nbytes);
  }
  return geometry;
}

absl::Status ReadBox(const State& state, std::span<const int64_t> start,
                     std::span<const int64_t> shape, MutableBytes dst) {
  CAIRN_ASSIGN_OR_RETURN(const ArrayGeometry geometry, GeometryOf(state));
  CAIRN_ASSIGN_OR_RETURN(const Box box, geometry.MakeBox(start, shape));
  if (static_cast<int64_t>(dst.size()) != geometry.NbytesOf(box)) {
    return InvalidArgument("box: has %d bytes, the buffer %d", geometry.NbytesOf(box), dst.size());
  }
  BlockCursor cursor(state);
  return geometry.ForEachChunk(box, [&](const ChunkPart& part) {
    CAIRN_RETURN_IF_ERROR(cursor.MoveTo(part.nchunk));
    return geometry.ForEachRun(box, part, [&](const Run& run) {
      return cursor.Read(run.in_chunk, dst.subspan(static_cast<size_t>(run.in_box),
                                                   static_cast<size_t>(run.nbytes)));
    });
  });
}

}  // namespace cairn::frame
