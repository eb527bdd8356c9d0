#include "engine/frame/journal/journal_tail.h"

#include <algorithm>
#include <vector>

#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/chunk/header.h"
#include "engine/format/journal.h"
#include "engine/format/journal_summary.h"
#include "engine/frame/files/holes.h"
#include "engine/frame/replay/summary.h"
#include "engine/frame/space/disk_reserve.h"

namespace cairn::frame {

namespace {

// Chunks that take more times the bytes that are dead in the journal leave few of them unused.
constexpr int64_t kMostTimesDead = 4;
// Free extents that are looked at.
constexpr int64_t kMostListed = 4096;
// A search for commits after damage gets past twice as many zeros.
constexpr int64_t kMostSkipped = int64_t{64} << 20;

}  // namespace

void JournalTail::StageAt(int64_t position) {
  if (position < set_aside_.end) set_aside_ = {};
  const JournalRoom room = {.limit = space_.LimitFrom(position),
                            .resume = std::max(position, space_.EndOfDead())};
  sink_.emplace(frame_.file.get(), frame_.source, base().header().header_len, position,
                &space_.free().pool(), room);
  sink_->SetLimit(frame_.limit);
  sink_->AskForHoles([this] { return HasHoles(); });
  if (unsynced_.OwesHeader()) {
    sink_->AskBeforeReuse([&unsynced = unsynced_] { return unsynced.MayReuse(); });
  }
  if (NeedsAnchor(position)) {
    sink_->BeginWith(format::EncodeAnchor(AnchorOf(base()).identity));
  }
}

void JournalTail::SetAside(const Extent& region) {
  set_aside_ = region;
  StageAt(region.end);
}

void JournalTail::ReturnStaged(bool is_pinned) {
  const std::vector<Extent> placed = sink_->placed();
  sink_->ForgetPlaced();
  if (is_pinned) {
    space_.Place(placed);
    space_.MarkDying(placed);
    return;
  }
  for (const Extent& chunk : placed) {
    if (chunk.begin < base().journal->begin) space_.free().Add(chunk);
  }
}

void JournalTail::NoteStaged(const StagedState& staged, FrameSpace& space) const {
  space.Place(sink_->placed());
  const int64_t header_len = base().header().header_len;
  for (const IndexEntry& entry : staged.removed) {
    const Extent chunk = {header_len + entry.value, header_len + entry.value + entry.cbytes};
    space.MarkDying({&chunk, 1});
  }
}

void JournalTail::CommitStaged(const StagedState& staged) {
  NoteStaged(staged, space_);
  sink_->ForgetPlaced();
}

FrameSpace JournalTail::SpaceWith(const StagedState& staged) const {
  FrameSpace space = space_;
  NoteStaged(staged, space);
  return space;
}

void JournalTail::Release(int64_t most) {
  const bool sealed = base().checkpoint->seal_holds;
  const uint64_t oldest = sealed ? base().checkpoint->seal->oldest_generation : 0;
  if (most == INT64_MAX) {
    space_.Release(*frame_.file, oldest);
  } else {
    space_.ReleaseSome(*frame_.file, oldest, most);
  }
  SetRoom();
}

void JournalTail::SetRoom() {
  const int64_t end = sink_->end();
  sink_->SetRoom({.limit = space_.LimitFrom(end), .resume = std::max(end, space_.EndOfDead())});
}

PlacedChunks JournalTail::ChunksToExpect() const {
  if (!space_.enabled() || frame_.limit.bytes < INT64_MAX || frame_.keeps_history()) return {};
  PlacedChunks chunks = space_.placed();
  int64_t dead = space_.dying().BytesInJournal(end());
  for (const Extent& chunk : sink_->placed()) {
    chunks.Add(chunk);
    if (chunk.begin >= space_.dying().index_begin()) dead -= chunk.size();
  }
  const bool is_worth_it = chunks.bytes >= base().env()->checkpoints.least_expected &&
                           chunks.bytes <= kMostTimesDead * dead;
  return is_worth_it ? chunks : PlacedChunks();
}

absl::Status JournalTail::LeaveRoom(const PlacedChunks& chunks, const StagedState& staged) {
  if (chunks.bytes == 0) return absl::OkStatus();
  int64_t begin = space_.dying().EndOfLive();
  for (const Extent& chunk : sink_->placed()) begin = std::max(begin, chunk.end);
  const int64_t mean = CeilDiv(chunks.bytes, chunks.count);
  int64_t needed = chunks.bytes - (end() - begin);
  std::vector<Extent> free;
  space_.free().pool().ListFrom(0, kMostListed, free);
  for (const Extent& extent : free) needed -= extent.size() / mean * mean;
  const int64_t size = std::min(needed, kMostSkipped);
  const bool skips = size > chunk::kHeaderSize && !sink_->left_journal() && sink_->HasRoomFor(size);
  if (!skips) return absl::OkStatus();
  // A disk that is nearly full keeps its space for the checkpoint.
  const CheckpointNeed need = NeedOf(staged, base());
  const int64_t kept = 2 * need.index + need.pending;
  const absl::Status reserved = frame_.file->Allocate(end(), size + kept);
  return absl::IsResourceExhausted(reserved) ? absl::OkStatus() : sink_->Skip(size);
}

bool JournalTail::HasRoomFor(int64_t size) {
  if (sink_->HasRoomFor(size + format::kEndMark)) return true;
  Release();
  return sink_->HasRoomFor(size + format::kEndMark);
}

int64_t JournalTail::EndWithMark() const {
  const bool has_room = sink_->HasRoomFor(format::kEndedSize + format::kEndMark);
  return sink_->end() + (has_room ? format::kEndedSize : 0);
}

absl::Status JournalTail::MarkEnded(const State& before, int64_t end) {
  const Checkpoint& newer = *base().checkpoint;
  const bool is_sealed = newer.seal_holds && before.journal.has_value();
  if (!is_sealed || EndWithMark() == end) return absl::OkStatus();
  const absl::Status status =
      frame_.file->WriteAt(end, format::EncodeEnded({.base = before.journal->base,
                                                     .last = before.generation(),
                                                     .generation = newer.seal->generation,
                                                     .frame_size = newer.header.frame_size},
                                                    end));
  // The checkpoint is durable, whether that can be recorded or not.
  return absl::IsResourceExhausted(status) ? absl::OkStatus() : status;
}

int64_t JournalTail::BytesAfter(int64_t durable_end) const {
  const int64_t aside = set_aside_.end - std::max(set_aside_.begin, durable_end);
  return end() - durable_end - std::max<int64_t>(aside, 0);
}

bool JournalTail::HasHoles() {
  if (!has_holes_.has_value()) {
    const int64_t reserved = CommittedEnd(base()) + RoomForNext(StagedState(base()), base());
    has_holes_ = MayHaveHoles(*frame_.file, reserved);
  }
  return *has_holes_;
}

absl::Status JournalTail::ReserveWithFree(absl::FunctionRef<absl::Status()> reserve) {
  absl::Status status = reserve();
  if (status.ok() || !absl::IsResourceExhausted(status)) return status;
  CAIRN_ASSIGN_OR_RETURN(const bool punched, PunchFree());
  return punched ? reserve() : status;
}

void JournalTail::HoldReserve(int64_t end) {
  const auto hold = [&] { return HoldAtRest(base(), *frame_.file, end, frame_.keeps_history()); };
  ReserveWithFree(hold).IgnoreError();
}

absl::StatusOr<bool> JournalTail::PunchFree() {
  CAIRN_ASSIGN_OR_RETURN(const int64_t before, frame_.file->AllocatedSize());
  std::vector<Extent> free;
  space_.free().pool().ListFrom(0, kMostListed, free);
  if (free.empty()) return false;
  CAIRN_ASSIGN_OR_RETURN(const bool may_reuse, unsynced_.MayReuse());
  if (!may_reuse) return false;
  NoteHoles();
  for (const Extent& extent : free) {
    const absl::Status status = PunchPages(extent, *frame_.file);
    if (!status.ok()) return absl::IsUnimplemented(status) ? absl::StatusOr<bool>(false) : status;
  }
  CAIRN_ASSIGN_OR_RETURN(const int64_t after, frame_.file->AllocatedSize());
  return after < before;
}

// Returns true if a journal begins at `position` that may get so long that opening takes long.
bool JournalTail::NeedsAnchor(int64_t position) const {
  const State& state = base();
  return state.journal.has_value() && state.journal->empty() && position == state.journal->begin &&
         state.header().layout == Layout::kContiguous && state.checkpoint->seal_holds &&
         !state.checkpoint->seal->journal.has_value() && frame_.limit.bytes == INT64_MAX &&
         state.chunks.size() >= state.env()->checkpoints.least_summarized &&
         sink_->HasRoomFor(format::kAnchorSize);
}

}  // namespace cairn::frame
