// Knows which commits of a frame's journal are perhaps not durable, and has them synced.
#ifndef CAIRN_ENGINE_FRAME_JOURNAL_UNSYNCED_COMMITS_H_
#define CAIRN_ENGINE_FRAME_JOURNAL_UNSYNCED_COMMITS_H_

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/base/extent.h"
#include "engine/frame/checkpoint/committed_frame.h"
#include "engine/frame/replay/replay.h"
#include "engine/frame/sync/background_task.h"

namespace cairn::frame {

// Remembers the chunks of such commits that lie in free space, before the journal, and whether the
// header is owed: the next sync then writes again what another writer left in the page cache. Not
// thread-safe.
class UnsyncedCommits {
 public:
  // `frame` must outlive this.
  explicit UnsyncedCommits(CommittedFrame& frame) : frame_(frame) {}

  // A checkpoint was written, and is durable.
  void BeginAfterCheckpoint();
  // All that is committed is durable.
  void Clear();
  // Another writer committed chunks there.
  void NotePlaced(std::span<const JournalFootprint::Placed> chunks);
  // A commit placed chunks, `bytes` of them outside the journal. The commits up to `durable_end`
  // are durable.
  void NoteCommit(std::span<const Extent> placed, int64_t record_end, int64_t durable_end,
                  int64_t bytes);

  // Leaves the header and all commits to the first sync. Until then the writer only appends to the
  // file, so that whatever header is on the disk finds all that it needs. Without `header_too` the
  // header is as durable as it was, and only the commits are owed.
  void Owe(bool header_too = true);
  // Returns true if the header on the disk may be another one.
  bool OwesHeader();
  // Syncs what is owed before bytes of the file are overwritten. Returns false if AvoidSyncs
  // forbids that: then nothing may be overwritten.
  absl::StatusOr<bool> MayReuse();
  // Makes the next commit do without free space rather than wait for a sync.
  void AvoidSyncs(bool avoid) { avoids_syncs_ = avoid; }
  bool avoids_syncs() const { return avoids_syncs_; }
  // Writes the chunks again that are perhaps in the page cache alone; a sync follows.
  absl::Status PersistPlaced();

  // Returns the bytes of commits outside the journal that are perhaps not durable, when everything
  // up to `synced` is.
  int64_t BytesOutside(const CommitPoint& synced);
  // Begins to sync what is committed, in a thread, unless such a sync is on its way.
  void SyncAhead();
  // Takes the result of that sync, once there is one.
  absl::Status TakeResult();

 private:
  const State& base() const { return *frame_.state; }
  void Note(const JournalFootprint::Placed& chunk);

  CommittedFrame& frame_;
  std::deque<JournalFootprint::Placed> placed_;
  int64_t bytes_outside_ = 0;
  int64_t syncing_bytes_ = 0;  // of these, covered by the sync that is on its way
  BackgroundTask sync_ahead_;
  bool owes_header_ = false;  // perhaps: see OwesHeader
  bool avoids_syncs_ = false;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_JOURNAL_UNSYNCED_COMMITS_H_
