// Finds summaries of a long journal, as readers that open the file do.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "tests/crash/model/writer.h"

namespace cairn::model {

// The first commit after a checkpoint leaves it.
bool Writer::NeedsAnchor() const {
  return conditions_.summaries && view_.end == view_.checkpoint.base.end;
}

bool Writer::HasAnchor(const Checkpoint& checkpoint) const {
  const uint64_t identity = AnchorIdentity(checkpoint, rules_.binds_anchor);
  for (const size_t number : {0, 1}) {
    if (FindSlot(disk_.cache(), SlotPosition(checkpoint, number), identity)) return true;
  }
  return false;
}

void Writer::WriteSlot(const Checkpoint& checkpoint, size_t number, const Slot& slot) {
  const uint64_t identity = AnchorIdentity(checkpoint, rules_.binds_anchor);
  const Bytes bytes = Encode(slot, identity);
  proofs_.push_back({.offset = SlotPosition(checkpoint, number), .bytes = bytes});
  disk_.Write(SlotPosition(checkpoint, number), bytes);
}

void Writer::Summarize() {
  if (gradual_.has_value() && gradual_->own.has_value()) return;  // a reader may still use it
  const bool has_next = gradual_.has_value() && gradual_->written();
  if (has_next && (IsFlipped() || random_.Percent(50))) {
    SummarizeFor(gradual_->checkpoint, gradual_->summary);
  } else {
    SummarizeFor(view_.checkpoint, summary_);
  }
}

void Writer::SummarizeFor(const Checkpoint& checkpoint, std::optional<Slot>& unmarked) {
  const bool has_news = view_.generation > checkpoint.generation;
  if (!conditions_.summaries || !has_news || !HasAnchor(checkpoint) || !disk_.running()) return;
  const uint64_t identity = AnchorIdentity(checkpoint, rules_.binds_anchor);
  Bytes bytes = Encode(Summary{.generation = view_.generation,
                               .previous = view_.previous,
                               .durable_end = synced_end_,
                               .state = view_.state,
                               .begin = view_.end},
                       rules_.refers_to_own_index ? checkpoint : view_.checkpoint, identity);
  const uint64_t end = view_.end + bytes.size();
  if (!JournalMayReach(end + 2 * kReceiptSize)) return;
  ReserveSpace(end + kReceiptSize);
  proofs_.push_back({.offset = view_.end, .bytes = bytes});
  Slot slot = {view_.end, bytes.size(), view_.generation, view_.previous, disk_.boot()};
  if (rules_.receipt_after_summary) {
    // The receipt may be on the disk without the summary. It is then cut, and nothing else.
    const Bytes receipt =
        EncodeReceipt(end, rules_.summary_proves_nothing ? 0 : synced_generation_);
    bytes.insert(bytes.end(), receipt.begin(), receipt.end());
  } else {
    view_.receipt.reset();  // it does not end the journal any more
  }
  disk_.Write(view_.end, bytes);
  view_.end += bytes.size();
  if (slot.boot != 0) WriteSlot(checkpoint, 0, slot);
  slot.boot = 0;
  if (rules_.marks_after_sync) {
    unmarked = slot;
  } else {
    WriteSlot(checkpoint, 1, slot);
  }
}

// A sync after a later commit covers it.
void Writer::MarkSummary(const Checkpoint& checkpoint, std::optional<Slot>& unmarked) {
  if (!unmarked.has_value() || synced_generation_ <= unmarked->generation) return;
  WriteSlot(checkpoint, 1, *unmarked);
  unmarked.reset();
}

void Writer::MarkSummaries() {
  MarkSummary(view_.checkpoint, summary_);
  if (gradual_.has_value()) MarkSummary(gradual_->checkpoint, gradual_->summary);
}

// A summary of commits that are not there is void, because later commits have their generations.
void Writer::VoidSummaries() {
  if (!conditions_.summaries || !HasAnchor(view_.checkpoint)) return;
  const auto newest = NewestSummary(disk_.cache(), disk_.boot(), rules_, view_.checkpoint);
  if (!newest.has_value() || newest->generation < view_.generation) return;
  if (newest->generation == view_.generation && newest->previous == view_.previous) return;
  for (const size_t number : {0, 1}) WriteSlot(view_.checkpoint, number, {});
}

}  // namespace cairn::model
