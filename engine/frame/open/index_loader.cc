#include "engine/frame/open/index_loader.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/format/index_entry.h"
#include "engine/format/trailer.h"

namespace cairn::frame {

absl::StatusOr<Chunk> PinTrailer(const FrameView& region, int64_t end, int64_t most) {
  CAIRN_ASSIGN_OR_RETURN(const Chunk tail,
                         region.Pin(end - format::kTrailerTailSize, format::kTrailerTailSize));
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, format::ParseTrailerSize(tail.bytes(), most));
  return region.Pin(end - size, size);
}

absl::StatusOr<int64_t> AgreeOnCount(const format::FrameHeader& header,
                                     const chunk::Header& index) {
  const int64_t in_index = index.nbytes / format::kIndexTypesize;
  const int64_t in_header =
      header.variable_chunks() ? in_index : CeilDiv<int64_t>(header.nbytes, header.chunksize);
  if (index.nbytes % format::kIndexTypesize != 0 || in_header != in_index || in_index == 0) {
    return DataLoss("index: nbytes: expected 8 for each of %d chunks, got %d", in_header,
                    index.nbytes);
  }
  if (header.variable_chunks() && in_index > MaxVariableChunks(header.cbytes)) {
    return DataLoss("index: %d chunks in an area of %d bytes", in_index, header.cbytes);
  }
  return in_header;
}

absl::StatusOr<FoundIndex> FindIndexChunk(const FrameView& region, Checkpoint& checkpoint) {
  const format::FrameHeader& header = checkpoint.header;
  FoundIndex found;
  if (header.nbytes == 0) return found;
  const std::optional<int64_t> begin = header.index_begin();
  const int64_t end = checkpoint.trailer.begin;
  if (!begin.has_value() || *begin > end) {
    return DataLoss("frame header: cbytes: expected up to %d, got %d", end - header.header_len,
                    header.cbytes);
  }
  const int64_t available = end - *begin;
  CAIRN_ASSIGN_OR_RETURN(const Chunk head,
                         region.Pin(*begin, std::min<int64_t>(available, chunk::kHeaderSize)));
  const absl::StatusOr<chunk::Header> index = chunk::ParseHeader(head.bytes(), available);
  if (!index.ok()) return Annotate("index", index.status());
  CAIRN_ASSIGN_OR_RETURN(found.nchunks, AgreeOnCount(header, *index));
  const int64_t limit = checkpoint.env->limits.max_nchunks;
  if (found.nchunks > limit) {
    return ResourceExhausted("index: %d chunks pass the limit of %d", found.nchunks, limit);
  }
  CAIRN_ASSIGN_OR_RETURN(found.chunk, region.Pin(*begin, index->cbytes));
  checkpoint.index = {*begin, *begin + index->cbytes};
  return found;
}

absl::Status AttachIndex(FoundIndex found, std::optional<IndexSeal> seal, State& state) {
  state.chunks_end = state.header().header_len;
  if (found.nchunks == 0) return absl::OkStatus();
  state.chunks_end = state.checkpoint->index.begin;
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const CommittedIndex> offsets,
                         CommittedIndex::Open(std::move(found.chunk), found.nchunks,
                                              std::move(seal), &state.env()->pool));
  state.chunks = ChunkIndex(std::move(offsets));
  return absl::OkStatus();
}

}  // namespace cairn::frame
