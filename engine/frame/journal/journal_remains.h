// The bytes of a file after its journal: they stay while they are read, and then go.
#ifndef CAIRN_ENGINE_FRAME_JOURNAL_JOURNAL_REMAINS_H_
#define CAIRN_ENGINE_FRAME_JOURNAL_JOURNAL_REMAINS_H_

#include <cstdint>

#include "absl/status/status.h"

#include "engine/frame/checkpoint/committed_frame.h"
#include "engine/frame/journal/journal_headroom.h"
#include "engine/frame/journal/journal_tail.h"

namespace cairn::frame {

// Knows what earlier checkpoints left there, and cuts the file when their readers are gone. What
// else follows the journal was reserved, or never committed. Not thread-safe.
class JournalRemains {
 public:
  // All must outlive this.
  JournalRemains(CommittedFrame& frame, JournalTail& tail, JournalHeadroom& headroom)
      : frame_(frame), tail_(tail), headroom_(headroom) {}

  // Bytes of earlier checkpoints end there; 0 if there are none.
  int64_t end() const { return end_; }
  void SetEnd(int64_t end) { end_ = end; }
  // Another writer had the file, which has `size` bytes.
  void Resume(int64_t size);

  // Frees what readers left since the last time, and makes the file as short as the frame and the
  // room of the next checkpoints: as much as is soon done.
  absl::Status TidyUp();
  // Does the same of all that there is, however long that takes.
  absl::Status TidyUpAll();
  // Does the same in small steps, and leaves no room; most commits do without.
  absl::Status TidyUpNowAndThen();
  // Shortens the file, unless a reader maps what lies after `end`. What an earlier checkpoint left
  // there waits for its readers; the rest was never committed.
  absl::Status CutAt(int64_t end);
  // Cuts the file as CutAt does, or makes a hole after `end`: readers that skipped staged chunks
  // must not take them for those of the next commit.
  absl::Status DropAfter(int64_t end);

  // Writes zeros over these bytes of the file, or appends them to it.
  absl::Status WriteZeros(int64_t begin, int64_t end);
  // Makes readers that look for the next commit stop there, whatever was there before.
  absl::Status MarkEnd(int64_t position);
  // Does so where something was there before.
  absl::Status MarkEndIfNeeded(int64_t position) {
    return end_ > position ? MarkEnd(position) : absl::OkStatus();
  }

 private:
  absl::Status CutSome(int64_t end);
  absl::Status CutAndHold(int64_t end);
  absl::Status CutUnread(int64_t end);

  CommittedFrame& frame_;
  JournalTail& tail_;
  JournalHeadroom& headroom_;
  int64_t end_ = 0;
  int commits_until_tidy_ = 0;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_JOURNAL_JOURNAL_REMAINS_H_
