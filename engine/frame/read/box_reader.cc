#include "engine/frame/read/box_reader.h"

#include "engine/base/status.h"
#include "engine/frame/array/array_fit.h"
#include "engine/frame/read/block_cursor.h"

namespace cairn::frame {

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
