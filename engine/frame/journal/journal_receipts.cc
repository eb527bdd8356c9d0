#include "engine/frame/journal/journal_receipts.h"

#include <memory>
#include <utility>
#include <vector>

#include "engine/base/status.h"

namespace cairn::frame {

bool JournalReceipts::IsDurable() const {
  // A copy has the receipts of the original: until the first sync, those prove nothing.
  if (frame_.sync->owes()) return false;
  const JournalPosition& journal = *base().journal;
  const uint64_t boot = frame_.source.BootHere(frame_.core->env()->boot);
  return frame_.sync->durable().generation == journal.generation ||
         (boot != 0 && journal.receipt.has_value() && journal.receipt->boot == boot &&
          journal.receipt->durable_generation == journal.generation);
}

format::Receipt JournalReceipts::ReceiptOfNext(uint64_t durable_generation) const {
  return {.base = base().journal->base,
          .generation = base().journal->generation + 1,
          .boot = frame_.source.BootHere(frame_.core->env()->boot),
          .durable_generation = durable_generation};
}

absl::Status JournalReceipts::WriteReceipt() {
  if (!base().journal.has_value() || base().journal->empty()) return absl::OkStatus();
  const JournalPosition& journal = *base().journal;
  const format::Receipt receipt{.base = journal.base,
                                .generation = journal.generation,
                                .boot = frame_.source.BootHere(frame_.core->env()->boot),
                                .durable_generation = journal.generation};
  newest_ = journal.generation;
  if (journal.receipt == receipt) return absl::OkStatus();
  needs_checkpoint_ = !tail_.HasRoomFor(format::kReceiptSize);
  if (needs_checkpoint_) return absl::OkStatus();
  std::vector<std::byte> bytes;
  format::AppendReceipt(receipt, journal.end, bytes);
  const absl::Status written = frame_.file->WriteAt(journal.end, bytes);
  // A full disk has to open, too.
  if (absl::IsResourceExhausted(written)) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(written);
  const int64_t end = journal.end + format::kReceiptSize;
  CAIRN_RETURN_IF_ERROR(remains_.MarkEndIfNeeded(end));
  auto state = std::make_shared<State>(base());
  Extend(receipt, end, *state->journal);
  CAIRN_ASSIGN_OR_RETURN(state->region, frame_.source.ViewMore(state->region, state->journal->end));
  frame_.InstallState(std::move(state));
  return absl::OkStatus();
}

absl::Status JournalReceipts::WriteReceiptOfSyncs() {
  const CommitPoint synced = frame_.sync->durable();
  const CommitPoint committed = frame_.committed();
  // A summary may follow the commit.
  const bool is_durable = synced.generation == committed.generation && synced.end >= committed.end;
  if (!is_durable || newest_ == committed.generation) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(WriteReceipt());
  tail_.StageAt(CommittedEnd(base()));
  return absl::OkStatus();
}

absl::Status JournalReceipts::RenewReceipt() {
  const JournalPosition& journal = *base().journal;
  newest_ = journal.generation;
  // Older versions wrote shorter receipts, which cannot be overwritten in place.
  if (!journal.receipt.has_value() || journal.receipt->size != format::kReceiptSize) {
    return absl::OkStatus();
  }
  format::Receipt receipt = *journal.receipt;
  receipt.durable_generation = journal.generation;
  const int64_t begin = journal.end - receipt.size;
  std::vector<std::byte> bytes;
  format::AppendReceipt(receipt, begin, bytes);
  // All before is the same.
  constexpr int64_t kAt = format::kReceiptDurableAt;
  const absl::Status status =
      frame_.file->WriteAt(begin + kAt, Bytes(bytes).subspan(static_cast<size_t>(kAt)));
  // The commit is durable, whether that can be recorded or not.
  return absl::IsResourceExhausted(status) ? absl::OkStatus() : status;
}

}  // namespace cairn::frame
