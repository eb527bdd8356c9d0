// The end of a frame's journal: where staged chunks and the next record go.
#ifndef CAIRN_ENGINE_FRAME_JOURNAL_JOURNAL_TAIL_H_
#define CAIRN_ENGINE_FRAME_JOURNAL_JOURNAL_TAIL_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

#include "engine/base/extent.h"
#include "engine/frame/checkpoint/committed_frame.h"
#include "engine/frame/journal/unsynced_commits.h"
#include "engine/frame/space/frame_space.h"
#include "engine/frame/stage/contiguous_sink.h"
#include "engine/frame/stage/staged_state.h"

namespace cairn::frame {

// Owns the sink that writes there and the space of the frame, from which the sink takes. Not
// thread-safe.
class JournalTail {
 public:
  // Both must outlive this. StageAt must follow.
  JournalTail(CommittedFrame& frame, UnsyncedCommits& unsynced)
      : frame_(frame), unsynced_(unsynced) {}

  // Starts to stage at `position`, which lies after every committed byte. Chunks may also go into
  // free space.
  void StageAt(int64_t position);
  // Continues the journal after these bytes, which are for a checkpoint.
  void SetAside(const Extent& region);
  // Forgets these bytes, because another journal has begun.
  void ForgetAside() { set_aside_ = {}; }
  // Frees what was staged in free space. If a snapshot reads it, it is dying instead: it dies with
  // the next checkpoint.
  void ReturnStaged(bool is_pinned);
  // Takes note of a commit of the edits: the chunks that they placed live, and the chunks that they
  // removed are dying.
  void CommitStaged(const StagedState& staged);

  const ContiguousSink& sink() const { return *sink_; }
  ContiguousSink& sink() { return *sink_; }
  // Returns the position after everything that is written or staged.
  int64_t end() const { return sink_->end(); }
  const FrameSpace& space() const { return space_; }
  FrameSpace& space() { return space_; }
  void SetSpace(FrameSpace space) { space_ = std::move(space); }
  // Returns the space when what is staged is committed.
  FrameSpace SpaceWith(const StagedState& staged) const;
  // Frees up to `most` extents that readers have left.
  void Release(int64_t most = INT64_MAX);
  // Free space may lie in holes from now on.
  void NoteHoles() { has_holes_ = true; }
  // Runs `reserve`, and again if the disk is full and gets free space of the file.
  absl::Status ReserveWithFree(absl::FunctionRef<absl::Status()> reserve);
  // Gives free space of the file to the disk. Returns true if the disk has more space now.
  absl::StatusOr<bool> PunchFree();
  // Reserves what the frame needs at rest after `end`, as far as the disk has it.
  void HoldReserve(int64_t end);
  // Tells the sink where dead bytes lie.
  void SetRoom();

  // Returns the chunks since the last checkpoint if the next journal will need room for as many, or
  // else none; see LeaveRoom.
  PlacedChunks ChunksToExpect() const;
  // Items that are committed before they fill a chunk are written twice, as records and in the
  // chunk. A chunk that lies between such records leaves dead pieces on both sides, each too small
  // for another chunk. So this makes the journal longer, until these chunks fit into the dead bytes
  // at its end and the free extents. Nothing may follow in the journal but what the
  // checkpoint of the staged state writes.
  absl::Status LeaveRoom(const PlacedChunks& chunks, const StagedState& staged);

  // Returns true if there is room for `size` more bytes of journal and the mark of the end.
  bool HasRoomFor(int64_t size);
  // Returns the end of the journal after MarkEnded, which writes a record if there is room for it.
  int64_t EndWithMark() const;
  // Writes a record at `end`, where the journal of `before` ends. It names the checkpoint that
  // replaced `before` and is durable. If a disk loses the new header, whoever opens the frame sees
  // that something is missing.
  absl::Status MarkEnded(const State& before, int64_t end);
  // Returns the bytes of the journal after `durable_end` that no checkpoint syncs.
  int64_t BytesAfter(int64_t durable_end) const;

 private:
  const State& base() const { return *frame_.state; }
  void NoteStaged(const StagedState& staged, FrameSpace& space) const;
  bool HasHoles();
  bool NeedsAnchor(int64_t position) const;

  CommittedFrame& frame_;
  UnsyncedCommits& unsynced_;
  FrameSpace space_;
  std::optional<ContiguousSink> sink_;
  std::optional<bool> has_holes_;  // free space may have some
  Extent set_aside_;               // bytes of the journal for a checkpoint
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_JOURNAL_JOURNAL_TAIL_H_
