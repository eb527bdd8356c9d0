#include "engine/frame/commit/journal_writer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "engine/format/journal.h"

namespace cairn::frame {

namespace {

// After 16 small durable commits, pre-write zeros: converting fallocated extents makes fdatasync
// several times slower. Grow geometrically, since the commit that extends pays for it.
constexpr int kManyCommits = 16;
constexpr int64_t kLeastZeros = int64_t{256} << 10;
constexpr int64_t kMostZeros = int64_t{1} << 20;
constexpr int64_t kZerosPiece = int64_t{64} << 10;
constexpr int64_t kSmallCommit = int64_t{16} << 10;

// How many edits the journal may hold before a checkpoint. An eighth of the frame, so that n
// appends write O(n) bytes; not so few that the syncs of a checkpoint show; and never so many that
// opening, which replays them, takes long.
constexpr int64_t kShortJournal = int64_t{1} << 14;
constexpr int64_t kLongJournal = int64_t{1} << 20;
// Edits all over a large frame are far slower to replay than appends.
constexpr int64_t kManyPieces = int64_t{1} << 18;

}  // namespace

void JournalWriter::StageAt(int64_t position) {
  sink_.emplace(frame_.file.get(), frame_.source, base().header().header_len, position);
}

void JournalWriter::BeginAfterCheckpoint() {
  synced_end_ = CommittedEnd(base());
  synced_generation_ = base().generation();
  StageAt(CommittedEnd(base()));
}

void JournalWriter::ForgetHeadroom() {
  headroom_.Forget();
  zeros_end_ = 0;
}

absl::Status JournalWriter::Persist() {
  constexpr int64_t kPieceSize = 1 << 20;
  if (!base().journal.has_value()) return absl::OkStatus();
  const JournalPosition& journal = *base().journal;
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, frame_.file->Size());
  if (size > journal.end) {
    CAIRN_RETURN_IF_ERROR(frame_.file->Truncate(journal.end));
    HoldAtRest(base(), *frame_.file, journal.end);  // at once: others may be waiting for space
  }
  std::vector<std::byte> piece;
  for (int64_t at = journal.durable_end; at < journal.end; at += std::ssize(piece)) {
    piece.resize(static_cast<size_t>(std::min(kPieceSize, journal.end - at)));
    CAIRN_RETURN_IF_ERROR(frame_.file->ReadAt(at, piece));
    CAIRN_RETURN_IF_ERROR(frame_.file->WriteAt(at, piece));
  }
  return absl::OkStatus();
}

absl::Status JournalWriter::Witness() {
  if (!base().journal.has_value() || base().journal->empty()) return absl::OkStatus();
  const JournalPosition& journal = *base().journal;
  const format::Receipt receipt{.base = journal.base,
                                .generation = journal.generation,
                                .boot = frame_.core->env()->boot,
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

bool JournalWriter::IsLong(const StagedState& staged) const {
  return staged.chunks.pieces() > kManyPieces ||
         base().journal->edits + staged.chunk_edits.count() >
             std::clamp(staged.chunks.size() / 8, kShortJournal, kLongJournal);
}

absl::Status JournalWriter::Reserve(const Stager& stager) {
  const StagedState& staged = stager.staged();
  const CheckpointNeed need = NeedOf(staged, base());
  const int64_t end = sink_->end() + format::RecordSize(stager.MakeCommit({}));
  const int64_t kept = need.index + need.pending + NeedAfter(staged, base(), need.index);
  return Refuse(headroom_.Extend(*frame_.file, end, kept));
}

// Readers see what they saw before: zeros after the journal. In small pieces, for a large write
// makes page cache of which small parts are slow to sync. On a full disk the commit itself fails.
void JournalWriter::WriteZerosAhead() {
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

absl::Status JournalWriter::Sync() {
  CAIRN_RETURN_IF_ERROR(sink_->Flush());
  CAIRN_RETURN_IF_ERROR(frame_.file->Sync(SyncMode::kData));
  synced_end_ = sink_->end();
  synced_generation_ = base().generation();
  return absl::OkStatus();
}

absl::StatusOr<bool> JournalWriter::Publish(Stager& stager, Durability durability,
                                            std::span<const ChunkFile> files) {
  const bool durable = durability == Durability::kMachine;
  const JournalPosition& journal = *base().journal;
  const format::CommitRecordParts commit = stager.MakeCommit({.base = journal.base,
                                                              .generation = journal.generation + 1,
                                                              .previous = journal.last,
                                                              .durable_end = synced_end_});
  if (format::RecordSize(commit) > format::kMaxRecordSize) return false;
  const format::Receipt receipt{.base = journal.base,
                                .generation = journal.generation + 1,
                                .boot = frame_.core->env()->boot,
                                .durable_generation = synced_generation_};
  CAIRN_ASSIGN_OR_RETURN(const uint64_t checksum, sink_->AppendRecord(commit, receipt));
  if (durable) WriteZerosAhead();
  CAIRN_RETURN_IF_ERROR(durable ? Sync() : sink_->Flush());
  if (durable) CAIRN_RETURN_IF_ERROR(frame_.CheckNotReplaced());
  const CommitStep step = {.links = commit.links,
                           .checksum = checksum,
                           .end = sink_->end(),
                           .receipt = receipt,
                           .chunk_edits = commit.chunks.count(),
                           .layer_edits = std::ssize(commit.layers)};
  CAIRN_RETURN_IF_ERROR(Adopt(stager, step, files));
  if (durable) CAIRN_RETURN_IF_ERROR(MarkDurable());
  return true;
}

// The record is in the file: the state that readers get by replaying it, this writer has at hand.
absl::Status JournalWriter::Adopt(Stager& stager, const CommitStep& step,
                                  std::span<const ChunkFile> files) {
  const std::shared_ptr<State> state = stager.MakeState();
  Advance(step, *state->journal);
  for (const ChunkFile& file : files) state->journal->AddFile(file);
  CAIRN_ASSIGN_OR_RETURN(FrameView region, sink_->View(base()));
  SetRegion(std::move(region), *state);
  frame_.Adopt(state);
  stager.Rebase(state);
  return absl::OkStatus();
}

// The last receipt says from now on that all is durable. A power cut may leave the old one, the new
// one or none.
absl::Status JournalWriter::MarkDurable() {
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

absl::Status JournalWriter::SyncCommitted() {
  if (synced_generation_ == base().generation()) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(frame_.file->Sync(SyncMode::kData));
  synced_end_ = CommittedEnd(base());
  synced_generation_ = base().generation();
  // A snapshot of staged edits may read what lies there.
  if (sink_->end() > synced_end_) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(Witness());
  StageAt(CommittedEnd(base()));
  return absl::OkStatus();
}

}  // namespace cairn::frame
