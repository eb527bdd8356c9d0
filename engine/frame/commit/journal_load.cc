// How long a journal is, and when that calls for a checkpoint.
#include "engine/format/journal.h"
#include "engine/frame/commit/journal_writer.h"

namespace cairn::frame {

JournalLoad JournalWriter::LoadBut(int64_t set_aside) const {
  const JournalPosition& journal = *base().journal;
  const Checkpoint& checkpoint = *base().checkpoint;
  const int64_t index_begin =
      checkpoint.index.size() > 0 ? checkpoint.index.begin : checkpoint.trailer.begin;
  JournalLoad load{.written = sink_->end() - journal.begin + journal.reused + sink_->reused(),
                   .checkpoint = journal.begin - index_begin};
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

}  // namespace cairn::frame
