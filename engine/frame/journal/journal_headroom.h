// Disk space ahead of the journal's end.
#ifndef CAIRN_ENGINE_FRAME_JOURNAL_JOURNAL_HEADROOM_H_
#define CAIRN_ENGINE_FRAME_JOURNAL_JOURNAL_HEADROOM_H_

#include <cstdint>

#include "absl/status/status.h"

#include "engine/frame/checkpoint/committed_frame.h"
#include "engine/frame/journal/journal_tail.h"
#include "engine/frame/journal/unsynced_commits.h"
#include "engine/frame/space/disk_reserve.h"
#include "engine/frame/stage/stager.h"

namespace cairn::frame {

// Holds the frame to its limit, reserves space for what a commit and the checkpoint after it write,
// and writes zeros into it where that makes syncs faster. Not thread-safe.
class JournalHeadroom {
 public:
  // All must outlive this.
  JournalHeadroom(CommittedFrame& frame, const UnsyncedCommits& unsynced, const JournalTail& tail)
      : frame_(frame), unsynced_(unsynced), tail_(tail) {}

  // The file was cut, or is another one.
  void Forget();
  // Another writer had the file, which has `size` bytes.
  void Resume(int64_t size);

  // Refuses edits that leave the frame no smaller, and too little room for the next checkpoint
  // within the limit of the writer. Other files of the frame have `other_bytes` bytes.
  absl::Status CheckLimit(const Stager& stager, int64_t other_bytes = 0) const;
  // Reserves space for a commit, the checkpoint that follows it, and what that one leaves. Refused
  // when the disk is full. Near the limit of the writer it reserves less; CheckLimit refuses. Other
  // files of the frame have `other_bytes` bytes.
  absl::Status Reserve(const Stager& stager, int64_t other_bytes = 0);
  // Returns true if what Reserve has reserved leaves room for moves of chunks in the same commit.
  bool HasRoomToMove(const Stager& stager) const;
  // Writes zeros after a record that is about to be synced, once there were many such records.
  void WriteZerosAhead();

 private:
  const State& base() const { return *frame_.state; }

  CommittedFrame& frame_;
  const UnsyncedCommits& unsynced_;
  const JournalTail& tail_;
  Headroom reserved_;
  int64_t zeros_end_ = 0;
  int64_t zeros_ = 0;          // bytes of zeros that were written at once
  int64_t small_commits_ = 0;  // durable ones
  int owing_commits_ = 0;      // commits before the first sync
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_JOURNAL_JOURNAL_HEADROOM_H_
