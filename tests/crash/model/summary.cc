// What readers that open the file find of a long journal.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tests/crash/model/writer.h"

namespace cairn::model {

// The first commit after a checkpoint leaves it.
bool Writer::NeedsAnchor() const {
  return conditions_.summaries && view_.end == view_.checkpoint.base.end;
}

bool Writer::HasAnchor() const {
  const uint64_t identity = AnchorIdentity(view_.checkpoint, rules_.binds_anchor);
  for (const size_t number : {0, 1}) {
    if (FindSlot(disk_.cache(), SlotPosition(view_.checkpoint, number), identity)) return true;
  }
  return false;
}

void Writer::WriteSlot(size_t number, const Slot& slot) {
  const uint64_t identity = AnchorIdentity(view_.checkpoint, rules_.binds_anchor);
  const Bytes bytes = Encode(slot, identity);
  proofs_.push_back({.offset = SlotPosition(view_.checkpoint, number), .bytes = bytes});
  disk_.Write(SlotPosition(view_.checkpoint, number), bytes);
}

void Writer::Summarize() {
  const bool has_news = view_.generation > view_.checkpoint.generation;
  if (!conditions_.summaries || !has_news || !HasAnchor() || !disk_.running()) return;
  if (IsFlipped() && rules_.none_at_flip) return;
  if (gradual_.has_value() && gradual_->own.has_value()) return;  // a reader may still use it
  const uint64_t identity = AnchorIdentity(view_.checkpoint, rules_.binds_anchor);
  const Bytes bytes = Encode(Summary{.generation = view_.generation,
                                     .previous = view_.previous,
                                     .durable_end = synced_end_,
                                     .state = view_.state,
                                     .begin = view_.end},
                             view_.checkpoint, identity);
  if (!JournalMayReach(view_.end + bytes.size() + kReceiptSize)) return;
  ReserveSpace(view_.end + bytes.size());
  proofs_.push_back({.offset = view_.end, .bytes = bytes});
  disk_.Write(view_.end, bytes);
  Slot slot = {view_.end, bytes.size(), view_.generation, view_.previous, disk_.boot()};
  view_.end += bytes.size();
  view_.receipt.reset();  // it does not end the journal any more
  summarized_ = view_.generation;
  if (slot.boot != 0) WriteSlot(0, slot);
  slot.boot = 0;
  if (rules_.marks_after_sync) {
    summary_ = slot;
  } else {
    WriteSlot(1, slot);
  }
}

// A sync after a later commit covers it.
void Writer::MarkSummary() {
  if (!summary_.has_value() || synced_generation_ <= summary_->generation) return;
  WriteSlot(1, *summary_);
  summary_.reset();
}

// Readers may use the summary that ends the journal. One of commits that are not there is void.
void Writer::KeepSummary() {
  if (!conditions_.summaries || !rules_.keeps_summary || !HasAnchor()) return;
  const auto newest = NewestSummary(disk_.cache(), disk_.boot(), rules_, view_.checkpoint);
  if (!newest.has_value() || newest->generation < view_.generation) return;
  if (newest->generation == view_.generation && newest->previous == view_.previous) {
    view_.end = std::max(view_.end, newest->end);
    view_.receipt.reset();
    return;
  }
  for (const size_t number : {0, 1}) WriteSlot(number, {});
}

}  // namespace cairn::model
