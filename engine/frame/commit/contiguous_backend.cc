#include "engine/frame/commit/contiguous_backend.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "engine/format/journal.h"
#include "engine/frame/commit/live_copy.h"

namespace cairn::frame {

namespace {

// What one write moves from the old state to the new one.
constexpr int64_t kSectorSize = 512;

// After 16 small durable commits, pre-write zeros: converting fallocated extents makes fdatasync
// several times slower. Grow geometrically, since the commit that extends pays for it.
constexpr int kManyCommits = 16;
constexpr int64_t kLeastZeros = int64_t{256} << 10;
constexpr int64_t kMostZeros = int64_t{1} << 20;
constexpr int64_t kZerosPiece = int64_t{64} << 10;
constexpr int64_t kSmallCommit = int64_t{16} << 10;

// The next writer reads and writes again the bytes that are perhaps not durable.
constexpr int64_t kMostUnsynced = int64_t{64} << 20;

// How many edits the journal may hold before a checkpoint. An eighth of the frame, so that n
// appends write O(n) bytes; not so few that the syncs of a checkpoint show; and never so many that
// opening, which replays them, takes long.
constexpr int64_t kShortJournal = int64_t{1} << 14;
constexpr int64_t kLongJournal = int64_t{1} << 20;
// Edits all over a large frame are far slower to replay than appends.
constexpr int64_t kManyPieces = int64_t{1} << 18;

// Whether a checkpoint has to change the metalayers in the header.
bool MetalayersDiffer(const StagedState& staged) {
  const format::FrameHeader& header = staged.header;
  for (size_t i = 0; i < header.places.size(); ++i) {
    const Bytes there = format::ContentOf(header.places[i], *staged.header_bytes);
    if (!std::ranges::equal(there, staged.metadata->metalayers[i].content)) return true;
  }
  return false;
}

}  // namespace

ContiguousBackend::ContiguousBackend(CommittedFrame frame, StagerOptions options)
    : CommitBackend(std::move(frame), std::move(options)) {
  BeginAfterCheckpoint();
}

void ContiguousBackend::StageAt(int64_t position) {
  sink_.emplace(frame_.file.get(), frame_.source, base().header().header_len, position);
}

absl::StatusOr<std::unique_ptr<Stager>> ContiguousBackend::Stage() {
  return std::make_unique<Stager>(frame_.state, *sink_, options_);
}

absl::Status ContiguousBackend::Restart(bool failed) {
  if (sink_->end() > CommittedEnd(base()) || failed) {
    // Readers that skipped these chunks must not take them for those of the next commit.
    CAIRN_RETURN_IF_ERROR(DropUncommitted());
    ForgetHeadroom();
  } else {
    HoldReserve();
  }
  StageAt(std::max(CommittedEnd(base()), pinned_end_));
  return absl::OkStatus();
}

absl::Status ContiguousBackend::PersistBase() {
  CAIRN_RETURN_IF_ERROR(PersistJournal());
  CAIRN_RETURN_IF_ERROR(frame_.PersistHeader());
  return WitnessJournal();
}

// What may be in the page cache alone is written once more.
absl::Status ContiguousBackend::PersistJournal() {
  constexpr int64_t kPieceSize = 1 << 20;
  if (!base().journal.has_value()) return absl::OkStatus();
  const JournalPosition& journal = *base().journal;
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, frame_.file->Size());
  if (size > journal.end) {
    CAIRN_RETURN_IF_ERROR(frame_.file->Truncate(journal.end));
    HoldReserve();  // at once: others may be waiting for space
  }
  std::vector<std::byte> piece;
  for (int64_t at = journal.durable_end; at < journal.end; at += std::ssize(piece)) {
    piece.resize(static_cast<size_t>(std::min(kPieceSize, journal.end - at)));
    CAIRN_RETURN_IF_ERROR(frame_.file->ReadAt(at, piece));
    CAIRN_RETURN_IF_ERROR(frame_.file->WriteAt(at, piece));
  }
  return absl::OkStatus();
}

// Leaves a new receipt of this boot after the journal: all its commits are durable. The last one
// may be the only trace of an acknowledged commit.
absl::Status ContiguousBackend::WitnessJournal() {
  if (!base().journal.has_value() || base().journal->empty()) return absl::OkStatus();
  const JournalPosition& journal = *base().journal;
  const format::Receipt receipt{.base = journal.base,
                                .generation = journal.generation,
                                .boot = frame_.source.BootHere(frame_.core->env()->boot),
                                .durable_generation = journal.generation};
  if (journal.receipt == receipt) return absl::OkStatus();
  std::vector<std::byte> bytes;
  format::AppendReceipt(receipt, journal.end, bytes);
  const absl::Status written = frame_.file->WriteAt(journal.end, bytes);
  // A full disk has to open, too.
  if (absl::IsResourceExhausted(written)) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(written);
  auto state = std::make_shared<State>(base());
  Extend(receipt, journal.end + format::kReceiptSize, *state->journal);
  CAIRN_ASSIGN_OR_RETURN(state->region, frame_.source.ViewMore(state->region, state->journal->end));
  frame_.Adopt(std::move(state));
  return absl::OkStatus();
}

bool ContiguousBackend::FitsInPlace(const StagedState& staged) const {
  if (staged.nbytes() == 0) return false;
  return staged.header.header_len <= kSectorSize || !MetalayersDiffer(staged);
}

// With what is staged.
bool ContiguousBackend::JournalIsLong(const StagedState& staged) const {
  return staged.chunks.pieces() > kManyPieces ||
         base().journal->edits + staged.chunk_edits.count() >
             std::clamp(staged.chunks.size() / 8, kShortJournal, kLongJournal);
}

// For a commit, the checkpoint that follows it, and what that one leaves.
absl::Status ContiguousBackend::ReserveHeadroom(const Stager& stager) {
  const StagedState& staged = stager.staged();
  const CheckpointNeed need = NeedOf(staged, base());
  const int64_t end = sink_->end() + format::RecordSize(stager.MakeCommit({}));
  const int64_t kept = need.index + need.pending + NeedAfter(staged, base(), need.index);
  return Refuse(headroom_.Extend(*frame_.file, end, kept));
}

void ContiguousBackend::ForgetHeadroom() {
  headroom_.Forget();
  zeros_end_ = 0;
}

// Readers see what they saw before: zeros after the journal. In small pieces, for a large write
// makes page cache of which small parts are slow to sync. On a full disk the commit itself fails.
void ContiguousBackend::WriteZerosAhead() {
  if (sink_->end() - synced_end_ > kSmallCommit || ++small_commits_ <= kManyCommits ||
      sink_->end() <= zeros_end_ || headroom_.end() <= sink_->end()) {
    return;
  }
  zeros_ = std::clamp(2 * zeros_, kLeastZeros, kMostZeros);
  zeros_end_ = std::min(sink_->end() + zeros_, headroom_.end());
  const std::vector<std::byte> zeros(static_cast<size_t>(kZerosPiece));
  // What is pending is written over them.
  for (int64_t at = sink_->flushed(); at < zeros_end_; at += kZerosPiece) {
    const auto size = static_cast<size_t>(std::min(kZerosPiece, zeros_end_ - at));
    if (!frame_.file->WriteAt(at, Bytes(zeros).first(size)).ok()) return;
  }
}

absl::Status ContiguousBackend::SyncStaged() {
  CAIRN_RETURN_IF_ERROR(sink_->Flush());
  CAIRN_RETURN_IF_ERROR(frame_.file->Sync(SyncMode::kData));
  synced_end_ = sink_->end();
  return absl::OkStatus();
}

absl::Status ContiguousBackend::PublishCommit(Stager& stager, Durability durability) {
  const bool durable = durability == Durability::kMachine;
  CAIRN_RETURN_IF_ERROR(ReserveHeadroom(stager));
  if (JournalIsLong(stager.staged())) return WriteCheckpoint(stager);
  // The next writer reads again what is perhaps not durable.
  if (sink_->end() - synced_end_ > kMostUnsynced) {
    CAIRN_RETURN_IF_ERROR(SyncStaged());
    synced_generation_ = base().generation();
  }
  const JournalPosition& journal = *base().journal;
  const format::CommitRecordParts commit = stager.MakeCommit({.base = journal.base,
                                                              .generation = journal.generation + 1,
                                                              .previous = journal.last,
                                                              .durable_end = synced_end_});
  if (format::RecordSize(commit) > format::kMaxRecordSize) return WriteCheckpoint(stager);
  const format::Receipt receipt{.base = journal.base,
                                .generation = journal.generation + 1,
                                .boot = frame_.source.BootHere(frame_.core->env()->boot),
                                .durable_generation = synced_generation_};
  CAIRN_ASSIGN_OR_RETURN(const uint64_t checksum, sink_->AppendRecord(commit, receipt));
  if (durable) WriteZerosAhead();
  CAIRN_RETURN_IF_ERROR(durable ? SyncStaged() : sink_->Flush());
  if (durable) CAIRN_RETURN_IF_ERROR(frame_.CheckNotReplaced());
  CAIRN_RETURN_IF_ERROR(AdoptCommit(stager, {.links = commit.links,
                                             .checksum = checksum,
                                             .end = sink_->end(),
                                             .receipt = receipt,
                                             .chunk_edits = commit.chunks.count(),
                                             .layer_edits = std::ssize(commit.layers)}));
  return durable ? MarkDurable() : absl::OkStatus();
}

// The record is in the file: the state that readers get by replaying it, this writer has at hand.
absl::Status ContiguousBackend::AdoptCommit(Stager& stager, const CommitStep& step) {
  const std::shared_ptr<State> state = stager.MakeState();
  Advance(step, *state->journal);
  CAIRN_ASSIGN_OR_RETURN(state->region, sink_->View(base()));
  state->chunks_end = state->region.size();
  SetContiguousSource(*state);
  frame_.Adopt(state);
  stager.Rebase(state);
  return absl::OkStatus();
}

// The last receipt says from now on that all is durable. A power cut may leave the old one, the new
// one or none.
absl::Status ContiguousBackend::MarkDurable() {
  const JournalPosition& journal = *base().journal;
  synced_generation_ = journal.generation;
  if (!journal.receipt.has_value()) return absl::OkStatus();
  format::Receipt receipt = *journal.receipt;
  receipt.durable_generation = journal.generation;
  const int64_t begin = journal.end - format::kReceiptSize;
  std::vector<std::byte> bytes;
  format::AppendReceipt(receipt, begin, bytes);
  // All before is the same.
  constexpr int64_t kAt = format::kReceiptDurableAt;
  const absl::Status status =
      frame_.file->WriteAt(begin + kAt, Bytes(bytes).subspan(static_cast<size_t>(kAt)));
  // The commit is durable, whether that can be recorded or not.
  return absl::IsResourceExhausted(status) ? absl::OkStatus() : status;
}

absl::Status ContiguousBackend::SyncCommitted() {
  if (synced_generation_ == base().generation()) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(frame_.file->Sync(SyncMode::kData));
  synced_end_ = CommittedEnd(base());
  synced_generation_ = base().generation();
  // A snapshot of staged edits may read what lies there.
  if (sink_->end() > synced_end_) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(WitnessJournal());
  StageAt(CommittedEnd(base()));
  return absl::OkStatus();
}

// For a checkpoint of `size` bytes, and what it leaves: Reclaim begins with one of the same
// entries.
absl::Status ContiguousBackend::ReserveCheckpoint(const StagedState& staged, int64_t size) {
  constexpr int64_t kMargin = 128;
  const int64_t kept = NeedAfter(staged, base(), size + kMargin);
  const absl::Status status = frame_.file->ReservePastEnd(sink_->end() + size + kept);
  return absl::IsResourceExhausted(status) ? Refuse(DiskIsFull(status, kept)) : absl::OkStatus();
}

absl::Status ContiguousBackend::CommitInPlace(const StagedState& staged,
                                              std::optional<uint64_t> oldest_generation) {
  CheckpointPlan plan = frame_.PlanCheckpoint(sink_->end(), false);
  plan.seal.oldest_generation = oldest_generation.value_or(plan.seal.oldest_generation);
  CAIRN_ASSIGN_OR_RETURN(const CheckpointBytes bytes, EncodeCheckpoint(staged, plan));
  CAIRN_RETURN_IF_ERROR(ReserveCheckpoint(staged, std::ssize(bytes.tail)));
  CAIRN_RETURN_IF_ERROR(frame_.file->WriteAt(sink_->end(), bytes.tail));
  CAIRN_RETURN_IF_ERROR(frame_.file->Sync(SyncMode::kData));
  CAIRN_RETURN_IF_ERROR(frame_.CheckNotReplaced());
  const int64_t flipped = MetalayersDiffer(staged) ? std::min(staged.header.header_len, kSectorSize)
                                                   : format::kFixedHeaderSize;
  CAIRN_RETURN_IF_ERROR(
      frame_.file->WriteAt(0, Bytes(bytes.header).first(static_cast<size_t>(flipped))));
  CAIRN_RETURN_IF_ERROR(frame_.file->Sync(SyncMode::kData));
  CAIRN_RETURN_IF_ERROR(frame_.Reload());
  BeginAfterCheckpoint();
  return absl::OkStatus();
}

// With the old file's reserve, if need be: what the record of its move needs stays.
absl::StatusOr<AtomicFile> ContiguousBackend::CopyWithReserve(Stager& stager,
                                                              ChunkProgress progress) {
  absl::StatusOr<AtomicFile> file = CopyContiguous(frame_, stager, progress);
  if (!absl::IsResourceExhausted(file.status())) return file;
  CAIRN_RETURN_IF_ERROR(frame_.file->Truncate(sink_->end()));
  ForgetHeadroom();
  frame_.file->ReservePastEnd(sink_->end() + format::kMinRecordSize).IgnoreError();
  file = CopyContiguous(frame_, stager, progress);
  if (!absl::IsResourceExhausted(file.status())) return file;
  HoldReserve();
  return Refuse(file.status());
}

absl::Status ContiguousBackend::CommitToNewFile(Stager& stager, ChunkProgress progress) {
  CAIRN_ASSIGN_OR_RETURN(AtomicFile file, CopyWithReserve(stager, progress));
  CAIRN_RETURN_IF_ERROR(frame_.CheckNotReplaced());
  // Readers of the old file that find this record poll the name, so it comes first: whenever this
  // process dies, they miss nothing.
  CAIRN_RETURN_IF_ERROR(frame_.file->WriteAt(sink_->end(), format::EncodeReplaced()));
  CAIRN_RETURN_IF_ERROR(file.Publish(true));
  CAIRN_RETURN_IF_ERROR(frame_.Adopt(file.file()));
  ForgetHeadroom();
  BeginAfterCheckpoint();
  return absl::OkStatus();
}

// A new file has neither headroom nor journal, and is durable.
void ContiguousBackend::BeginAfterCheckpoint() {
  synced_end_ = CommittedEnd(base());
  synced_generation_ = base().generation();
  pinned_end_ = 0;  // the committed frame ends after them, or lies in another file
  StageAt(CommittedEnd(base()));
}

absl::Status ContiguousBackend::WriteCheckpoint(Stager& stager) {
  CAIRN_RETURN_IF_ERROR(Finish(stager));
  return FitsInPlace(stager.staged()) ? CommitInPlace(stager.staged(), std::nullopt)
                                      : CommitToNewFile(stager, NeverStop);
}

absl::StatusOr<int64_t> ContiguousBackend::Rewrite(ChunkProgress progress) {
  CAIRN_ASSIGN_OR_RETURN(const int64_t before, frame_.file->Size());
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<Stager> stager, Stage());
  CAIRN_RETURN_IF_ERROR(Finish(*stager));
  CAIRN_RETURN_IF_ERROR(CommitToNewFile(*stager, progress));
  return before;
}

absl::Status ContiguousBackend::DropUncommitted() {
  const int64_t end = std::max(CommittedEnd(base()), pinned_end_);
  // Also what a writer left that could not clean up.
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, frame_.file->Size());
  if (size > end) CAIRN_RETURN_IF_ERROR(frame_.file->Truncate(end));
  HoldReserve();
  return absl::OkStatus();
}

void ContiguousBackend::HoldReserve() {
  HoldAtRest(base(), *frame_.file, std::max(CommittedEnd(base()), pinned_end_));
}

}  // namespace cairn::frame
