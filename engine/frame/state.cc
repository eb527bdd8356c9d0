#include "engine/frame/state.h"

#include <utility>

#include "engine/format/b2nd.h"
#include "engine/frame/chunk_reader.h"

namespace cairn::frame {

void SetContiguousArea(State& state) {
  state.area =
      std::make_shared<ContiguousArea>(state.region, state.header.header_len, state.chunks_end);
}

std::optional<ArrayInfo> ArrayOf(const format::FrameHeader& header) {
  absl::StatusOr<ArrayInfo> array = format::FindB2nd(header.metalayers);
  return array.ok() ? std::optional(*std::move(array)) : std::nullopt;
}

FrameInfo MakeInfo(const State& state) {
  const format::FrameHeader& header = state.header;
  FrameInfo info;
  info.layout = header.layout;
  info.era = state.era;
  info.format_version = header.version;
  info.nchunks = CountChunks(state);
  info.nitems = header.nbytes / header.typesize;
  info.nbytes = header.nbytes;
  const bool sparse = header.layout == Layout::kSparse;
  info.cbytes = sparse ? header.cbytes : state.chunks_end - header.header_len;
  info.frame_size = header.frame_size;
  info.header_len = header.header_len;
  info.typesize = header.typesize;
  info.chunksize = header.chunksize;
  info.blocksize = header.blocksize;
  info.codec = header.codec;
  info.codec_meta = header.codec_meta;
  info.clevel = header.clevel;
  info.split_mode = header.split_mode;
  info.use_dict = header.use_dict;
  info.vlblocks = header.vlblocks;
  for (const FilterStage& stage : header.filters) {
    if (stage.filter != Filter::kNone) info.filters.push_back(stage);
  }
  info.dead_bytes = info.nchunks == 0 ? info.cbytes : sparse ? 0 : -1;
  if (state.seal.has_value()) {
    info.generation = state.seal->generation;
    const bool plausible = state.seal->dead_bytes <= info.cbytes;
    if (state.seal_holds && plausible) info.dead_bytes = state.seal->dead_bytes;
  }
  if (info.dead_bytes > 0) info.cbytes -= info.dead_bytes;
  return info;
}

}  // namespace cairn::frame
