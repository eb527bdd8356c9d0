// How long a journal is, when that calls for a checkpoint, and how much of it is not durable.
#include <algorithm>
#include <optional>
#include <utility>

#include "engine/base/status.h"
#include "engine/format/journal.h"
#include "engine/frame/journal/journal_writer.h"

namespace cairn::frame {

JournalLoad JournalWriter::LoadBut(int64_t set_aside) const {
  const JournalPosition& journal = *base().journal;
  const Checkpoint& checkpoint = *base().checkpoint;
  const int64_t index_begin =
      checkpoint.index.size() > 0 ? checkpoint.index.begin : checkpoint.trailer.begin;
  JournalLoad load{.written = sink_->end() - journal.begin + journal.reused + sink_->reused(),
                   .checkpoint = journal.begin - index_begin};
  load.is_durable = frame_.sync->durable().generation == base().generation();
  if (space_.enabled()) {
    load.is_held = space_.is_held();
    load.dying = space_.DyingBytes(sink_->end()) - load.checkpoint - set_aside;
    load.dying_in_journal = space_.DyingInJournal(sink_->end()) - load.checkpoint - set_aside;
  }
  return load;
}

bool JournalWriter::IsLong(const StagedState& staged, int64_t patience, int64_t set_aside) const {
  return sink_->left_journal() || IsCheckpointDue(staged, base(), LoadBut(set_aside), patience);
}

bool JournalWriter::IsWorthClosing(const Stager& stager, int64_t file_bytes) const {
  const StagedState& staged = stager.staged();
  if (sink_->left_journal() || !base().journal.has_value() || !base().checkpoint->seal_holds) {
    return true;
  }
  JournalLoad closed = LoadBut(0);
  closed.written += file_bytes + (staged.edited ? format::RecordSize(stager.MakeCommit({})) : 0);
  return frame::IsWorthClosing(staged, base(), closed);
}

int64_t JournalWriter::UnsyncedBytes() {
  const CommitPoint synced = frame_.sync->durable();
  if (synced.generation == base().generation()) unsynced_reused_ = 0;
  // What makes a checkpoint syncs it.
  const int64_t aside = set_aside_.end - std::max(set_aside_.begin, synced.end);
  return sink_->end() - synced.end - std::max<int64_t>(aside, 0) + unsynced_reused_ +
         sink_->reused();
}

// No commit waits for a sync unless the disk is slower than the writer.
absl::Status JournalWriter::BoundUnsynced() {
  if (const std::optional<absl::Status> ended = sync_ahead_.Poll(); ended.has_value()) {
    CAIRN_RETURN_IF_ERROR(*ended);
    unsynced_reused_ -= std::min(unsynced_reused_, std::exchange(syncing_reused_, 0));
  }
  const int64_t bytes = UnsyncedBytes();
  if (bytes > kMostUnsynced) return Sync(base().generation());
  if (bytes <= kMostUnsynced / 2 || sync_ahead_.is_running()) return absl::OkStatus();
  syncing_reused_ = unsynced_reused_;
  sync_ahead_.Start([sync = frame_.sync, point = frame_.committed()] { return sync->Sync(point); },
                    frame_.core->env()->checkpoints.use_thread);
  return absl::OkStatus();
}

}  // namespace cairn::frame
