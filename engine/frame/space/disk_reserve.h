// Disk space that a frame keeps for itself, so that a full disk can be freed: to delete chunks and
// to reclaim their space, checkpoints have to be written first.
#ifndef CAIRN_ENGINE_FRAME_SPACE_DISK_RESERVE_H_
#define CAIRN_ENGINE_FRAME_SPACE_DISK_RESERVE_H_

#include <cstdint>

#include "absl/status/status.h"

#include "cairn/file_system.h"
#include "engine/frame/stage/staged_state.h"

namespace cairn::frame {

// What a checkpoint of the staged state needs at most, as far as can be known without encoding it.
struct CheckpointNeed {
  int64_t index = 0;    // index and trailer
  int64_t pending = 0;  // the chunk that the pending items become; once
};
CheckpointNeed NeedOf(const StagedState& staged, const State& base);

// Whether the staged edits leave no less than there was.
bool Grows(const StagedState& staged, const State& base);

// What the next checkpoint takes, one that deletes.
int64_t RoomForNext(const StagedState& staged, const State& base);

// What a step leaves for those that follow it: one that makes the frame smaller only what Reclaim
// begins with where history is kept, and one that changes nothing need leave nothing.
int64_t NeedAfter(const StagedState& staged, const State& base, int64_t reclaim,
                  bool keeps_history);

// The kResourceExhausted of a reservation, with what `kept` bytes of it are for.
absl::Status DiskIsFull(const absl::Status& status, int64_t kept);

// Keeps what a frame at rest needs after `end`, where what is in the file ends, or as much of it as
// there is: one checkpoint that deletes, and where history is kept the one with which Reclaim
// begins.
void HoldAtRest(const State& base, File& file, int64_t end, bool keeps_history);

// Space ahead of what is being written to a file. Not thread-safe.
class Headroom {
 public:
  // Makes sure that [the file's end, end) can be written, and `kept` bytes after it, and if there
  // is room some more, up to `most`: a commit should not have to make a larger size durable.
  // kResourceExhausted
  // when the disk is too full. Where nothing can be reserved, the write itself fails.
  absl::Status Extend(File& file, int64_t end, int64_t kept, int64_t most);
  // Bytes before this are reserved.
  int64_t end() const { return end_; }
  // The file was cut, or is another one, or another writer had it: bytes before `end` are reserved.
  void Reset(int64_t end) {
    end_ = end;
    step_ = 0;
  }

 private:
  int64_t end_ = 0;
  int64_t step_ = 0;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_SPACE_DISK_RESERVE_H_
