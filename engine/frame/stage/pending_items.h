// Appends items to a frame of fixed chunks, and keeps those that do not fill a chunk yet.
#ifndef CAIRN_ENGINE_FRAME_STAGE_PENDING_ITEMS_H_
#define CAIRN_ENGINE_FRAME_STAGE_PENDING_ITEMS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"

#include "engine/frame/stage/dirty_chunks.h"
#include "engine/frame/stage/staged_edits.h"

namespace cairn::frame {

// Cuts appended items into chunks. The rest stays in the partial chunk of the staged state, perhaps
// after a head: the items of a short chunk that is stored. Not thread-safe.
class PendingItems {
 public:
  // Both must outlive this.
  PendingItems(StagedEdits& edits, DirtyChunks& dirty)
      : edits_(edits), staged_(edits.staged()), dirty_(dirty) {}

  // Makes the last chunk, if it has room for more, the head of the partial chunk. `used` bytes of
  // it are items, or 0 if the chunk is full. If there is a partial chunk already, only reads its
  // head.
  absl::Status Reopen(int64_t used);
  // Appends items in chunks of `capacity` bytes, which are padded unless `padded_to` is 0.
  absl::Status Append(Bytes items, int64_t capacity, int32_t padded_to);
  // Makes a chunk of the partial one, if there is one.
  absl::Status Close();
  // Forgets the head, because the staged edits are other ones.
  void ForgetHead() { head_items_.clear(); }

 private:
  absl::Status LoadHead();
  void RecordLength();

  StagedEdits& edits_;
  StagedState& staged_;
  DirtyChunks& dirty_;
  std::vector<std::byte> head_items_;  // items of the head; empty until they are needed
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STAGE_PENDING_ITEMS_H_
