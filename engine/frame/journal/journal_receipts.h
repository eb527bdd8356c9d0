// Receipts in a journal: they prove which commits are durable.
#ifndef CAIRN_ENGINE_FRAME_JOURNAL_JOURNAL_RECEIPTS_H_
#define CAIRN_ENGINE_FRAME_JOURNAL_JOURNAL_RECEIPTS_H_

#include <cstdint>

#include "absl/status/status.h"

#include "engine/format/journal.h"
#include "engine/frame/checkpoint/committed_frame.h"
#include "engine/frame/journal/journal_remains.h"
#include "engine/frame/journal/journal_tail.h"

namespace cairn::frame {

// Writes and renews receipts. A power cut may leave the old one, the new one or none. Not
// thread-safe.
class JournalReceipts {
 public:
  // All must outlive this.
  JournalReceipts(CommittedFrame& frame, JournalTail& tail, JournalRemains& remains)
      : frame_(frame), tail_(tail), remains_(remains) {}

  // Returns the receipt of the next commit, after a sync of commits up to `durable_generation`.
  format::Receipt ReceiptOfNext(uint64_t durable_generation) const;
  // Returns true if all that is committed is durable, as far as is known: by a sync of this writer,
  // or by a receipt of this boot.
  bool IsDurable() const;

  // Leaves a new receipt of this boot after the journal: all its commits are durable. The last one
  // may be the only trace of an acknowledged commit. StageAt follows.
  absl::Status WriteReceipt();
  // Returns true if there was no room for that receipt: a checkpoint has to do.
  bool needs_checkpoint() const { return needs_checkpoint_; }
  // If a sync of another thread has made the newest commit durable, writes the receipt that says
  // so. Only the writer may write it.
  absl::Status WriteReceiptOfSyncs();
  // Makes the last receipt say that all is durable.
  absl::Status RenewReceipt();
  // The newest commit has a receipt that says so.
  void NoteReceipt() { newest_ = frame_.state->generation(); }

 private:
  const State& base() const { return *frame_.state; }

  CommittedFrame& frame_;
  JournalTail& tail_;
  JournalRemains& remains_;
  uint64_t newest_ = 0;  // the newest generation whose receipt says that it is durable
  bool needs_checkpoint_ = false;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_JOURNAL_JOURNAL_RECEIPTS_H_
