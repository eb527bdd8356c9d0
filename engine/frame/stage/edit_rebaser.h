// Makes staged edits again on top of what other writers have committed.
#ifndef CAIRN_ENGINE_FRAME_STAGE_EDIT_REBASER_H_
#define CAIRN_ENGINE_FRAME_STAGE_EDIT_REBASER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/format/journal.h"
#include "engine/frame/stage/stager.h"

namespace cairn::frame {

// The commits that other writers have made since some state, one after the other. Nothing if they
// are no longer known.
using OtherCommits = std::optional<std::vector<format::CommitRecord>>;

// Makes one rebase of a stager. Not thread-safe.
class EditRebaser {
 public:
  explicit EditRebaser(Stager& stager)
      : stager_(stager), edits_(stager.edits()), staged_(edits_.staged()) {}

  // Makes the edits on `newest` instead of on the base. The commits `between` lead from the base to
  // `newest`. Appended items follow the items that these commits appended.
  // Errors: kAborted if both have changed the same chunk or layer, or one has moved chunks that the
  // other has changed; then nothing has changed.
  absl::Status RebaseOnto(StatePtr newest, const OtherCommits& between);

 private:
  absl::StatusOr<bool> ChangesEnd(const State& view, int64_t complete) const;
  absl::Status Redo(const StagedState& old, const State& old_base);
  absl::Status RedoAll(const StagedState& old, const State& old_base);
  absl::Status AppendAgain(const State& view, int64_t begin);
  absl::Status Merge(const StagedState& old, const State& view, int64_t begin,
                     const State& old_base);

  Stager& stager_;
  StagedEdits& edits_;
  StagedState& staged_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STAGE_EDIT_REBASER_H_
