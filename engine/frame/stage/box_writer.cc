#include "engine/frame/stage/box_writer.h"

#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/format/index_entry.h"
#include "engine/frame/array/array_fit.h"
#include "engine/frame/read/chunk_reader.h"

namespace cairn::frame {

namespace {

bool IsZeros(const State& state, int64_t nchunk) {
  const absl::StatusOr<ChunkRef> chunk = FindChunk(state, nchunk);
  return chunk.ok() && chunk->found.entry.value == format::EntryOfSpecial(SpecialValue::kZeros);
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
  std::vector<std::byte> content;
  return geometry.ForEachChunk(box, [&](const ChunkPart& part) {
    if (part.all_items) {
      content.assign(static_cast<size_t>(geometry.chunksize()), std::byte{0});
    } else {
      CAIRN_ASSIGN_OR_RETURN(content, ReadWholeChunk(state, part.nchunk, state.env()->verify));
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

absl::Status ClearPadding(const State& state, const ArrayGeometry& from, const ArrayGeometry& to,
                          UpdateChunk update) {
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
      return kept == content ? absl::OkStatus() : update(part.nchunk, kept);
    }));
  }
  return absl::OkStatus();
}

}  // namespace cairn::frame
