#include "engine/frame/box_writer.h"

#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/frame/box_reader.h"
#include "engine/frame/chunk_reader.h"

namespace cairn::frame {

namespace {

absl::Status ReadWholeChunk(const State& state, int64_t nchunk, MutableBytes dst) {
  const chunk::WorkspacePool::Lease lease = state.env->pool.Acquire();
  CAIRN_ASSIGN_OR_RETURN(const OpenChunk chunk,
                         OpenChunk::Open(state, nchunk, state.env->verify, lease->stored));
  if (absl::Status status = chunk.Read(0, dst); !status.ok()) {
    return AtChunk(nchunk, status);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteBox(const State& state, const BoxItems& given, UpdateChunk update) {
  CAIRN_ASSIGN_OR_RETURN(const ArrayGeometry geometry, GeometryOf(state));
  CAIRN_ASSIGN_OR_RETURN(const Box box, geometry.MakeBox(given.start, given.shape));
  if (static_cast<int64_t>(given.items.size()) != geometry.NbytesOf(box)) {
    return InvalidArgument("box: has %d bytes, the items %d", geometry.NbytesOf(box),
                           given.items.size());
  }
  CAIRN_RETURN_IF_ERROR(CheckChunkNbytes(state, geometry.chunksize()));
  std::vector<std::byte> content(given.items.empty() ? 0
                                                     : static_cast<size_t>(geometry.chunksize()));
  return geometry.ForEachChunk(box, [&](const ChunkPart& part) {
    if (part.all_items) {
      FillBytes(content, std::byte{0});
    } else {
      CAIRN_RETURN_IF_ERROR(ReadWholeChunk(state, part.nchunk, content));
    }
    CAIRN_RETURN_IF_ERROR(geometry.ForEachRun(box, part, [&](const Run& run) {
      CopyBytes(
          given.items.subspan(static_cast<size_t>(run.in_box), static_cast<size_t>(run.nbytes)),
          MutableBytes(content).subspan(static_cast<size_t>(run.in_chunk)));
      return absl::OkStatus();
    }));
    return update(part.nchunk, content);
  });
}

}  // namespace cairn::frame
