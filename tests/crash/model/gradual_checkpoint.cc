#include "tests/crash/model/gradual_checkpoint.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/crash/model/writer.h"

namespace cairn::model {

namespace {

// Of random sizes, in random order.
std::vector<GradualCheckpoint::Piece> Cut(uint64_t begin, const Bytes& bytes, Random& random) {
  std::vector<GradualCheckpoint::Piece> pieces;
  for (uint64_t at = 0; at < bytes.size();) {
    const uint64_t end = std::min<uint64_t>(bytes.size(), at + 1 + random.Below(1000));
    pieces.push_back({begin + at, Slice(bytes, at, end)});
    at = end;
  }
  for (size_t i = pieces.size(); i > 1; --i) std::swap(pieces[i - 1], pieces[random.Below(i)]);
  return pieces;
}

}  // namespace

// A chunk that no commit names keeps the region from the journal, which goes on after it.
void Writer::BeginCheckpoint() {
  if (gradual_.has_value() || view_.generation == view_.checkpoint.generation) return;
  const uint64_t begin = view_.end;
  const HeaderFormat format = {conditions_.header_size, !rules_.flips_one_sector};
  Space space = SpaceAfterCheckpoint(begin + kChunkHeaderSize);
  Checkpoint plan = PlanCheckpoint(begin + kChunkHeaderSize, space);
  const uint64_t frame_end = EncodeCheckpoint(plan, format, 0).base.end;
  const uint64_t end = frame_end + (conditions_.summaries ? kAnchorSize : 0) + random_.Below(200);
  if (!JournalMayReach(end)) return;
  if (rules_.inherits_journal) {
    plan.journal = {end, view_.base, view_.previous, view_.checkpoint.generation};
  }
  if (!rules_.inherits_begin) plan.journal.begin = frame_end;
  if (!rules_.inherits_base) plan.journal.base = {};
  if (!rules_.inherits_previous) plan.journal.previous = view_.base.id;
  const CheckpointBytes bytes = EncodeCheckpoint(plan, format, random_.Next());
  plan.base = bytes.base;
  Bytes region = bytes.after_chunks;
  if (conditions_.summaries) {
    const Bytes anchor = EmptyAnchor(AnchorIdentity(plan, rules_.binds_anchor));
    region.insert(region.end(), anchor.begin(), anchor.end());
  }
  ReserveSpace(end);
  const Bytes filler = MakeChunkHeader(0, end - begin);
  proofs_.push_back({.offset = begin, .bytes = filler});
  proofs_.push_back({.offset = plan.index_begin, .bytes = bytes.after_chunks});
  if (rules_.writes_filler) disk_.Write(begin, filler);
  view_.end = rules_.skips_region ? end : plan.index_begin;
  gradual_.emplace(GradualCheckpoint{.checkpoint = std::move(plan),
                                     .space = std::move(space),
                                     .header = bytes.header,
                                     .unwritten = Cut(begin + kChunkHeaderSize, region, random_)});
}

void Writer::BeginSync() {
  disk_.BeginSync();
  gradual_->syncs_end = view_.end;
  gradual_->syncs_generation = view_.generation;
}

void Writer::EndSync() {
  disk_.EndSync();
  synced_end_ = std::max(synced_end_, gradual_->syncs_end);
  synced_generation_ = std::max(synced_generation_, gradual_->syncs_generation);
}

void Writer::StepCheckpoint() {
  if (!gradual_.has_value()) return;
  using Step = GradualCheckpoint::Step;
  Step& next = gradual_->next;
  switch (next) {
    case Step::kWrite:
      disk_.Write(gradual_->unwritten.back().offset, gradual_->unwritten.back().bytes);
      gradual_->unwritten.pop_back();
      if (!gradual_->unwritten.empty()) return;
      next = rules_.syncs_before_late_flip ? Step::kBeginSync : Step::kFlip;
      return;
    case Step::kBeginSync:
      BeginSync();
      next = Step::kEndSync;
      return;
    case Step::kEndSync:
      EndSync();
      next = Step::kFlip;
      return;
    case Step::kFlip:
      disk_.Write(0, Slice(gradual_->header, 0, kFixedHeaderSize));
      next = Step::kBeginFlipSync;
      if (conditions_.dies_at_flips && random_.Percent(50)) disk_.KillAfter(random_.Below(10));
      if (!rules_.syncs_before_takeover) TakeOver();
      return;
    case Step::kBeginFlipSync:
      BeginSync();
      next = Step::kTakeOver;
      return;
    case Step::kTakeOver:
      EndSync();
      return TakeOver();
  }
}

// The header is durable: what the checkpoint lists as dead is, but for what commits did since.
void Writer::TakeOver() {
  GradualCheckpoint gradual = *std::move(gradual_);
  gradual_.reset();
  view_.checkpoint = std::move(gradual.checkpoint);
  summary_ = gradual.summary;
  shared_end_ = view_.end;
  space_ = std::move(gradual.space);
  if (rules_.takeover_minds_placed) space_.RemoveEverywhere(gradual.placed);
  if (rules_.takeover_buries) {
    died_.clear();
    for (const ChunkRef& chunk : gradual.removed) Bury(chunk, rules_.waits_for_checkpoint);
  }
  if (!rules_.takeover_keeps_dying) {
    std::vector<DeadExtent> dead = space_.dead();
    dead.insert(dead.end(), died_.begin(), died_.end());
    space_ = Space(space_.free(), dead);
    died_.clear();
  }
  Release();
}

void Writer::FinishFlip() {
  disk_.Sync(false);
  synced_end_ = view_.end;
  synced_generation_ = view_.generation;
  TakeOver();
}

// What was written is dead bytes of the journal. If the header was written already, Resume makes it
// durable.
void Writer::Suspend() { gradual_.reset(); }

}  // namespace cairn::model
