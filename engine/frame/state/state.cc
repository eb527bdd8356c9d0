#include "engine/frame/state/state.h"

#include <algorithm>
#include <utility>

#include "engine/format/b2nd.h"
#include "engine/frame/read/stored_chunk.h"

namespace cairn::frame {

namespace {

// What holds the chunks, live and dead.
int64_t AreaOf(const State& state) {
  return state.header.layout == Layout::kSparse ? state.header.cbytes
                                                : state.chunks_end - state.header.header_len;
}

}  // namespace

int64_t CommittedEnd(const State& state) {
  return state.journal.has_value() ? state.journal->end : state.header.frame_size;
}

void SetContiguousSource(State& state) {
  state.area = std::make_shared<ContiguousChunkSource>(state.region, state.header.header_len,
                                                       state.chunks_end);
}

std::optional<int64_t> StoredBytesOf(const State& state) {
  const int64_t area = AreaOf(state);
  if (state.seal_holds && state.seal->dead_bytes <= area) {
    return state.seal->dead_bytes < 0 ? std::nullopt : std::optional(area - state.seal->dead_bytes);
  }
  if (state.chunks.size() == 0) return 0;
  return state.header.layout == Layout::kSparse ? std::optional(area) : std::nullopt;
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
  // What a batch made of a frame that was empty.
  const bool variable = header.variable_chunks() || header.vlblocks;
  if (state.journal.has_value() && variable) info.format_version = format::kFrameVersionVariable;
  info.nchunks = CountChunks(state);
  info.nitems = header.nbytes / header.typesize;
  info.nbytes = header.nbytes;
  const int64_t area = AreaOf(state);
  info.cbytes = state.stored_bytes.value_or(area);
  if (state.stored_bytes.has_value()) info.dead_bytes = std::max<int64_t>(area - info.cbytes, 0);
  info.frame_size = header.frame_size;
  info.header_len = header.header_len;
  info.typesize = header.typesize;
  info.variable_chunks = header.variable_chunks();
  if (header.chunksize > 0) info.chunksize = header.chunksize;
  if (header.blocksize > 0) info.blocksize = header.blocksize;
  info.codec = header.codec;
  info.codec_meta = header.codec_meta;
  info.clevel = header.clevel;
  info.split_mode = header.split_mode;
  info.use_dict = header.use_dict;
  info.vlblocks = header.vlblocks;
  for (const FilterStage& stage : header.filters) {
    if (stage.filter != Filter::kNone) info.filters.push_back(stage);
  }
  if (state.seal != nullptr) info.generation = state.seal->generation;
  if (state.journal.has_value()) {
    info.generation = state.journal->generation;
    info.journal_size = state.journal->end - state.journal->begin;
  }
  return info;
}

void RenewInfo(State& state) {
  FrameInfo info = MakeInfo(state);
  info.fingerprint = state.info.fingerprint;
  info.sealed = state.info.sealed;
  info.trailer_damaged = state.info.trailer_damaged;
  state.info = std::move(info);
}

}  // namespace cairn::frame
