// Compresses all chunks of one edit before the first of them takes its place.
#ifndef CAIRN_ENGINE_FRAME_STAGE_RECODED_CHUNKS_H_
#define CAIRN_ENGINE_FRAME_STAGE_RECODED_CHUNKS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"

#include "engine/frame/stage/staged_edits.h"

namespace cairn::frame {

// All chunks are read before Apply, so a chunk that cannot be read leaves nothing half changed. Not
// thread-safe.
class RecodedChunks {
 public:
  // `edits` must outlive this.
  explicit RecodedChunks(StagedEdits& edits) : edits_(edits) {}

  // Compresses `content`, which has all items of the new chunk.
  absl::Status Add(int64_t nchunk, const ChunkCost& old, Bytes content);
  // Puts all chunks into the staged state.
  void Apply();

 private:
  struct Update {
    int64_t nchunk = 0;
    ChunkCost old;
    format::IndexedChunk chunk;
  };

  StagedEdits& edits_;
  std::vector<Update> updates_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STAGE_RECODED_CHUNKS_H_
