// Checkpoints that are made in one go.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tests/crash/model/writer.h"

namespace cairn::model {
namespace {

constexpr uint64_t kEndMark = 8;

}  // namespace

bool Writer::MayMarkEnded() {
  return rules_.marks_ended_journal && JournalMayReach(view_.end + kEndedSize);
}

// The journal of `base` ended there, and the header that leads to the next checkpoint is durable.
// Where a disk loses it, this shows what is missing.
void Writer::MarkEnded(uint64_t journal_end, const Base& base) {
  const Bytes mark = Encode(Ended{base, view_.generation}, rules_.binds_position ? journal_end : 0);
  proofs_.push_back({journal_end, mark, base, view_.generation, view_.generation + 1});
  disk_.Write(journal_end, mark);
  is_unmarked_ = !disk_.running();
}

// The old index, trailer and journal, up to `end`, die with the checkpoint, and the chunks that it
// lacks.
Space Writer::SpaceAfterCheckpoint(uint64_t end) const {
  const Checkpoint& base = view_.checkpoint;
  std::vector<DeadExtent> dead = space_.dead();
  for (const DeadExtent& chunk : died_)
    dead.push_back({chunk.extent, chunk.born, view_.generation});
  std::vector<Extent> live;
  for (const ChunkRef& chunk : view_.state.chunks) live.push_back({chunk.offset, chunk.end()});
  const auto add = [&](const Extent& bytes, uint64_t born) {
    for (const Extent& extent : Without(bytes, live)) {
      dead.push_back({extent, born, view_.generation});
    }
  };
  const uint64_t begin = base.journal.begin;
  const uint64_t shared_end = rules_.journal_born_before ? std::max(begin, shared_end_) : begin;
  add({base.index_begin, begin}, base.generation);
  add({begin, shared_end}, base.journal.born);
  add({shared_end, end}, base.generation);
  return Space(space_.free(), dead);
}

Checkpoint Writer::PlanCheckpoint(uint64_t index_begin, const Space& space) const {
  Checkpoint plan;
  plan.generation = view_.generation;
  plan.index_begin = index_begin;
  plan.state = view_.state;
  plan.space.free = space.free();
  for (const DeadExtent& dead : space.dead()) plan.space.dead.push_back(dead.extent);
  return plan;
}

// A checkpoint in the free space right before the index, if no chunk follows it: the frame gets
// shorter.
std::optional<Checkpoint> Writer::PlanBelow(Space& space) const {
  const uint64_t index_begin = view_.checkpoint.index_begin;
  if (space.free().empty() || space.free().back().end != index_begin) return std::nullopt;
  const Extent last = space.free().back();
  for (const ChunkRef& chunk : view_.state.chunks) {
    if (chunk.offset >= last.begin) return std::nullopt;
  }
  Space rest = space;
  rest.Remove(last);
  Checkpoint plan = PlanCheckpoint(last.begin, rest);
  const uint64_t end = EncodeCheckpoint(plan, {conditions_.header_size}, 0).base.end;
  if (end + (conditions_.between ? kEndMark : 0) > last.end) return std::nullopt;
  space = std::move(rest);
  return plan;
}

Checkpoint Writer::PlanAbove(Space& space) const {
  const uint64_t most =
      EncodeCheckpoint(PlanCheckpoint(0, space), {conditions_.header_size}, 0).base.end;
  uint64_t index_begin = std::max(view_.end, space_.EndOfDead());
  if (conditions_.between && random_.Percent(50)) {
    index_begin = space_.FindAbove(view_.end, 2 * most);
  }
  if (!rules_.finds_room_above) index_begin = view_.end;
  std::vector<Extent> seen;
  for (const DeadExtent& dead : space.dead()) seen.push_back(dead.extent);
  std::vector<Extent> free = space.free();
  for (const Extent& between : Without({view_.end, index_begin}, seen)) free.push_back(between);
  space = Space(std::move(free), space.dead());
  return PlanCheckpoint(index_begin, space);
}

void Writer::MakeCheckpoint() {
  if (IsFlipped() && rules_.finishes_flip) FinishFlip();
  DropCheckpoint();
  if (rules_.appends_until_sync) Pay();
  if (view_.generation == view_.checkpoint.generation) return;
  const uint64_t journal_end = view_.end;
  const bool marks = MayMarkEnded();
  if (marks) view_.end += kEndedSize;
  Space space = SpaceAfterCheckpoint(view_.end);
  std::optional<Checkpoint> below = rules_.reuses ? PlanBelow(space) : std::nullopt;
  const bool shrinks = below.has_value();
  Checkpoint plan = below.has_value() ? *std::move(below) : PlanAbove(space);
  const CheckpointBytes bytes =
      EncodeCheckpoint(plan, {conditions_.header_size, !rules_.flips_one_sector}, random_.Next());
  disk_.Write(plan.index_begin, bytes.after_chunks);
  if (conditions_.between && rules_.marks_end && disk_.cache().size() > bytes.base.end) {
    disk_.Write(bytes.base.end, Bytes(kEndMark));
  }
  if (rules_.syncs_before_flip) SyncDisk();
  const size_t flipped = rules_.flips_one_sector ? kFixedHeaderSize : bytes.header.size();
  disk_.Write(0, Slice(bytes.header, 0, flipped));
  const bool may_die = conditions_.dies_at_flips && (shrinks || conditions_.owes);
  if (may_die && random_.Percent(50)) disk_.Kill();
  if (marks && !rules_.marks_after_flip) MarkEnded(journal_end, view_.base);
  if (rules_.syncs_after_flip) SyncDisk();
  is_unmarked_ = true;
  if (marks && rules_.marks_after_flip) MarkEnded(journal_end, view_.base);
  plan.base = view_.base = bytes.base;
  plan.journal = {bytes.base.end, bytes.base, bytes.base.id, plan.generation};
  view_.checkpoint = std::move(plan);
  shared_end_ = 0;
  view_.previous = bytes.base.id;
  view_.end = view_.commit_end = synced_end_ = bytes.base.end;
  view_.receipt.reset();
  summary_.reset();
  synced_generation_ = view_.generation;
  owes_header_ = false;
  space_ = std::move(space);
  died_.clear();
  Release();
  if (random_.Percent(30)) CutUnused(true);
}

}  // namespace cairn::model
