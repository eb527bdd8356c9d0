// The journal of a shrinking checkpoint that is made beside commits.
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

// Holds the commits since the state of the checkpoint once more: the file's header leads either to
// the journal before and all of them, or to this one and all of them. Not thread-safe.
class OwnJournal {
 public:
  // Of a checkpoint of the committed state, in these bytes. `frame` must outlive this.
  OwnJournal(const CommittedFrame& frame, const Extent& room);

  // How the seal is to name it. Readers of the checkpoint of generation `since` may see what the
  // commits brought.
  format::InheritedJournal Start(uint64_t since) const;
  // Marks its end: something else was there.
  absl::Status Begin();
  // The staged edits are about to be committed; so many bytes of chunks have their place. False,
  // and nothing has changed, where there is no room.
  absl::StatusOr<bool> Add(const Stager& stager, int64_t reused);
  // Adds a chunk that no commit names. False, and nothing has changed, where there is no room.
  absl::StatusOr<bool> AddChunk(std::vector<std::byte> chunk);
  // Where it ends, and what it holds.
  const JournalPosition& position() const { return position_; }

 private:
  format::Receipt ReceiptOf(uint64_t generation, uint64_t durable_generation) const;
  // With the mark of the end.
  absl::StatusOr<bool> Write(std::vector<std::byte>& bytes);

  const CommittedFrame& frame_;
  const int64_t room_end_;
  JournalPosition position_;
  std::vector<std::byte> bytes_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_JOURNAL_OWN_JOURNAL_H_
