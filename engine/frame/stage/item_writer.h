// Writes items over those that a frame has.
#ifndef CAIRN_ENGINE_FRAME_STAGE_ITEM_WRITER_H_
#define CAIRN_ENGINE_FRAME_STAGE_ITEM_WRITER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/frame/stage/recoded_chunks.h"
#include "engine/frame/stage/stager.h"

namespace cairn::frame {

// Made for one edit of a stager. Not thread-safe.
class ItemWriter {
 public:
  explicit ItemWriter(Stager& stager)
      : stager_(stager), edits_(stager.edits()), dirty_(stager.dirty()) {}

  // Writes whole items from number `start` on. Nothing has changed if a chunk cannot be read.
  absl::Status WriteItems(int64_t start, Bytes items);

 private:
  absl::StatusOr<int64_t> OverwriteAt(const State& state, int64_t begin, Bytes items,
                                      RecodedChunks& chunks);
  absl::Status WriteDirty(int64_t begin, Bytes items);

  Stager& stager_;
  StagedEdits& edits_;
  DirtyChunks& dirty_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STAGE_ITEM_WRITER_H_
