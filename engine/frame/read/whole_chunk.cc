#include "engine/frame/read/whole_chunk.h"

#include "engine/base/status.h"
#include "engine/frame/read/chunk_reader.h"

namespace cairn::frame {

absl::StatusOr<std::vector<std::byte>> ReadWholeChunk(const State& state, int64_t nchunk,
                                                      VerifyPolicy policy) {
  ScratchBuffer scratch;
  CAIRN_ASSIGN_OR_RETURN(const ChunkReader chunk,
                         ChunkReader::Open(state, nchunk, policy, scratch));
  std::vector<std::byte> items(static_cast<size_t>(chunk.nbytes()));
  if (absl::Status status = chunk.Read(0, items); !status.ok())
    return AnnotateChunk(nchunk, status);
  return items;
}

}  // namespace cairn::frame
