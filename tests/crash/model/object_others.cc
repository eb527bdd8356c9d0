#include "tests/crash/model/object_others.h"

#include <algorithm>

namespace cairn::model {

namespace {

std::set<int64_t> ChunksOf(const FrameState& state) {
  std::set<int64_t> chunks;
  for (const FrameState::Slot& slot : state.slots) {
    if (slot.chunk != 0) chunks.insert(slot.chunk);
  }
  return chunks;
}

bool BeginsWith(const std::vector<int64_t>& all, const std::vector<int64_t>& begin) {
  return all.size() >= begin.size() && std::equal(begin.begin(), begin.end(), all.begin());
}

}  // namespace

void ObjectReader::AppendKey(std::vector<int64_t>& key) const {
  key.insert(key.end(),
             {polling_, seen_ - world_.now, frame_there_, static_cast<int64_t>(there_.size()),
              frame_before_, static_cast<int64_t>(before_.size())});
  if (view_.has_value()) {
    key.insert(key.end(), {view_->index.frame, view_->index.begin, view_->end, view_->last});
  }
}

void ObjectReader::Open() {
  view_.emplace(world_.bucket.index);
  seen_ = world_.now;
}

void ObjectReader::BeginPoll() {
  const VisibleFrame now = OpenNow(world_.bucket);
  there_ = now.state.commits;
  frame_there_ = now.index.frame;
  polling_ = true;
  if (!view_.has_value()) return Open();
  const bool looks = world_.now - seen_ > world_.conditions.grace / 8;
  if (!looks || !world_.rules.reader_looks_again) return;
  if (world_.bucket.index == view_->index) {
    seen_ = world_.now;
  } else {
    Open();
  }
}

void ObjectReader::EndPoll() {
  polling_ = false;
  const bool in_time = world_.now < seen_ + world_.conditions.grace;
  const int64_t frame = view_->index.frame;
  const std::vector<int64_t>& commits = view_->state.commits;
  if (!view_->applies) harm_ = "a reader sees an update of another chunk";
  // Beside a replacement it may see the old frame for a while.
  if ((in_time || !world_.rules.reader_looks_again) && frame == frame_there_ &&
      !BeginsWith(commits, there_)) {
    harm_ = "a reader stays behind";
  }
  if (in_time && frame == frame_before_ && !BeginsWith(commits, before_)) {
    harm_ = "a reader sees a commit go";
  }
  before_ = commits;
  frame_before_ = frame;
  snapshots_.push_back(
      {.chunks = ChunksOf(view_->state), .safe_until = seen_ + world_.conditions.grace});
  if (!world_.conditions.time) snapshots_.clear();
}

void ObjectReader::Act() {
  if (!polling_) return BeginPoll();
  const auto next = world_.bucket.records.find(view_->end);
  if (next != world_.bucket.records.end() && view_->Follow(next->second.value)) {
    if (!view_->replaced) return;
    if (world_.bucket.index != view_->index) return Open();
  }
  EndPoll();
}

std::string ObjectReader::Examine() const {
  for (const Snapshot& snapshot : snapshots_) {
    if (world_.now >= snapshot.safe_until) continue;
    for (const int64_t chunk : snapshot.chunks) {
      if (!world_.bucket.chunks.contains(chunk)) return "a reader's chunk is gone";
    }
  }
  return harm_;
}

void ObjectCollector::AppendKey(std::vector<int64_t>& key) const {
  key.insert(key.end(), {static_cast<int64_t>(phase_), list_time_});
}

void ObjectCollector::List() {
  listed_ = world_.bucket;
  list_time_ = world_.now;
  removal_ = {.kind = BucketRequest::Kind::kDelete};
  phase_ = Phase::kOpen;
  if (world_.conditions.stalls && world_.Chance(30)) {
    stalled_until_ = world_.now + world_.conditions.grace;
  }
}

bool ObjectCollector::NeedsRecord(int64_t position) const {
  return position >= view_->index.begin && position < view_->end;
}

// Takes the objects in lists that are old enough, and the lists.
void ObjectCollector::TakeDue() {
  for (const auto& [number, list] : listed_.lists) {
    const bool due = list.made + world_.conditions.grace <= list_time_;
    if (due) removal_.lists.insert(number);
    for (const int64_t chunk : list.chunks) {
      const bool needed = world_.rules.checks_again && named_.contains(chunk);
      if ((due || !world_.rules.chunk_grace) && !needed) removal_.list.chunks.insert(chunk);
    }
    for (const int64_t record : list.records) {
      const bool needed = world_.rules.checks_again && NeedsRecord(record);
      if ((due || !world_.rules.record_grace) && !needed) removal_.list.records.insert(record);
    }
  }
}

void ObjectCollector::Finish() {
  TakeDue();
  const int64_t age = world_.rules.old_enough ? world_.conditions.grace / 2 : 0;
  GarbageObject found;
  found.made = world_.rules.list_after_state ? world_.now : list_time_;
  for (const auto& [number, chunk] : listed_.chunks) {
    if (!named_.contains(number) && chunk.modified + age <= list_time_) found.chunks.insert(number);
  }
  for (const auto& [number, record] : listed_.records) {
    if (!NeedsRecord(number) && record.modified + age <= list_time_) found.records.insert(number);
  }
  for (const auto& [number, list] : listed_.lists) {
    for (const int64_t chunk : list.chunks) found.chunks.erase(chunk);
    for (const int64_t record : list.records) found.records.erase(record);
  }
  if (found.chunks.empty() && found.records.empty()) {
    phase_ = Phase::kRemove;
    return;
  }
  Submit({.kind = BucketRequest::Kind::kPutList, .number = world_.next_list++, .list = found});
}

void ObjectCollector::Remove() {
  phase_ = Phase::kList;
  if (removal_.list.chunks.empty() && removal_.list.records.empty() && removal_.lists.empty()) {
    return;
  }
  Submit(removal_);
}

void ObjectCollector::Act() {
  if (world_.now < stalled_until_) return;
  switch (phase_) {
    case Phase::kList:
      return List();
    case Phase::kOpen:
      view_.emplace(world_.bucket.index);
      named_ = ChunksOf(view_->state);
      phase_ = Phase::kFollow;
      return;
    case Phase::kFollow: {
      const auto next = world_.bucket.records.find(view_->end);
      if (next == world_.bucket.records.end() || !view_->Follow(next->second.value)) {
        phase_ = Phase::kFinish;
      } else if (next->second.value.chunk != 0) {
        named_.insert(next->second.value.chunk);
      }
      return;
    }
    case Phase::kFinish:
      return Finish();
    case Phase::kRemove:
      return Remove();
  }
}

void ObjectReplacer::Finish() {
  std::set<int64_t>& records = ledger_.replaced[view_->index.frame];
  for (const auto& [position, record] : world_.bucket.records) records.insert(position);
  phase_ = Phase::kDone;
}

void ObjectReplacer::Act() {
  switch (phase_) {
    case Phase::kOpen:
      view_.emplace(world_.bucket.index);
      new_ = world_.next_frame++;
      phase_ = world_.rules.ends_journal ? Phase::kFollow : Phase::kSwap;
      return;
    case Phase::kFollow: {
      const auto next = world_.bucket.records.find(view_->end);
      if (next != world_.bucket.records.end() && view_->Follow(next->second.value)) {
        if (view_->replaced) phase_ = Phase::kSwap;
        return;
      }
      return Submit({.kind = BucketRequest::Kind::kPutRecord,
                     .number = view_->end,
                     .record = {.kind = CommitObject::Kind::kReplaced,
                                .frame = view_->index.frame,
                                .previous = view_->last}});
    }
    case Phase::kSwap:
      return Submit({.kind = BucketRequest::Kind::kPutIndex,
                     .index = {.frame = new_, .state = {}, .begin = new_ * 1000, .last = -new_},
                     .replaces = view_->index});
    case Phase::kDone:
      return;
  }
}

void ObjectReplacer::Receive(Outcome outcome) {
  if (outcome == Outcome::kUnknown) {
    phase_ = Phase::kDone;  // the frame has been replaced, or its journal has ended, or neither
  } else if (phase_ == Phase::kSwap) {
    if (outcome == Outcome::kDone) return Finish();
    phase_ = Phase::kDone;
  }
}

}  // namespace cairn::model
