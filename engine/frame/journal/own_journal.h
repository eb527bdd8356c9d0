// Writes the journal of a shrinking checkpoint that is made during commits.
#ifndef CAIRN_ENGINE_FRAME_JOURNAL_OWN_JOURNAL_H_
#define CAIRN_ENGINE_FRAME_JOURNAL_OWN_JOURNAL_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/base/extent.h"
#include "engine/format/journal.h"
#include "engine/frame/checkpoint/committed_frame.h"
#include "engine/frame/stage/stager.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// Holds a second copy of the commits after the state of the checkpoint. The file's header leads
// either to the old journal or to this one, and finds all of these commits in each. Not
// thread-safe.
class OwnJournal {
 public:
  // Makes the journal of a checkpoint of the committed state, in the bytes `room`. `frame` must
  // outlive this.
  OwnJournal(const CommittedFrame& frame, const Extent& room);

  // Returns how the seal must name the journal. Readers of the checkpoint of generation `since` may
  // see the chunks of its commits.
  format::InheritedJournal Start(uint64_t since) const;
  // Marks the end of the empty journal, because other bytes lie there.
  absl::Status Begin();
  // Adds a commit of the staged edits, which is about to be made. `reused` bytes of its chunks lie
  // in free space. Returns false if there is no room, or if the record is too large; the journal
  // has not changed then.
  absl::StatusOr<bool> Add(const Stager& stager, int64_t reused);
  // Adds a chunk that no commit names. Returns false if there is no room; the journal has not
  // changed then.
  absl::StatusOr<bool> AddChunk(std::vector<std::byte> chunk);
  // Returns the end of the journal, and what the journal holds.
  const JournalPosition& position() const { return position_; }

 private:
  format::Receipt ReceiptOf(uint64_t generation, uint64_t durable_generation) const;
  // Writes these bytes, and the mark of the end after them, at the end of the journal. Returns
  // false if there is no room.
  absl::StatusOr<bool> Write(std::vector<std::byte>& bytes);

  const CommittedFrame& frame_;
  const int64_t room_end_;
  JournalPosition position_;
  std::vector<std::byte> bytes_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_JOURNAL_OWN_JOURNAL_H_
