#include "tests/crash/model/background_checkpoint.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/crash/model/writer.h"

namespace cairn::model {

namespace {

// Cuts bytes into pieces of random sizes, in random order.
std::vector<BackgroundCheckpoint::Piece> Cut(uint64_t begin, const Bytes& bytes, Random& random) {
  std::vector<BackgroundCheckpoint::Piece> pieces;
  for (uint64_t at = 0; at < bytes.size();) {
    const uint64_t end = std::min<uint64_t>(bytes.size(), at + 1 + random.Below(1000));
    pieces.push_back({begin + at, Slice(bytes, at, end)});
    at = end;
  }
  for (size_t i = pieces.size(); i > 1; --i) std::swap(pieces[i - 1], pieces[random.Below(i)]);
  return pieces;
}

}  // namespace

void Writer::BeginCheckpoint() {
  if (gradual_.has_value() || view_.generation == view_.checkpoint.generation) return;
  if ((conditions_.shrinks || random_.Percent(50)) && BeginBelow()) return;
  BeginAbove();
}

// In free space that nothing follows, with room for a journal.
bool Writer::BeginBelow() {
  const uint64_t index_begin = view_.checkpoint.index_begin;
  if (!rules_.reuses || space_.free().empty()) return false;
  const Extent last = space_.free().back();
  const auto follows = [&](const ChunkRef& chunk) { return chunk.offset >= last.begin; };
  if (last.end != index_begin || std::ranges::any_of(view_.state.chunks, follows)) return false;
  // Chunks of the commits that follow need some, too.
  const Extent taken = {last.begin + random_.Below(last.size() / 2 + 1), last.end};
  if (rules_.appends_until_sync) Pay();
  Space kept = space_;
  kept.Remove(taken);
  Space space = SpaceAfterCheckpoint(view_.end);
  space.Remove(taken);
  Checkpoint plan = PlanCheckpoint(taken.begin, space);
  const HeaderFormat format = {conditions_.header_size, !rules_.flips_one_sector};
  const uint64_t frame_end = EncodeCheckpoint(plan, format, 0).base.end;
  const uint64_t anchor = conditions_.summaries ? kAnchorSize : 0;
  const uint64_t begin = frame_end + anchor + random_.Below(200);
  if (begin > taken.end) return false;
  // Readers of the checkpoint before may see the commits that are copied.
  const uint64_t born = rules_.copies_born_before ? view_.checkpoint.generation : plan.generation;
  plan.journal = {begin, {begin, random_.Next()}, random_.Next(), born};
  const CheckpointBytes bytes = EncodeCheckpoint(plan, format, random_.Next());
  plan.base = bytes.base;
  Bytes written = bytes.after_chunks;
  if (conditions_.summaries) {
    const Bytes empty = EmptyAnchor(AnchorIdentity(plan, rules_.binds_anchor));
    written.insert(written.end(), empty.begin(), empty.end());
  }
  proofs_.push_back({.offset = plan.index_begin, .bytes = bytes.after_chunks});
  if (rules_.takes_place_below) space_ = std::move(kept);
  const uint64_t previous = plan.journal.previous;
  gradual_.emplace(BackgroundCheckpoint{.checkpoint = std::move(plan),
                                        .space = std::move(space),
                                        .header = bytes.header,
                                        .unwritten = Cut(taken.begin, written, random_)});
  gradual_->own = {.taken = taken,
                   .old_end = view_.end,
                   .end = begin,
                   .commit_end = begin,
                   .previous = previous};
  return true;
}

// Its journal leads on from the state of the checkpoint.
void Writer::CopyCommit(BatchRecord record) {
  BackgroundCheckpoint::OwnJournal& own = *gradual_->own;
  const Base base = gradual_->checkpoint.journal.base;
  record.base = base;
  record.previous = own.previous;
  record.durable_end = gradual_->checkpoint.journal.begin;
  Bytes bytes = Encode(record, rules_.binds_position ? own.end : 0);
  proofs_.push_back({own.end, bytes, base, record.generation});
  own.previous = Hash(bytes, 0, bytes.size() - 8);
  own.commit_end = own.end + bytes.size();
  own.receipt_at = own.commit_end;
  const uint64_t durable = rules_.copy_claims_synced ? synced_generation_ : record.generation;
  own.receipt = {base, record.generation, disk_.boot(), durable};
  const Bytes receipt = Encode(*own.receipt, rules_.binds_position ? own.receipt_at : 0);
  proofs_.push_back({own.receipt_at, receipt, base, record.generation, durable});
  bytes.insert(bytes.end(), receipt.begin(), receipt.end());
  disk_.Write(own.end, bytes);
  own.end += bytes.size();
}

bool Writer::CanCopy(const Placed& placed) const {
  const BackgroundCheckpoint::OwnJournal& own = *gradual_->own;
  const BatchRecord& record = placed.record;
  const uint64_t size = RecordSize(record.chunks.size(), record.removed.size()) + kReceiptSize;
  if (own.end + size > own.taken.end) return false;
  return placed.in_journal.empty() || !rules_.follows_placed_only;
}

void Writer::DropCheckpoint() {
  if (gradual_.has_value() && gradual_->own.has_value() && rules_.takes_place_below) {
    std::vector<Extent> free = space_.free();
    free.push_back(gradual_->own->taken);
    space_ = Space(std::move(free), space_.dead());
  }
  gradual_.reset();
}

// A chunk that no commit names keeps the region from the journal, which continues after it.
void Writer::BeginAbove() {
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
  gradual_.emplace(
      BackgroundCheckpoint{.checkpoint = std::move(plan),
                           .space = std::move(space),
                           .header = bytes.header,
                           .unwritten = Cut(begin + kChunkHeaderSize, region, random_)});
}

void Writer::BeginSync() {
  if (std::exchange(owes_, false)) WriteAgain();
  disk_.BeginSync();
  gradual_->syncs_end = view_.end;
  gradual_->syncs_generation = view_.generation;
}

void Writer::EndSync() {
  disk_.EndSync();
  synced_end_ = std::max(synced_end_, gradual_->syncs_end);
  const uint64_t covered = rules_.claims_what_began ? gradual_->syncs_generation : view_.generation;
  synced_generation_ = std::max(synced_generation_, covered);
}

void Writer::StepCheckpoint() {
  if (!gradual_.has_value()) return;
  using Step = BackgroundCheckpoint::Step;
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
      if (gradual_->own.has_value()) return FlipBelow();
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

// The header and what it leads to are durable before any commit that the old journal lacks.
void Writer::FlipBelow() {
  disk_.Write(0, Slice(gradual_->header, 0, kFixedHeaderSize));
  if (conditions_.dies_at_flips && random_.Percent(50)) disk_.KillAfter(random_.Below(4));
  if (rules_.syncs_flip_below) SyncDisk();
  const BackgroundCheckpoint::OwnJournal own = *gradual_->own;
  const uint64_t before = view_.checkpoint.generation;
  const uint64_t journal_end = view_.end;
  is_unmarked_ = true;
  if (MayMarkEnded()) {
    MarkEnded(journal_end, view_.base);
    view_.end += kEndedSize;
  }
  const Extent rest = {own.old_end, view_.end};
  if (rules_.buries_old_journal && rest.size() > 0) {
    std::vector<DeadExtent> dead = gradual_->space.dead();
    dead.push_back({rest, before, gradual_->checkpoint.generation});
    gradual_->space = Space(gradual_->space.free(), std::move(dead));
  }
  view_.base = gradual_->checkpoint.journal.base;
  view_.previous = own.previous;
  view_.end = own.end;
  view_.commit_end = own.commit_end;
  view_.receipt = own.receipt;
  view_.receipt_at = own.receipt_at;
  synced_end_ = own.end;
  synced_generation_ = view_.generation;
  TakeOver();
  shared_end_ = 0;
  if (rules_.writes_receipts && disk_.running()) LeaveReceipt();
  if (random_.Percent(30)) CutUnused(true);
}

// The header is durable: what the checkpoint lists as dead is, except for what commits did since.
void Writer::TakeOver() {
  BackgroundCheckpoint gradual = *std::move(gradual_);
  gradual_.reset();
  view_.checkpoint = std::move(gradual.checkpoint);
  summary_ = gradual.summary;
  shared_end_ = view_.end;
  space_ = std::move(gradual.space);
  if (rules_.takeover_minds_placed) space_.RemoveEverywhere(gradual.placed);
  if (rules_.takeover_buries) {
    died_.clear();
    for (const ChunkRef& chunk : gradual.removed) MarkDying(chunk, rules_.waits_for_checkpoint);
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
  SyncDisk();
  synced_end_ = view_.end;
  synced_generation_ = view_.generation;
  TakeOver();
}

// The bytes written so far become dead bytes of the journal. If the header was written already,
// Resume makes it durable.
void Writer::Suspend() {
  DropCheckpoint();
  WriteReceiptOfSyncs();
}

}  // namespace cairn::model
