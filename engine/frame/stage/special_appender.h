// Appends items that all have the same value, without storing each of them.
#ifndef CAIRN_ENGINE_FRAME_STAGE_SPECIAL_APPENDER_H_
#define CAIRN_ENGINE_FRAME_STAGE_SPECIAL_APPENDER_H_

#include <cstdint>

#include "absl/status/status.h"

#include "cairn/types.h"
#include "engine/frame/stage/stager.h"

namespace cairn::frame {

// Makes one edit of a stager. Not thread-safe.
class SpecialAppender {
 public:
  explicit SpecialAppender(Stager& stager)
      : edits_(stager.edits()), staged_(edits_.staged()), pending_(stager.pending()) {}

  // Appends `nitems` items. `value` is one item and given with kRepeat only.
  absl::Status AppendSpecial(SpecialValue special, int64_t nitems, Bytes value);

 private:
  int64_t TakeShortRun(SpecialValue special);
  absl::Status StageChunks(SpecialValue special, int64_t nbytes, Bytes value);
  absl::Status StageItems(SpecialValue special, int64_t nbytes, Bytes value);

  StagedEdits& edits_;
  StagedState& staged_;
  PendingItems& pending_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STAGE_SPECIAL_APPENDER_H_
