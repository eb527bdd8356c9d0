// How a writer of the model begins: what it builds upon becomes durable, at once or with its first
// sync.
#include <cstdint>
#include <optional>
#include <utility>

#include "tests/crash/model/writer.h"

namespace cairn::model {

bool Writer::Open() {
  if (!Load()) return false;
  MakeDurable();
  return true;
}

void Writer::MakeDurable() {
  if (may_owe_ && disk_.cache().size() == view_.end) return Owe(true);
  // Confirm makes these facts true.
  synced_end_ = view_.end;
  synced_generation_ = view_.generation;
  CutUnused(false);
  if (rules_.confirms) Confirm();
}

bool Writer::Resume() {
  const Base base = view_.base;
  const Base durable = view_.checkpoint.base;
  const bool owed_header = owes_header_ && owes_;
  if (rules_.resume_replays && !Load()) return false;
  // A checkpoint that was dropped may have been synced.
  synced_end_ = std::min(synced_end_, view_.end);
  const Bytes& file = disk_.cache();
  const bool has_rest = file.size() > view_.end && file[view_.end] != 0;
  const bool is_own = !owes_ && view_.base == base && view_.generation == synced_generation_;
  const bool same_header = view_.checkpoint.base == durable || !rules_.resume_compares_header;
  const bool is_durable = (same_header && (is_own || IsDurable())) || !rules_.resume_confirms;
  if (!is_durable && may_owe_ && same_header && !has_rest) {
    Owe(owed_header);
  } else if (!is_durable || (has_rest && rules_.resume_opens_after_rest)) {
    MakeDurable();
  } else if (!is_own) {
    synced_end_ = view_.commit_end;  // the receipt itself may be in the cache alone
    synced_generation_ = view_.generation;
  }
  return true;
}

// Returns true if the last receipt shows it: in this boot, after a sync.
bool Writer::IsDurable() const {
  return !owes_ && view_.receipt.has_value() && view_.receipt->boot == disk_.boot() &&
         disk_.boot() != 0 && view_.receipt->durable_generation == view_.generation;
}

// The cache may show what the disk lacks: what the writer builds upon is written again.
void Writer::WriteAgain() {
  const Bytes& file = disk_.cache();
  if (rules_.confirms_header) disk_.Write(0, Slice(file, 0, conditions_.header_size));
  for (const PlacedChunk& placed : owed_.placed) {
    if (placed.record_end <= owed_.durable_end || !rules_.confirms_free_space) continue;
    disk_.Write(placed.chunk.offset, Slice(file, placed.chunk.offset, placed.chunk.end()));
  }
  if (owed_.end > owed_.durable_end && disk_.running()) {
    disk_.Write(owed_.durable_end, Slice(file, owed_.durable_end, owed_.end));
  }
}

void Writer::Confirm() {
  owed_ = view_;
  WriteAgain();
  owes_ = owes_header_ = false;
  disk_.Sync(rules_.syncs_cut);
  if (rules_.writes_receipts && rules_.receipt_at_open) LeaveReceipt();
}

// Nothing follows the journal: until the first sync the writer only appends to the file.
void Writer::Owe(bool header_too) {
  owed_ = view_;
  owes_ = true;
  owes_header_ = header_too;
  synced_end_ = header_too && rules_.owing_claims_nothing ? 0 : view_.durable_end;
  synced_generation_ = 0;
}

// The first one also pays what is owed.
void Writer::SyncDisk() {
  const bool pays = std::exchange(owes_, false);
  if (pays && rules_.first_sync_confirms) WriteAgain();
  disk_.Sync(pays);
}

// Returns true if free space may be written. A writer that commits nothing durable does without it
// instead of syncing.
bool Writer::MayReuse(bool machine) {
  if (!rules_.appends_until_sync || !owes_header_) return true;
  if (owes_ && !machine) return false;
  Pay();
  return true;
}

void Writer::Pay() {
  owes_header_ = false;
  if (!owes_) return;
  SyncDisk();
  synced_end_ = view_.end;
  synced_generation_ = view_.generation;
}

// Cuts the rest of an unfinished commit, or a shrinking checkpoint. The header on the disk may be
// that of the checkpoint before, which needs the bytes.
void Writer::CutUnused(bool header_is_durable) {
  if (disk_.cache().size() <= view_.end || !rules_.cuts_rest) return;
  if (rules_.cuts_unread && space_.EndOfDead() > view_.end) return;
  if (!header_is_durable && rules_.header_before_cut) {
    disk_.Write(0, Slice(disk_.cache(), 0, conditions_.header_size));
    disk_.Sync(false);
  }
  disk_.Resize(view_.end);
}

// Says of commits that were acknowledged before that they are durable, in this boot.
void Writer::LeaveReceipt() {
  if (view_.generation == view_.checkpoint.generation) return;  // there is no journal
  const std::optional<Receipt> last = view_.receipt;
  const bool says_so = last.has_value() && last->boot == disk_.boot() &&
                       last->generation == view_.generation &&
                       last->durable_generation == view_.generation;
  if (says_so) return;
  // A checkpoint needs no receipt.
  if (!JournalMayReach(view_.end + kReceiptSize)) return MakeCheckpoint();
  const bool over_last = !rules_.appends_receipt && last.has_value();
  const uint64_t at = over_last ? view_.receipt_at : view_.end;
  disk_.Write(at, EncodeReceipt(at, view_.generation));
  view_.end = std::max(view_.end, at + kReceiptSize);
}

// Threads that wait for a sync leave no receipt, nor do the syncs of a checkpoint made in steps.
void Writer::WriteReceiptOfSyncs() {
  const bool is_synced = !owes_ && synced_generation_ == view_.generation &&
                         synced_end_ >= view_.receipt_at + kReceiptSize;
  const bool claims = is_synced || !rules_.suspend_tells_synced;
  if (!claims || !rules_.writes_receipts || !disk_.running()) return;
  if (JournalMayReach(view_.end + kReceiptSize)) LeaveReceipt();
}

}  // namespace cairn::model
