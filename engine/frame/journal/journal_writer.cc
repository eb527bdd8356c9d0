#include "engine/frame/journal/journal_writer.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "engine/format/journal.h"

namespace cairn::frame {

namespace {

// After 16 small durable commits, pre-write zeros: converting fallocated extents makes fdatasync
// several times slower. Grow geometrically, since the commit that extends pays for it.
constexpr int kManyCommits = 16;
// A writer that syncs nothing, and ends after as many commits, leaves the file's size alone: to cut
// off what was reserved takes longer than the commits, up to 3 ms on ext4.
constexpr int kFewCommits = 4;
constexpr int64_t kLeastZeros = int64_t{256} << 10;
constexpr int64_t kMostZeros = int64_t{1} << 20;
constexpr int64_t kSmallCommit = int64_t{64} << 10;

}  // namespace

JournalWriter::JournalWriter(CommittedFrame& frame, FrameSpace space,
                             const JournalFootprint& journal)
    : frame_(frame), summary_is_void_(journal.summary_is_void) {
  BeginAfterCheckpoint(std::move(space), 0);
  for (const JournalFootprint::Placed& chunk : journal.placed) {
    if (chunk.bytes.begin < base().journal->begin) reused_.push_back(chunk);
  }
  summaries_.edits = journal.summed_up;
}

void JournalWriter::StageAt(int64_t position) {
  if (position < set_aside_.end) set_aside_ = {};
  const JournalRoom room = {.limit = space_.LimitFrom(position),
                            .resume = std::max(position, space_.EndOfDead())};
  sink_.emplace(frame_.file.get(), frame_.source, base().header().header_len, position,
                &space_.free(), room);
  sink_->SetLimit(frame_.limit);
  if (owes_header_) sink_->AskBeforeReuse([this] { return MayReuse(); });
  if (NeedsAnchor(position)) BeginWithAnchor();
}

void JournalWriter::SetAside(const Extent& region) {
  set_aside_ = region;
  StageAt(region.end);
}

void JournalWriter::ReturnStaged(bool is_pinned) {
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

void JournalWriter::NoteStaged(const StagedState& staged, FrameSpace& space) const {
  space.Place(sink_->placed());
  const int64_t header_len = base().header().header_len;
  for (const IndexEntry& entry : staged.removed) {
    const Extent chunk = {header_len + entry.value, header_len + entry.value + entry.cbytes};
    space.MarkDying({&chunk, 1});
  }
}

FrameSpace JournalWriter::SpaceWith(const StagedState& staged) const {
  FrameSpace space = space_;
  NoteStaged(staged, space);
  return space;
}

void JournalWriter::BeginAfterCheckpoint(FrameSpace space, int64_t remains_end) {
  space_ = std::move(space);
  remains_end_ = remains_end > CommittedEnd(base()) ? remains_end : 0;
  if (remains_end_ > 0) ForgetHeadroom();
  unsynced_reused_ = 0;
  reused_.clear();
  owes_header_ = false;
  summaries_ = {};
  StageAt(CommittedEnd(base()));
}

void JournalWriter::ContinueAfterCheckpoint(SummaryProgress summaries) {
  summaries_ = std::move(summaries);
  SetRoom();
}

absl::Status JournalWriter::ContinueBelow(const State& before) {
  remains_end_ = std::max(remains_end_, EndWithMark());
  CAIRN_RETURN_IF_ERROR(MarkEnded(before, sink_->end()));
  set_aside_ = {};
  unsynced_reused_ = 0;
  reused_.clear();
  frame_.sync->SetDurable(frame_.committed());
  ForgetHeadroom();
  summaries_ = {};
  StageAt(CommittedEnd(base()));
  CAIRN_RETURN_IF_ERROR(WriteReceipt());
  StageAt(CommittedEnd(base()));
  return absl::OkStatus();
}

absl::Status JournalWriter::MarkEnd(int64_t position) {
  static constexpr std::array<std::byte, format::kEndMark> kZeros = {};
  return frame_.file->WriteAt(position, kZeros);
}

void JournalWriter::ForgetHeadroom() {
  headroom_.Reset(0);
  zeros_end_ = 0;
}

absl::Status JournalWriter::Persist() {
  if (!base().journal.has_value()) return absl::OkStatus();
  const JournalPosition& journal = *base().journal;
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, frame_.file->Size());
  if (size > journal.end) {
    // The header on the disk may be that of the checkpoint before, which needs these bytes.
    if (space_.enabled()) {
      CAIRN_RETURN_IF_ERROR(frame_.PersistHeader());
      remains_end_ = size;
    }
    CAIRN_RETURN_IF_ERROR(DropAfter(journal.end));
    // At once: others may be waiting for space.
    HoldAtRest(base(), *frame_.file, journal.end, frame_.keeps_history());
  }
  for (const JournalFootprint::Placed& chunk : reused_) {
    if (chunk.record_end <= journal.durable_end) continue;
    CAIRN_RETURN_IF_ERROR(frame_.PersistAgain(chunk.bytes));
  }
  reused_ = {};
  if (summary_is_void_) CAIRN_RETURN_IF_ERROR(VoidSummaries());
  return frame_.PersistAgain({journal.durable_end, journal.end});
}

// Where bytes follow the journal, the header on the disk may be another one that needs them.
absl::StatusOr<bool> JournalWriter::MayOwe() const {
  if (frame_.opening == Durability::kMachine) return false;
  if (!base().journal.has_value() || summary_is_void_) return false;
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, frame_.file->Size());
  return size == base().journal->end;
}

void JournalWriter::Owe(bool header_too) {
  const JournalPosition& journal = *base().journal;
  owes_header_ = header_too || (owes_header_ && frame_.sync->owes());
  std::vector<Extent> bytes;
  for (const JournalFootprint::Placed& chunk : reused_) {
    if (chunk.record_end > journal.durable_end) bytes.push_back(chunk.bytes);
  }
  bytes.push_back({journal.durable_end, journal.end});
  frame_.OweHeaderAnd(std::move(bytes), journal.durable_end);
}

bool JournalWriter::OwesHeader() {
  owes_header_ = owes_header_ && frame_.sync->owes();
  return owes_header_;
}

absl::StatusOr<bool> JournalWriter::MayReuse() {
  if (!OwesHeader()) return true;
  if (avoids_syncs_) return false;
  CAIRN_RETURN_IF_ERROR(frame_.sync->Sync(frame_.committed()));
  return true;
}

absl::Status JournalWriter::WriteReceipt() {
  if (!base().journal.has_value() || base().journal->empty()) return absl::OkStatus();
  const JournalPosition& journal = *base().journal;
  const format::Receipt receipt{.base = journal.base,
                                .generation = journal.generation,
                                .boot = frame_.source.BootHere(frame_.core->env()->boot),
                                .durable_generation = journal.generation};
  newest_receipt_ = journal.generation;
  if (journal.receipt == receipt) return absl::OkStatus();
  needs_checkpoint_ = !HasRoomFor(format::kReceiptSize);
  if (needs_checkpoint_) return absl::OkStatus();
  std::vector<std::byte> bytes;
  format::AppendReceipt(receipt, journal.end, bytes);
  const absl::Status written = frame_.file->WriteAt(journal.end, bytes);
  // A full disk has to open, too.
  if (absl::IsResourceExhausted(written)) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(written);
  const int64_t end = journal.end + format::kReceiptSize;
  if (remains_end_ > end) CAIRN_RETURN_IF_ERROR(MarkEnd(end));
  auto state = std::make_shared<State>(base());
  Extend(receipt, end, *state->journal);
  CAIRN_ASSIGN_OR_RETURN(state->region, frame_.source.ViewMore(state->region, state->journal->end));
  frame_.InstallState(std::move(state));
  return absl::OkStatus();
}

absl::StatusOr<bool> JournalWriter::CatchUp() {
  // While this writer's state is registered as read, no other checkpoint can end where its own
  // does.
  std::array<std::byte, format::kFixedHeaderSize> header;
  CAIRN_RETURN_IF_ERROR(frame_.source.ReadAt(0, header));
  const Bytes before = Bytes(base().checkpoint->header_bytes).first(header.size());
  if (!base().journal.has_value() || !std::ranges::equal(header, before)) return false;
  JournalReader reader(frame_.source, base().journal->end);
  JournalFootprint footprint;
  CAIRN_ASSIGN_OR_RETURN(const ReplayResult news,
                         ReplayJournal(frame_.source, base(), reader, {.footprint = &footprint}));
  if (news.moved || news.damage.has_value()) return false;
  const StatePtr newest = news.state != nullptr ? news.state : frame_.state;
  CAIRN_ASSIGN_OR_RETURN(const bool ends, EndsAt(newest->journal->end, reader));
  if (!ends) return false;
  if (news.state == nullptr) return true;
  space_.CatchUp(footprint);
  for (const JournalFootprint::Placed& chunk : footprint.placed) {
    if (chunk.bytes.begin < base().journal->begin) reused_.push_back(chunk);
  }
  frame_.InstallState(news.state);
  return true;
}

// Whether there is nothing after the journal but what was reserved, or what an earlier checkpoint
// left.
absl::StatusOr<bool> JournalWriter::EndsAt(int64_t end, JournalReader& reader) const {
  if (reader.position() != end) return false;  // after what a dead writer staged
  if (remains_end_ <= end) {
    CAIRN_ASSIGN_OR_RETURN(const bool bytes, reader.StoppedAtBytes());
    return !bytes;
  }
  std::array<std::byte, format::kEndMark> mark;
  CAIRN_ASSIGN_OR_RETURN(const size_t got, frame_.source.ReadSome(end, mark));
  return std::ranges::all_of(Bytes(mark).first(got),
                             [](std::byte each) { return each == std::byte{0}; });
}

bool JournalWriter::IsDurable() const {
  // A copy has the receipts of the original: until the first sync, those prove nothing.
  if (frame_.sync->owes()) return false;
  const JournalPosition& journal = *base().journal;
  const uint64_t boot = frame_.source.BootHere(frame_.core->env()->boot);
  return frame_.sync->durable().generation == journal.generation ||
         (boot != 0 && journal.receipt.has_value() && journal.receipt->boot == boot &&
          journal.receipt->durable_generation == journal.generation);
}

absl::Status JournalWriter::Resume() {
  if (IsDurable()) {
    const uint64_t generation = base().generation();
    if (frame_.sync->durable().generation != generation) {
      // The receipt itself may be in the page cache alone.
      frame_.sync->SetDurable(
          {generation, base().journal->end - format::kMaxReceiptSize, base().journal->base});
    }
    unsynced_reused_ = 0;
    reused_.clear();
    newest_receipt_ = generation;
  } else {
    Owe(false);
  }
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, frame_.file->Size());
  const int64_t end = CommittedEnd(base());
  remains_end_ = std::min(remains_end_, size);
  if (remains_end_ <= end) remains_end_ = 0;
  // Zeros that others have cut off only make commits slower.
  const int64_t zeros_end = std::min(zeros_end_, size);
  ForgetHeadroom();
  if (remains_end_ == 0) {
    headroom_.Reset(size);
    zeros_end_ = zeros_end;
  }
  StageAt(end);
  return absl::OkStatus();
}

absl::Status JournalWriter::WriteReceiptOfSyncs() {
  const CommitPoint synced = frame_.sync->durable();
  const CommitPoint committed = frame_.committed();
  // With a summary after the commit.
  const bool is_durable = synced.generation == committed.generation && synced.end >= committed.end;
  if (!is_durable || newest_receipt_ == committed.generation) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(WriteReceipt());
  StageAt(CommittedEnd(base()));
  return absl::OkStatus();
}

absl::Status JournalWriter::Reserve(const Stager& stager, int64_t other_bytes) {
  const StagedState& staged = stager.staged();
  const CheckpointNeed need = NeedOf(staged, base());
  const int64_t end = sink_->end() + format::RecordSize(stager.MakeCommit({}));
  const int64_t after = NeedAfter(staged, base(), need.index, frame_.keeps_history());
  int64_t kept = need.index + std::max(need.pending, after);
  int64_t most = INT64_MAX;
  if (frame_.limit.bytes < INT64_MAX) {
    most = frame_.limit.bytes - other_bytes;
    kept = std::clamp<int64_t>(most - end, 0, kept);
    // The other files need what is left.
    if (base().header().layout == Layout::kSparse) most = end + kept;
  }
  if (avoids_syncs_ && frame_.sync->owes() && ++owing_commits_ <= kFewCommits) {
    const absl::Status status = frame_.file->ReservePastEnd(end + kept);
    return absl::IsResourceExhausted(status) ? Refuse(DiskIsFull(status, kept)) : absl::OkStatus();
  }
  return Refuse(headroom_.Extend(*frame_.file, end, kept, most));
}

// What makes the file larger leaves room for two more indexes: where chunks were deleted, the next
// checkpoint lies after what it frees, and the one after that in it.
absl::Status JournalWriter::CheckLimit(const Stager& stager, int64_t other_bytes) const {
  const StagedState& staged = stager.staged();
  if (frame_.limit.bytes == INT64_MAX || !Grows(staged, base())) return absl::OkStatus();
  const int64_t end = sink_->end() + format::RecordSize(stager.MakeCommit({}));
  const bool reuses = sink_->reused() > 0 && end - CommittedEnd(base()) <= kPageSize;
  const int64_t more = reuses ? 0 : 2 * NeedOf(staged, base()).index;
  return Refuse(frame_.limit.Check(other_bytes + end + RoomForNext(staged, base()) + more));
}

// Readers see what they saw before: zeros after the journal. One byte makes the kernel write the
// page, and a larger write would make page cache of which small parts are slow to sync. On a full
// disk the commit itself fails.
void JournalWriter::WriteZerosAhead() {
  if (sink_->end() - frame_.sync->durable().end > kSmallCommit ||
      ++small_commits_ <= kManyCommits || sink_->end() <= zeros_end_ ||
      headroom_.end() <= sink_->end()) {
    return;
  }
  zeros_ = std::clamp(2 * zeros_, kLeastZeros, kMostZeros);
  zeros_end_ = std::min({sink_->end() + zeros_, headroom_.end(), space_.LimitFrom(sink_->end())});
  static constexpr std::byte kZero[1] = {};
  // What is pending is written over them.
  for (int64_t at = sink_->flushed(); at < zeros_end_; at += kPageSize - at % kPageSize) {
    if (!frame_.file->WriteAt(at, kZero).ok()) return;
  }
}

absl::Status JournalWriter::Sync(uint64_t generation) {
  CAIRN_RETURN_IF_ERROR(sink_->Flush());
  CAIRN_RETURN_IF_ERROR(frame_.sync->Sync({generation, sink_->end(), base().journal->base}));
  unsynced_reused_ = 0;
  reused_.clear();
  return absl::OkStatus();
}

// One more receipt may have to follow, and the record that ends the journal.
bool JournalWriter::HasRoomForRecord(int64_t size) {
  return size <= format::kMaxRecordSize &&
         HasRoomFor(size + 2 * format::kReceiptSize + format::kEndedSize);
}

bool JournalWriter::HasRoomForCommit(const Stager& stager) {
  return !sink_->left_journal() && HasRoomForRecord(format::RecordSize(stager.MakeCommit({})));
}

absl::StatusOr<bool> JournalWriter::Publish(Stager& stager, Durability durability,
                                            int64_t file_bytes) {
  const bool durable = durability == Durability::kMachine;
  const JournalPosition& journal = *base().journal;
  CAIRN_RETURN_IF_ERROR(BoundUnsynced());
  const CommitPoint synced = frame_.sync->durable();
  // A record that names bytes which are durable proves that the header is, too.
  const int64_t durable_end = OwesHeader() ? 0 : synced.end;
  const format::CommitRecordParts commit = stager.MakeCommit({.base = journal.base,
                                                              .generation = journal.generation + 1,
                                                              .previous = journal.last,
                                                              .durable_end = durable_end});
  if (!HasRoomForRecord(format::RecordSize(commit))) return false;
  const format::Receipt receipt{.base = journal.base,
                                .generation = journal.generation + 1,
                                .boot = frame_.source.BootHere(frame_.core->env()->boot),
                                .durable_generation = synced.generation};
  if (durable) CAIRN_RETURN_IF_ERROR(frame_.CheckNotReplaced());
  CAIRN_ASSIGN_OR_RETURN(const uint64_t checksum, sink_->AppendRecord(commit, receipt));
  if (durable || frame_.sync->TakeWasAwaited()) WriteZerosAhead();
  if (remains_end_ > sink_->end()) CAIRN_RETURN_IF_ERROR(MarkEnd(sink_->end()));
  const int64_t reused = sink_->reused() + file_bytes;
  CAIRN_RETURN_IF_ERROR(durable ? Sync(receipt.generation) : sink_->Flush());
  if (!durable) NoteReused(synced.end, sink_->end());
  CAIRN_RETURN_IF_ERROR(InstallCommit(stager, {.links = commit.links,
                                               .checksum = checksum,
                                               .end = sink_->end(),
                                               .receipt = receipt,
                                               .chunk_edits = commit.chunks.count(),
                                               .layer_edits = std::ssize(commit.layers),
                                               .reused = reused}));
  if (!durable) unsynced_reused_ += reused;
  if (durable) CAIRN_RETURN_IF_ERROR(AfterCommit(RenewReceipt()));
  return true;
}

// If this writer suspends, it may have to write them once more.
void JournalWriter::NoteReused(int64_t durable_end, int64_t record_end) {
  while (!reused_.empty() && reused_.front().record_end <= durable_end) reused_.pop_front();
  for (const Extent& chunk : sink_->placed()) {
    if (chunk.begin < base().journal->begin) {
      reused_.push_back({.bytes = chunk, .record_end = record_end});
    }
  }
}

// The record is in the file: the state that readers get by replaying it, this writer has at hand.
absl::Status JournalWriter::InstallCommit(Stager& stager, const CommitStep& step) {
  NoteStaged(stager.staged(), space_);
  sink_->ForgetPlaced();
  const std::shared_ptr<State> state = stager.MakeState();
  Advance(step, *state->journal);
  CAIRN_ASSIGN_OR_RETURN(FrameView region, sink_->View(base()));
  SetRegion(std::move(region), *state);
  frame_.InstallState(state);
  stager.SetBase(state);
  return absl::OkStatus();
}

// The last receipt says from now on that all is durable. A power cut may leave the old one, the new
// one or none.
absl::Status JournalWriter::RenewReceipt() {
  const JournalPosition& journal = *base().journal;
  newest_receipt_ = journal.generation;
  // In place of what an older version wrote would be too little.
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

absl::Status JournalWriter::SyncCommitted() {
  if (frame_.sync->durable().generation == base().generation()) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(frame_.sync->Sync(frame_.committed()));
  unsynced_reused_ = 0;
  reused_.clear();
  // A snapshot of staged edits may read what lies there.
  if (sink_->end() > CommittedEnd(base())) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(AfterCommit(WriteReceipt()));
  StageAt(CommittedEnd(base()));
  return absl::OkStatus();
}

}  // namespace cairn::frame
