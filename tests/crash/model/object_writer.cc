#include "tests/crash/model/object_writer.h"

#include <algorithm>

namespace cairn::model {

void ObjectWriter::AppendKey(std::vector<int64_t>& key) const {
  key.insert(key.end(),
             {static_cast<int64_t>(phase_), left_, validated_ - world_.now, edit_.commit,
              edit_.chunk, static_cast<int64_t>(edit_.kind), static_cast<int64_t>(edit_.slot),
              edit_.based_on, staged_at_, aborted_, checkpoints_, removing_, sending(), slept_});
  if (!view_.has_value()) return;
  key.insert(key.end(), {view_->index.begin, view_->index.frame, view_->end, view_->last,
                         view_->replaced, view_->state.pending});
}

void ObjectWriter::Act() {
  switch (phase_) {
    case Phase::kOpen:
      return Open();
    case Phase::kFollow:
      return Follow();
    case Phase::kIdle:
      return Begin();
    case Phase::kStage:
      return Stage();
    case Phase::kPut:
      return Put();
    case Phase::kFence:
      return Fence();
    case Phase::kCompare:
      return Compare();
    case Phase::kLook:
      return Look();
    case Phase::kCheckpoint:
      return Checkpoint();
    case Phase::kRenew:
    case Phase::kDone:
      return;
  }
}

// Reads the index; the records after it follow.
void ObjectWriter::Open() {
  const bool is_other = view_.has_value() && view_->index.frame != world_.bucket.index.frame;
  if (is_other) {
    if (edit_.commit != 0) ledger_.fates[edit_.commit] = CommitLedger::Fate::kAborted;
    phase_ = Phase::kDone;
    return;
  }
  view_.emplace(world_.bucket.index);
  validated_ = Now();
  phase_ = Phase::kFollow;
}

// Follows one record at a time.
void ObjectWriter::Follow() {
  const auto next = world_.bucket.records.find(view_->end);
  if (next != world_.bucket.records.end() && view_->Follow(next->second.value)) {
    if (view_->replaced) EndOrRenew();
    return;
  }
  opening_ = false;
  if (edit_.commit == 0) {
    phase_ = checkpoints_ ? Phase::kCheckpoint : Phase::kIdle;
    return;
  }
  const bool collides = world_.rules.checks_collisions &&
                        edit_.kind == CommitObject::Kind::kUpdate &&
                        view_->state.slots[edit_.slot].commit != edit_.based_on;
  if (!collides) {
    phase_ = Phase::kPut;
  } else if (world_.rules.catches_up || aborted_ || !world_.Chance(50)) {
    Abort();
  } else {
    aborted_ = true;  // and commits it again
    phase_ = Phase::kPut;
  }
}

// A writer that opens the frame gives it a new journal: who was to replace it may be dead.
void ObjectWriter::EndOrRenew() {
  if (!opening_) {
    if (edit_.commit != 0) ledger_.fates[edit_.commit] = CommitLedger::Fate::kAborted;
    phase_ = Phase::kDone;
    return;
  }
  const int64_t frame = world_.next_frame++;
  view_->state.pending = 0;  // the new index has them in a chunk
  phase_ = Phase::kRenew;
  Submit(
      {.kind = BucketRequest::Kind::kPutIndex,
       .index = {.frame = frame, .state = view_->state, .begin = frame * 1000, .last = view_->last},
       .replaces = view_->index});
}

void ObjectWriter::Begin() {
  if (left_ == 0) {
    phase_ = Phase::kDone;
    return;
  }
  if (world_.Chance(25)) {
    --left_;
    checkpoints_ = true;
    phase_ = Phase::kCheckpoint;
    return;
  }
  --left_;
  edit_ = {.commit = world_.next_commit++};
  aborted_ = false;
  ledger_.fates[edit_.commit] = CommitLedger::Fate::kStaged;
  if (world_.choose(2) == 0) {
    phase_ = Phase::kPut;
    return;
  }
  edit_.kind = CommitObject::Kind::kUpdate;
  edit_.slot = world_.conditions.time ? world_.choose(2) : 0;
  edit_.based_on = view_->state.slots[edit_.slot].commit;
  met_.clear();
  staged_at_ = Now();
  phase_ = Phase::kStage;
}

void ObjectWriter::BeginClose() {
  edit_ = {.kind = CommitObject::Kind::kClose, .commit = world_.next_commit++};
  ledger_.fates[edit_.commit] = CommitLedger::Fate::kStaged;
  phase_ = Phase::kPut;
}

// Returns one more than the known numbers. Fresh numbers are nobody else's.
int64_t ObjectWriter::ChooseNumber() const {
  if (world_.rules.fresh_numbers) return world_.next_chunk++;
  int64_t largest = 0;
  for (const FrameState::Slot& slot : view_->state.slots) largest = std::max(largest, slot.chunk);
  if (!met_.empty()) largest = std::max(largest, *met_.rbegin());
  return largest + 1;
}

void ObjectWriter::Stage() {
  edit_.chunk = ChooseNumber();
  Submit({.kind = BucketRequest::Kind::kPutChunk, .number = edit_.chunk, .content = edit_.commit});
}

CommitObject ObjectWriter::Record() const {
  CommitObject record = edit_;
  record.frame = view_->index.frame;
  record.previous = view_->last;
  // The record is made for the state that is there by now, as far as its writer knows.
  return record;
}

void ObjectWriter::Put() {
  const int64_t grace = world_.conditions.grace;
  const bool old = edit_.chunk != 0 && Now() - staged_at_ >= grace / 2;
  if (world_.rules.limits_staged_age && old) return Abort();
  if (world_.rules.validates && Now() - validated_ >= grace / 4) {
    phase_ = Phase::kLook;
    return;
  }
  Submit({.kind = BucketRequest::Kind::kPutRecord,
          .number = view_->end,
          .conditional = world_.rules.record_if_absent,
          .record = Record()});
}

void ObjectWriter::Look() {
  if (world_.bucket.index == view_->index) {
    validated_ = Now();
    phase_ = Phase::kFollow;
  } else {
    phase_ = Phase::kOpen;
  }
}

// Takes the place of a record that may come late.
void ObjectWriter::Fence() {
  Submit({.kind = BucketRequest::Kind::kPutRecord,
          .number = view_->end,
          .record = {.kind = CommitObject::Kind::kFence,
                     .commit = edit_.commit,
                     .frame = view_->index.frame,
                     .previous = view_->last}});
}

void ObjectWriter::Compare() {
  const auto there = world_.bucket.records.find(view_->end);
  if (there == world_.bucket.records.end() && !world_.rules.fences) {
    Abort();
  } else if (there == world_.bucket.records.end()) {
    // The refusal was wrong, or what was there has been collected meanwhile.
    phase_ = Phase::kFence;
  } else if (there->second.value == Record()) {
    Acknowledge();
  } else {
    phase_ = Phase::kFollow;
  }
}

void ObjectWriter::Checkpoint() {
  if (world_.rules.closes_pending && view_->state.pending > 0) return BeginClose();
  checkpoints_ = false;
  IndexObject index = {
      .frame = view_->index.frame, .state = view_->state, .begin = view_->end, .last = view_->last};
  if (!world_.rules.inherits_journal) {
    index.frame = world_.next_frame++ * 1000;  // records name the checkpoint that they follow
    index.begin = index.frame;
  }
  phase_ = Phase::kCheckpoint;
  validating_ = Now();
  Submit({.kind = BucketRequest::Kind::kPutIndex,
          .conditional = world_.rules.index_if_match,
          .index = index,
          .replaces = view_->index});
}

void ObjectWriter::Acknowledge() {
  ledger_.fates[edit_.commit] = CommitLedger::Fate::kMade;
  ledger_.frames[edit_.commit] = view_->index.frame;
  const auto replaced = ledger_.replaced.find(view_->index.frame);
  ledger_.late |= replaced != ledger_.replaced.end() && !replaced->second.contains(view_->end);
  view_->Follow(Record());
  edit_ = {};
  phase_ = Phase::kFollow;
}

void ObjectWriter::Abort() {
  ledger_.fates[edit_.commit] = CommitLedger::Fate::kAborted;
  Remove();
}

// Removes the staged chunk.
void ObjectWriter::Remove() {
  const int64_t chunk = edit_.chunk;
  edit_ = {};
  phase_ = Phase::kFollow;
  if (chunk == 0) return;
  removing_ = true;
  BucketRequest removal = {.kind = BucketRequest::Kind::kDelete};
  removal.list.chunks.insert(chunk);
  Submit(removal);
}

void ObjectWriter::Receive(Outcome outcome) {
  if (removing_) {
    removing_ = false;  // what stays is collected as garbage
    return;
  }
  if (phase_ == Phase::kRenew) {
    view_.reset();
    phase_ = Phase::kOpen;
  } else if (phase_ == Phase::kStage) {
    const auto there = world_.bucket.chunks.find(edit_.chunk);
    const bool ours = there != world_.bucket.chunks.end() && there->second.value == edit_.commit;
    if (outcome == Outcome::kDone || (outcome == Outcome::kConflict && ours)) {
      phase_ = Phase::kPut;
    } else if (outcome == Outcome::kConflict) {
      met_.insert(edit_.chunk);
    } else {
      Abort();
    }
  } else if (phase_ == Phase::kPut) {
    if (outcome == Outcome::kDone) return Acknowledge();
    if (outcome == Outcome::kConflict) {
      phase_ = world_.rules.writer_compares ? Phase::kCompare : Phase::kFollow;
      return;
    }
    phase_ = world_.rules.fences ? Phase::kFence : Phase::kCompare;
  } else if (phase_ == Phase::kFence) {
    // The commit may have been taken over and collected before the fence.
    const bool late = world_.rules.fences_in_time && Now() - validated_ >= world_.conditions.grace;
    if (outcome == Outcome::kUnknown ? world_.Chance(50) : !late) {
      if (outcome == Outcome::kDone) phase_ = Phase::kFollow;
      if (outcome == Outcome::kConflict) phase_ = Phase::kCompare;
      return;
    }
    ledger_.fates[edit_.commit] = CommitLedger::Fate::kUnknown;
    phase_ = Phase::kDone;
  } else {
    // The checkpoint is there, or another one, or nobody knows.
    if (outcome == Outcome::kDone) {
      view_->index = {.frame = view_->index.frame,
                      .state = view_->state,
                      .begin = view_->end,
                      .last = view_->last};
      validated_ = validating_;
    }
    phase_ =
        outcome == Outcome::kDone && world_.rules.inherits_journal ? Phase::kFollow : Phase::kOpen;
  }
}

}  // namespace cairn::model
