// What readers that open the file find of a long journal.
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
  const bool has_next = gradual_.has_value() && gradual_->written();
  if (has_next && (IsFlipped() || random_.Percent(50))) {
    SummarizeFor(gradual_->checkpoint, gradual_->summaries);
  } else {
    SummarizeFor(view_.checkpoint, summaries_);
  }
}

void Writer::SummarizeFor(const Checkpoint& checkpoint, SummaryProgress& summaries) {
  const bool has_news = view_.generation > checkpoint.generation;
  if (!conditions_.summaries || !has_news || !HasAnchor(checkpoint) || !disk_.running()) return;
  const uint64_t identity = AnchorIdentity(checkpoint, rules_.binds_anchor);
  const Bytes bytes = Encode(Summary{.generation = view_.generation,
                                     .previous = view_.previous,
                                     .durable_end = synced_end_,
                                     .state = view_.state,
                                     .begin = view_.end},
                             rules_.refers_to_own_index ? checkpoint : view_.checkpoint, identity);
  if (!JournalMayReach(view_.end + bytes.size() + kReceiptSize)) return;
  ReserveSpace(view_.end + bytes.size());
  proofs_.push_back({.offset = view_.end, .bytes = bytes});
  disk_.Write(view_.end, bytes);
  Slot slot = {view_.end, bytes.size(), view_.generation, view_.previous, disk_.boot()};
  view_.end += bytes.size();
  view_.receipt.reset();  // it does not end the journal any more
  summaries.generation = view_.generation;
  if (slot.boot != 0) WriteSlot(checkpoint, 0, slot);
  slot.boot = 0;
  if (rules_.marks_after_sync) {
    summaries.unmarked = slot;
  } else {
    WriteSlot(checkpoint, 1, slot);
  }
}

// A sync after a later commit covers it.
void Writer::MarkSummary(const Checkpoint& checkpoint, SummaryProgress& summaries) {
  const std::optional<Slot>& slot = summaries.unmarked;
  if (!slot.has_value() || synced_generation_ <= slot->generation) return;
  WriteSlot(checkpoint, 1, *slot);
  summaries.unmarked.reset();
}

void Writer::MarkSummaries() {
  MarkSummary(view_.checkpoint, summaries_);
  if (gradual_.has_value()) MarkSummary(gradual_->checkpoint, gradual_->summaries);
}

// Readers may use the summary that ends the journal. One of commits that are not there is void.
void Writer::KeepSummary() {
  if (!conditions_.summaries || !rules_.keeps_summary || !HasAnchor(view_.checkpoint)) return;
  const auto newest = NewestSummary(disk_.cache(), disk_.boot(), rules_, view_.checkpoint);
  if (!newest.has_value() || newest->generation < view_.generation) return;
  if (newest->generation == view_.generation && newest->previous == view_.previous) {
    view_.end = std::max(view_.end, newest->end);
    view_.receipt.reset();
    return;
  }
  for (const size_t number : {0, 1}) WriteSlot(view_.checkpoint, number, {});
}

}  // namespace cairn::model
