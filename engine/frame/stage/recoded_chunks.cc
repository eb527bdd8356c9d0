#include "engine/frame/stage/recoded_chunks.h"

#include "engine/base/status.h"

namespace cairn::frame {

absl::Status RecodedChunks::Add(int64_t nchunk, const ChunkCost& old, Bytes content) {
  CAIRN_ASSIGN_OR_RETURN(const format::IndexedChunk chunk,
                         edits_.Remember(edits_.chunk_writer().FromItems(content)));
  updates_.push_back({.nchunk = nchunk, .old = old, .chunk = chunk});
  return absl::OkStatus();
}

void RecodedChunks::Apply() {
  for (const Update& update : updates_) edits_.Replace(update.nchunk, update.old, update.chunk);
}

}  // namespace cairn::frame
