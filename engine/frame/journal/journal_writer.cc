#include "engine/frame/journal/journal_writer.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "engine/base/status.h"
#include "engine/format/journal.h"
#include "engine/frame/open/newer_checkpoint.h"
#include "engine/frame/space/disk_reserve.h"

namespace cairn::frame {

JournalWriter::JournalWriter(CommittedFrame& frame, FrameSpace space,
                             const JournalFootprint& journal)
    : frame_(frame),
      unsynced_(frame),
      tail_(frame, unsynced_),
      headroom_(frame, unsynced_, tail_),
      remains_(frame, tail_, headroom_),
      receipts_(frame, tail_, remains_),
      summarizer_(frame, tail_, headroom_, remains_, journal) {
  tail_.SetSpace(std::move(space));
  tail_.StageAt(CommittedEnd(base()));
  unsynced_.NotePlaced(journal.placed);
}

void JournalWriter::BeginAfterCheckpoint(FrameSpace space, int64_t remains_end) {
  tail_.SetSpace(std::move(space));
  remains_.SetEnd(remains_end > CommittedEnd(base()) ? remains_end : 0);
  if (remains_.end() > 0) headroom_.Forget();
  unsynced_.BeginAfterCheckpoint();
  summarizer_.Begin({});
  tail_.StageAt(CommittedEnd(base()));
}

void JournalWriter::ContinueAfterCheckpoint(SummaryProgress summaries) {
  summarizer_.Begin(std::move(summaries));
  tail_.SetRoom();
}

absl::Status JournalWriter::ContinueBelow(const State& before) {
  remains_.SetEnd(std::max(remains_.end(), tail_.EndWithMark()));
  CAIRN_RETURN_IF_ERROR(tail_.MarkEnded(before, tail_.end()));
  tail_.ForgetAside();
  unsynced_.Clear();
  frame_.sync->SetDurable(frame_.committed());
  headroom_.Forget();
  summarizer_.Begin({});
  tail_.StageAt(CommittedEnd(base()));
  CAIRN_RETURN_IF_ERROR(receipts_.WriteReceipt());
  tail_.StageAt(CommittedEnd(base()));
  return absl::OkStatus();
}

absl::Status JournalWriter::Persist() {
  if (!base().journal.has_value()) return absl::OkStatus();
  const JournalPosition& journal = *base().journal;
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, frame_.file->Size());
  if (size > journal.end) {
    // The header on the disk may be that of the checkpoint before, which needs these bytes.
    if (tail_.space().enabled()) {
      CAIRN_RETURN_IF_ERROR(frame_.PersistHeader());
      remains_.SetEnd(size);
    }
    CAIRN_RETURN_IF_ERROR(remains_.DropAfter(journal.end));
    // At once: others may be waiting for space.
    HoldAtRest(base(), *frame_.file, journal.end, frame_.keeps_history()).IgnoreError();
  }
  CAIRN_RETURN_IF_ERROR(unsynced_.PersistPlaced());
  if (summarizer_.is_void()) CAIRN_RETURN_IF_ERROR(summarizer_.VoidSummaries());
  return frame_.PersistAgain({journal.durable_end, journal.end});
}

// If bytes follow the journal, the header on the disk may be another one that needs them.
absl::StatusOr<bool> JournalWriter::MayOwe() const {
  if (frame_.opening == Durability::kMachine) return false;
  if (!base().journal.has_value() || summarizer_.is_void()) return false;
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, frame_.file->Size());
  return size == base().journal->end;
}

absl::StatusOr<bool> JournalWriter::CatchUp() {
  if (!base().journal.has_value()) return false;
  if (IsOfOthers(*base().checkpoint) && base().journal->empty()) return false;
  // While this writer's state is registered as read, no other checkpoint can end where its own
  // does.
  CAIRN_ASSIGN_OR_RETURN(const bool moves_on, HasNewCheckpoint(base(), frame_.source));
  if (moves_on) return false;
  JournalReader reader(frame_.source, base().journal->end);
  JournalFootprint footprint;
  CAIRN_ASSIGN_OR_RETURN(const ReplayResult news,
                         ReplayJournal(frame_.source, base(), reader, {.footprint = &footprint}));
  if (news.moved || news.damage.has_value()) return false;
  const StatePtr newest = news.state != nullptr ? news.state : frame_.state;
  // A writer that died began to write right after the journal.
  if (reader.position() != newest->journal->end) return false;
  CAIRN_ASSIGN_OR_RETURN(const bool goes_on, reader.StoppedAtBytes(format::kEndMark));
  if (goes_on) return false;
  if (news.state == nullptr) return true;
  tail_.space().CatchUp(footprint);
  unsynced_.NotePlaced(footprint.placed);
  frame_.InstallState(news.state);
  return true;
}

absl::Status JournalWriter::Resume() {
  if (receipts_.IsDurable()) {
    const uint64_t generation = base().generation();
    if (frame_.sync->durable().generation != generation) {
      // The receipt itself may be in the page cache alone.
      frame_.sync->SetDurable(
          {generation, base().journal->end - format::kMaxReceiptSize, base().journal->base});
    }
    unsynced_.Clear();
    receipts_.NoteReceipt();
  } else {
    unsynced_.Owe(false);
  }
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, frame_.file->Size());
  remains_.Resume(size);
  tail_.StageAt(CommittedEnd(base()));
  return absl::OkStatus();
}

JournalLoad JournalWriter::LoadWithout(int64_t set_aside) const {
  const JournalPosition& journal = *base().journal;
  const Checkpoint& checkpoint = *base().checkpoint;
  const int64_t index_begin =
      checkpoint.index.size() > 0 ? checkpoint.index.begin : checkpoint.trailer.begin;
  JournalLoad load{.written = tail_.end() - journal.begin + journal.reused + tail_.sink().reused(),
                   .checkpoint = journal.begin - index_begin};
  load.is_durable = frame_.sync->durable().generation == base().generation();
  if (tail_.space().enabled()) {
    load.is_held = tail_.space().free().is_held();
    load.dying = tail_.space().dying().Bytes(tail_.end()) - load.checkpoint - set_aside;
    load.dying_in_journal =
        tail_.space().dying().BytesInJournal(tail_.end()) - load.checkpoint - set_aside;
  }
  return load;
}

bool JournalWriter::IsLong(const StagedState& staged, int64_t patience, int64_t set_aside) const {
  return tail_.sink().left_journal() ||
         IsCheckpointDue(staged, base(), LoadWithout(set_aside), patience);
}

bool JournalWriter::IsWorthClosing(const Stager& stager, int64_t file_bytes) const {
  const StagedState& staged = stager.staged();
  if (tail_.sink().left_journal() || !base().journal.has_value() ||
      !base().checkpoint->seal_holds) {
    return true;
  }
  JournalLoad closed = LoadWithout(0);
  closed.written += file_bytes + (staged.edited ? format::RecordSize(stager.MakeCommit({})) : 0);
  return frame::IsWorthClosing(staged, base(), closed);
}

int64_t JournalWriter::UnsyncedBytes() {
  const CommitPoint synced = frame_.sync->durable();
  return tail_.BytesAfter(synced.end) + unsynced_.BytesOutside(synced) + tail_.sink().reused();
}

// No commit waits for a sync unless the disk is slower than the writer.
absl::Status JournalWriter::BoundUnsynced() {
  CAIRN_RETURN_IF_ERROR(unsynced_.TakeResult());
  const int64_t bytes = UnsyncedBytes();
  if (bytes > kMostUnsynced) return Sync(base().generation());
  if (bytes > kMostUnsynced / 2) unsynced_.SyncAhead();
  return absl::OkStatus();
}

absl::Status JournalWriter::Sync(uint64_t generation) {
  CAIRN_RETURN_IF_ERROR(tail_.sink().Flush());
  CAIRN_RETURN_IF_ERROR(frame_.sync->Sync({generation, tail_.end(), base().journal->base}));
  unsynced_.Clear();
  return absl::OkStatus();
}

absl::Status JournalWriter::SyncCommitted() {
  if (frame_.sync->durable().generation == base().generation()) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(frame_.sync->Sync(frame_.committed()));
  unsynced_.Clear();
  // A snapshot of staged edits may read what lies there.
  if (tail_.end() > CommittedEnd(base())) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(AfterCommit(receipts_.WriteReceipt()));
  tail_.StageAt(CommittedEnd(base()));
  return absl::OkStatus();
}

// Another receipt may have to follow the record and its own, and the record that ends the journal.
bool JournalWriter::HasRoomForRecord(int64_t size) {
  return size <= format::kMaxRecordSize &&
         tail_.HasRoomFor(size + 2 * format::kReceiptSize + format::kEndedSize);
}

bool JournalWriter::HasRoomForCommit(const Stager& stager) {
  return !tail_.sink().left_journal() &&
         HasRoomForRecord(format::RecordSize(stager.MakeCommit({})));
}

// A full disk cuts a write short at any byte. If that were the last one of a receipt, readers would
// take the record before it for a commit that the writer takes for failed. So where no space was
// reserved for the record, zeros take it, which readers see after a journal anyway.
absl::Status JournalWriter::HoldRecord(const Stager& stager) {
  if (can_reserve_.value_or(false) || !HasRoomForCommit(stager)) return absl::OkStatus();
  const int64_t size = format::RecordSize(stager.MakeCommit({})) + format::kReceiptSize;
  if (!can_reserve_.has_value()) {
    const absl::Status status = frame_.file->Allocate(tail_.end(), size);
    can_reserve_ = status.ok() || absl::IsResourceExhausted(status);
    if (*can_reserve_) return RefuseIfFull(status);
  }
  CAIRN_RETURN_IF_ERROR(RefuseIfFull(tail_.sink().Flush()));
  return RefuseIfFull(remains_.WriteZeros(tail_.end(), tail_.end() + size));
}

absl::StatusOr<bool> JournalWriter::Publish(Stager& stager, Durability durability,
                                            int64_t file_bytes) {
  const bool durable = durability == Durability::kMachine;
  const JournalPosition& journal = *base().journal;
  CAIRN_RETURN_IF_ERROR(BoundUnsynced());
  const CommitPoint synced = frame_.sync->durable();
  // A record that names bytes which are durable proves that the header is, too.
  const int64_t durable_end = unsynced_.OwesHeader() ? 0 : synced.end;
  const format::CommitRecordParts commit = stager.MakeCommit({.base = journal.base,
                                                              .generation = journal.generation + 1,
                                                              .previous = journal.last,
                                                              .durable_end = durable_end});
  if (!HasRoomForRecord(format::RecordSize(commit))) return false;
  const format::Receipt receipt = receipts_.ReceiptOfNext(synced.generation);
  if (durable) CAIRN_RETURN_IF_ERROR(frame_.CheckNotReplaced());
  CAIRN_ASSIGN_OR_RETURN(const uint64_t checksum, tail_.sink().AppendRecord(commit, receipt));
  if (durable || frame_.sync->TakeWasAwaited()) headroom_.WriteZerosAhead();
  CAIRN_RETURN_IF_ERROR(remains_.MarkEndIfNeeded(tail_.end()));
  const int64_t reused = tail_.sink().reused() + file_bytes;
  CAIRN_RETURN_IF_ERROR(durable ? Sync(receipt.generation) : tail_.sink().Flush());
  if (!durable) unsynced_.NoteCommit(tail_.sink().placed(), tail_.end(), synced.end, reused);
  CAIRN_RETURN_IF_ERROR(InstallCommit(stager, {.links = commit.links,
                                               .checksum = checksum,
                                               .end = tail_.end(),
                                               .receipt = receipt,
                                               .chunk_edits = commit.chunks.count(),
                                               .layer_edits = std::ssize(commit.layers),
                                               .reused = reused}));
  if (durable) CAIRN_RETURN_IF_ERROR(AfterCommit(receipts_.RenewReceipt()));
  return true;
}

// The record is in the file: the state that readers get by replaying it, this writer has at hand.
absl::Status JournalWriter::InstallCommit(Stager& stager, const CommitStep& step) {
  tail_.CommitStaged(stager.staged());
  const std::shared_ptr<State> state = stager.MakeState();
  Advance(step, *state->journal);
  CAIRN_ASSIGN_OR_RETURN(FrameView region, tail_.sink().View(base()));
  SetRegion(std::move(region), *state);
  frame_.InstallState(state);
  stager.SetBase(state);
  return absl::OkStatus();
}

}  // namespace cairn::frame
