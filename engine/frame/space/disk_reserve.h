// Reserves disk space for a frame, so that a full disk can be freed: before chunks are deleted and
// their space is reclaimed, checkpoints must be written.
#ifndef CAIRN_ENGINE_FRAME_SPACE_DISK_RESERVE_H_
#define CAIRN_ENGINE_FRAME_SPACE_DISK_RESERVE_H_

#include <cstdint>

#include "absl/status/status.h"

#include "cairn/file_system.h"
#include "engine/frame/stage/staged_state.h"

namespace cairn::frame {

// The most bytes that a checkpoint of the staged state needs, as far as that can be known without
// encoding it.
struct CheckpointNeed {
  int64_t index = 0;        // of the index and the trailer, for each checkpoint
  int64_t pending = 0;      // of the chunk that the pending items become, only once
  int64_t last_blocks = 0;  // of the disk, which the index does not fill if it is a file
};
CheckpointNeed NeedOf(const StagedState& staged, const State& base);

// Returns true if there are staged edits, and they leave more live bytes than there were, or as
// many in other chunks. Layers of the same size need no more than a record.
bool Grows(const StagedState& staged, const State& base);

// Returns the most bytes of a commit that deletes chunks and of the checkpoint after it.
int64_t RoomForNext(const StagedState& staged, const State& base);

// Returns the bytes that a step must leave for those that follow it. A step that changes nothing
// must leave nothing. A step that makes the frame smaller must leave `reclaim` bytes, for the
// checkpoint with which Reclaim begins, if history is kept, and otherwise nothing.
int64_t NeedAfter(const StagedState& staged, const State& base, int64_t reclaim,
                  bool keeps_history);

// Adds to `status`, the kResourceExhausted of a reservation, what `kept` bytes of it are for.
absl::Status DiskIsFull(const absl::Status& status, int64_t kept);

// Reserves the bytes that a frame at rest needs after `end`, the end of its content: for a commit
// that deletes and its checkpoint and, if history is kept, for the checkpoint with which Reclaim
// begins.
// Errors: kResourceExhausted if the disk has fewer. Reserves most of these then.
absl::Status HoldAtRest(const State& base, File& file, int64_t end, bool keeps_history);

// Reserves space ahead of the bytes that are being written to a file. Not thread-safe.
class Headroom {
 public:
  // Reserves space for the file's bytes from `begin` up to `end`, and for `kept` bytes after that.
  // Reserves some more if there is room, up to `most`, so that not every commit has to make a
  // larger size durable.
  // Errors: kResourceExhausted if the disk is too full. If the file system cannot reserve space,
  // this succeeds, and the write itself may fail.
  absl::Status Extend(File& file, int64_t begin, int64_t end, int64_t kept, int64_t most);
  // Returns the end of the reserved bytes.
  int64_t end() const { return end_; }
  // Begins again with bytes reserved up to `end`: the file was cut, or is another one, or another
  // writer had it.
  void Reset(int64_t end) {
    end_ = end;
    step_ = 0;
  }

 private:
  absl::Status Grow(File& file, int64_t begin, int64_t end) const;

  int64_t end_ = 0;
  int64_t step_ = 0;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_SPACE_DISK_RESERVE_H_
