#include "engine/frame/commit/contiguous_writer.h"

#include <algorithm>
#include <utility>

#include "engine/base/status.h"
#include "engine/format/journal.h"
#include "engine/frame/commit/live_copy.h"
#include "engine/frame/files/replacement.h"
#include "engine/frame/journal/replay.h"

namespace cairn::frame {

namespace {

// What one write moves from the old state to the new one.
constexpr int64_t kSectorSize = 512;

// A writer that goes on making small durable commits fills so much of the space ahead with zeros,
// in steps that grow: a sync that has to turn reserved blocks into written ones takes longer now
// and then. Few steps: the commit that takes one waits for it.
constexpr int kManyCommits = 16;
constexpr int64_t kLeastZeros = int64_t{256} << 10;
constexpr int64_t kMostZeros = int64_t{1} << 20;
constexpr int64_t kZerosPiece = int64_t{64} << 10;
constexpr int64_t kSmallCommit = int64_t{16} << 10;

// Bytes that are perhaps not durable are read and written again by whoever opens the frame next.
constexpr int64_t kMostUnsynced = int64_t{64} << 20;

// How many edits the journal may hold before it is folded. An eighth of the frame, so that n
// appends write O(n) bytes; not so few that the syncs of a fold show; and never so many that
// opening, which replays them, takes long.
constexpr int64_t kShortJournal = int64_t{1} << 14;
constexpr int64_t kLongJournal = int64_t{1} << 20;
// Edits all over a large frame are far slower to replay than appends.
constexpr int64_t kManyPieces = int64_t{1} << 18;

// Whether a checkpoint has to change the metalayers in the header.
bool MetalayersDiffer(const StagedState& draft) {
  const format::FrameHeader& header = draft.header;
  for (size_t i = 0; i < header.places.size(); ++i) {
    const Bytes there = format::ContentOf(header.places[i], *draft.header_bytes);
    if (!std::ranges::equal(there, draft.metadata->metalayers[i].content)) return true;
  }
  return false;
}

absl::StatusOr<AtomicFile> NewFileFor(const FrameLocation& place) {
  return place.files == nullptr ? AtomicFile::InMemory()
                                : AtomicFile::CreateBeside(place.files, place.path);
}

}  // namespace

std::unique_ptr<FrameWriter> ContiguousWriter::Make(Start start) {
  std::unique_ptr<ContiguousWriter> writer(new ContiguousWriter(std::move(start)));
  // What Confirm will have made so.
  writer->synced_end_ = CommittedEnd(*writer->base_);
  writer->synced_generation_ = writer->base_->generation();
  writer->StageAt(CommittedEnd(*writer->base_));
  return writer;
}

absl::StatusOr<std::unique_ptr<FrameWriter>> ContiguousWriter::Build(FrameLocation place,
                                                                     Start start, First first) {
  CAIRN_ASSIGN_OR_RETURN(AtomicFile file, NewFileFor(place));
  start.file = file.file();
  // Staged chunks can be read before there is a frame, so the file has to reach up to them.
  CAIRN_RETURN_IF_ERROR(start.file->WriteAt(0, start.base->checkpoint->header_bytes));
  const std::shared_ptr<const FrameContext> env = start.base->env();
  start.source = FrameFile::OfFile(start.file, 0, env->use_mmap);
  start.core = std::make_shared<FrameCore>(std::move(place), start.source, env);
  std::unique_ptr<ContiguousWriter> writer(new ContiguousWriter(std::move(start)));
  writer->first_ = first;
  writer->new_file_ = std::move(file);
  writer->StageAt(writer->base_->header().frame_size);
  return writer;
}

ContiguousWriter::~ContiguousWriter() {
  // Only where no commit went wrong is it known what the header on the disk says.
  if (usable() && !first_.has_value()) CleanUp().IgnoreError();
}

void ContiguousWriter::StageAt(int64_t position) {
  log_.emplace(
      file_.get(), source_,
      ContiguousSink::Start{.header_len = base_->header().header_len, .position = position});
  StageInto(*log_);
}

absl::Status ContiguousWriter::Restart() {
  if (first_.has_value()) {
    // A frame that is nowhere yet begins at its header again; what a snapshot reads of it stays in
    // the old file.
    CAIRN_ASSIGN_OR_RETURN(AtomicFile file, NewFileFor(core_->place()));
    CAIRN_RETURN_IF_ERROR(file.file()->WriteAt(0, base_->checkpoint->header_bytes));
    file_ = file.file();
    source_ = FrameFile::OfFile(file_, 0, core_->env()->use_mmap);
    new_file_ = std::move(file);
    shared_end_ = 0;
  } else if (log_->end() > CommittedEnd(*base_) || !stager_->failure().ok()) {
    // Readers that hopped over these chunks must not take them for those of the next commit.
    CAIRN_RETURN_IF_ERROR(CleanUp());
    ForgetRoom();
  } else {
    HoldReserve();
  }
  StageAt(std::max(CommittedEnd(*base_), shared_end_));
  return absl::OkStatus();
}

bool ContiguousWriter::FitsInPlace() const {
  const StagedState& draft = stager_->draft();
  if (draft.nbytes() == 0) return false;
  return draft.header.header_len <= kSectorSize || !MetalayersDiffer(draft);
}

// With what is staged.
bool ContiguousWriter::JournalIsLong() const {
  const StagedState& draft = stager_->draft();
  return draft.chunks.pieces() > kManyPieces ||
         base_->journal->edits + draft.chunk_edits.count() >
             std::clamp(draft.chunks.size() / 8, kShortJournal, kLongJournal);
}

// For a batch, the checkpoint that follows it, and what that one leaves.
absl::Status ContiguousWriter::ReserveRoom() {
  const StagedState& draft = stager_->draft();
  const CheckpointNeed need = NeedOf(draft, *base_);
  const int64_t end = log_->end() + format::RecordSize(stager_->MakeBatch({}));
  const int64_t kept = need.index + need.pending + NeedAfter(draft, *base_, need.index);
  const absl::Status status = room_.Extend(*file_, end, kept);
  return status.ok() ? status : Refuse(status);
}

void ContiguousWriter::ForgetRoom() {
  room_.Forget();
  zeros_end_ = 0;
}

// Readers see what they saw before: zeros behind the journal. In small pieces, for a large write
// makes page cache of which small parts are slow to sync. Where there is no room the commit will
// tell.
void ContiguousWriter::WriteZerosAhead() {
  if (log_->end() - synced_end_ > kSmallCommit || ++small_commits_ <= kManyCommits ||
      log_->end() <= zeros_end_ || core_->place().files == nullptr) {
    return;
  }
  zeros_ = std::clamp(2 * zeros_, kLeastZeros, kMostZeros);
  zeros_end_ = std::min(log_->end() + zeros_, room_.end());
  const std::vector<std::byte> zeros(static_cast<size_t>(kZerosPiece));
  // What is pending is written over them.
  for (int64_t at = log_->flushed(); at < zeros_end_; at += kZerosPiece) {
    const auto size = static_cast<size_t>(std::min(kZerosPiece, zeros_end_ - at));
    if (!file_->WriteAt(at, Bytes(zeros).first(size)).ok()) return;
  }
}

absl::Status ContiguousWriter::PublishCommit(Durability durability) {
  CAIRN_RETURN_IF_ERROR(ReserveRoom());
  if (JournalIsLong()) return Fold();
  // Whoever opens the frame reads again what is perhaps not durable.
  if (log_->end() - synced_end_ > kMostUnsynced) {
    CAIRN_RETURN_IF_ERROR(log_->Flush());
    CAIRN_RETURN_IF_ERROR(file_->Sync(SyncMode::kData));
    synced_end_ = log_->end();
    synced_generation_ = base_->generation();
  }
  const JournalPosition& journal = *base_->journal;
  const format::CommitRecordParts batch = stager_->MakeBatch({.base = journal.base,
                                                              .generation = journal.generation + 1,
                                                              .previous = journal.last,
                                                              .durable_end = synced_end_});
  if (format::RecordSize(batch) > format::kMaxRecordSize) return Fold();
  const format::Receipt receipt{.base = journal.base,
                                .generation = journal.generation + 1,
                                .boot = core_->env()->boot,
                                .durable_generation = synced_generation_};
  CAIRN_ASSIGN_OR_RETURN(const uint64_t hash, log_->AppendRecord(batch, receipt));
  if (durability == Durability::kMachine) WriteZerosAhead();
  CAIRN_RETURN_IF_ERROR(log_->Flush());
  if (durability == Durability::kMachine) {
    CAIRN_RETURN_IF_ERROR(file_->Sync(SyncMode::kData));
    CAIRN_RETURN_IF_ERROR(CheckAtPlace());
    synced_end_ = log_->end();
  }
  CAIRN_RETURN_IF_ERROR(GoOnBehind(batch, hash, receipt));
  return durability == Durability::kMachine ? MarkDurable() : absl::OkStatus();
}

// The last receipt says from now on that all is durable. A power cut may leave the old one, the new
// one or none.
absl::Status ContiguousWriter::MarkDurable() {
  const JournalPosition& journal = *base_->journal;
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
      file_->WriteAt(begin + kAt, Bytes(bytes).subspan(static_cast<size_t>(kAt)));
  // The commit is durable, whether that can be written down or not.
  return absl::IsResourceExhausted(status) ? absl::OkStatus() : status;
}

// The batch is in the file: what readers make of it by replaying it, this writer has at hand.
absl::Status ContiguousWriter::GoOnBehind(const format::CommitRecordParts& batch, uint64_t hash,
                                          const format::Receipt& receipt) {
  const std::shared_ptr<State> state = stager_->MakeState();
  Advance({.links = batch.links,
           .checksum = hash,
           .end = log_->end(),
           .receipt = receipt,
           .chunk_edits = batch.chunks.count(),
           .layer_edits = std::ssize(batch.layers)},
          *state->journal);
  CAIRN_RETURN_IF_ERROR(log_->AttachTo(*state));
  FrameWriter::Adopt(state);
  stager_->Rebase(base_);
  return absl::OkStatus();
}

absl::Status ContiguousWriter::SyncCommitted() {
  if (synced_generation_ == base_->generation()) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(file_->Sync(SyncMode::kData));
  synced_end_ = CommittedEnd(*base_);
  synced_generation_ = base_->generation();
  // What lies there may be read by a snapshot of staged edits.
  if (log_->end() > synced_end_) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(WitnessJournal());
  StageAt(CommittedEnd(*base_));
  return absl::OkStatus();
}

// For a checkpoint of so many bytes, and what it leaves: Reclaim begins with one of the same
// entries.
absl::Status ContiguousWriter::ReserveCheckpoint(int64_t size) {
  constexpr int64_t kMargin = 128;
  const int64_t kept = NeedAfter(stager_->draft(), *base_, size + kMargin);
  const absl::Status status = file_->ReservePastEnd(log_->end() + size + kept);
  return absl::IsResourceExhausted(status) ? Refuse(DiskIsFull(status, kept)) : absl::OkStatus();
}

absl::Status ContiguousWriter::CommitInPlace(std::optional<uint64_t> oldest_generation) {
  const StagedState& draft = stager_->draft();
  CheckpointPlan plan = PlanAt(log_->end(), false);
  plan.seal.oldest_generation = oldest_generation.value_or(plan.seal.oldest_generation);
  CAIRN_ASSIGN_OR_RETURN(const CheckpointBytes bytes,
                         EncodeCheckpoint(draft, plan, &core_->env()->pool));
  CAIRN_RETURN_IF_ERROR(ReserveCheckpoint(std::ssize(bytes.tail)));
  CAIRN_RETURN_IF_ERROR(file_->WriteAt(log_->end(), bytes.tail));
  CAIRN_RETURN_IF_ERROR(file_->Sync(SyncMode::kData));
  CAIRN_RETURN_IF_ERROR(CheckAtPlace());
  const int64_t flipped = MetalayersDiffer(draft) ? std::min(draft.header.header_len, kSectorSize)
                                                  : format::kFixedHeaderSize;
  CAIRN_RETURN_IF_ERROR(file_->WriteAt(0, Bytes(bytes.header).first(static_cast<size_t>(flipped))));
  CAIRN_RETURN_IF_ERROR(file_->Sync(SyncMode::kData));
  return Adopt(file_);
}

// Index, trailer and header behind the chunks of a file that has no name yet.
absl::Status ContiguousWriter::WriteWhole(File& file, const StagedState& draft,
                                          int64_t chunks_end) const {
  // The trailer of an empty frame follows its header.
  const int64_t index_begin = draft.header.nbytes == 0 ? draft.header.header_len : chunks_end;
  CAIRN_ASSIGN_OR_RETURN(const CheckpointBytes bytes,
                         EncodeCheckpoint(draft, PlanAt(index_begin, true), &core_->env()->pool));
  CAIRN_RETURN_IF_ERROR(file.WriteAt(index_begin, bytes.tail));
  return file.WriteAt(0, bytes.header);
}

// A full disk should show before anything is copied.
absl::Status ContiguousWriter::ReserveCopy(File& file) {
  const StagedState& draft = stager_->draft();
  if (!draft.stored_bytes.has_value()) return absl::OkStatus();
  const int64_t size = draft.header.header_len + *draft.stored_bytes + NeedOf(draft, *base_).index;
  const absl::Status status = file.ReservePastEnd(size);
  if (!absl::IsResourceExhausted(status)) return absl::OkStatus();
  return ResourceExhausted("%s; delete chunks and Reclaim their space, or remove other files",
                           status.message());
}

// The draft's chunks, checked, in a file of their own.
absl::StatusOr<AtomicFile> ContiguousWriter::CopyDraft(ChunkProgress progress) {
  CAIRN_ASSIGN_OR_RETURN(AtomicFile file, NewFileFor(core_->place()));
  CAIRN_RETURN_IF_ERROR(ReserveCopy(*file.file()));
  const int64_t header_len = base_->header().header_len;
  ContiguousSink log(file.file().get(), FrameFile::OfFile(file.file(), 0, false),
                     {.header_len = header_len, .position = header_len});
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<const State> view, stager_->View());
  CAIRN_ASSIGN_OR_RETURN(const StagedState draft,
                         CopyLiveChunks(*view, stager_->draft(), log, progress));
  CAIRN_RETURN_IF_ERROR(WriteWhole(*file.file(), draft, log.end()));
  return file;
}

absl::Status ContiguousWriter::CommitFirst() {
  const StagedState& draft = stager_->draft();
  if (log_->end() - draft.header.header_len == draft.stored_bytes) {
    CAIRN_RETURN_IF_ERROR(WriteWhole(*file_, draft, log_->end()));
  } else {
    // Edits left dead bytes, which a snapshot may still read.
    CAIRN_ASSIGN_OR_RETURN(AtomicFile file, CopyDraft(NeverStop));
    file_ = file.file();
    new_file_ = std::move(file);
  }
  CAIRN_RETURN_IF_ERROR(new_file_->Publish(first_->replace));
  new_file_.reset();
  return Adopt(file_);
}

// With the old file's reserve, if need be: what the record of its move needs stays.
absl::StatusOr<AtomicFile> ContiguousWriter::CopyIntoRoom(ChunkProgress progress) {
  absl::StatusOr<AtomicFile> file = CopyDraft(progress);
  if (!absl::IsResourceExhausted(file.status())) return file;
  CAIRN_RETURN_IF_ERROR(file_->Truncate(log_->end()));
  ForgetRoom();
  file_->ReservePastEnd(log_->end() + format::kMinRecordSize).IgnoreError();
  file = CopyDraft(progress);
  if (!absl::IsResourceExhausted(file.status())) return file;
  HoldReserve();
  return Refuse(file.status());
}

absl::Status ContiguousWriter::CommitToNewFile(ChunkProgress progress) {
  CAIRN_ASSIGN_OR_RETURN(AtomicFile file, CopyIntoRoom(progress));
  CAIRN_RETURN_IF_ERROR(CheckAtPlace());
  // Readers of the old file that find it look at the name each time, so it comes first: whenever
  // this process dies, they miss nothing.
  CAIRN_RETURN_IF_ERROR(file_->WriteAt(log_->end(), format::EncodeMoved()));
  CAIRN_RETURN_IF_ERROR(file.Publish(true));
  return Adopt(file.file());
}

// A new file has neither room nor journal, and is durable.
void ContiguousWriter::BeginAfterCheckpoint() {
  synced_end_ = CommittedEnd(*base_);
  synced_generation_ = base_->generation();
  shared_end_ = 0;  // the committed frame ends behind them, or lies in another file
  StageAt(CommittedEnd(*base_));
}

absl::Status ContiguousWriter::Publish() {
  const std::shared_ptr<File> before = file_;
  if (first_.has_value()) {
    CAIRN_RETURN_IF_ERROR(CommitFirst());
  } else if (FitsInPlace()) {
    CAIRN_RETURN_IF_ERROR(CommitInPlace(std::nullopt));
  } else {
    CAIRN_RETURN_IF_ERROR(CommitToNewFile(NeverStop));
  }
  if (file_ != before) ForgetRoom();
  BeginAfterCheckpoint();
  return absl::OkStatus();
}

absl::StatusOr<int64_t> ContiguousWriter::Rewrite(ChunkProgress progress) {
  CAIRN_ASSIGN_OR_RETURN(const int64_t before, file_->Size());
  CAIRN_RETURN_IF_ERROR(Finish());
  CAIRN_RETURN_IF_ERROR(CommitToNewFile(progress));
  ForgetRoom();
  BeginAfterCheckpoint();
  return before;
}

absl::Status ContiguousWriter::CleanUp() {
  const int64_t end = std::max(CommittedEnd(*base_), shared_end_);
  // Also what a writer left that could not clean up.
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, file_->Size());
  if (size > end) CAIRN_RETURN_IF_ERROR(file_->Truncate(end));
  HoldReserve();
  return absl::OkStatus();
}

void ContiguousWriter::HoldReserve() {
  if (first_.has_value()) return;
  HoldPastEnd(*file_, std::max(CommittedEnd(*base_), shared_end_),
              NeedAtRest(NeedOf(StagedState(*base_), *base_)));
}

}  // namespace cairn::frame
