#include "engine/frame/layout/sparse_backend.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "engine/format/journal.h"
#include "engine/format/sparse_names.h"
#include "engine/frame/checkpoint/live_copy.h"
#include "engine/frame/files/frame_locks.h"
#include "engine/frame/open/state_loader.h"

namespace cairn::frame {

namespace {

// The most files that may stay without a sync. A durable commit or the next writer would sync them.
constexpr int64_t kMostUnsyncedFiles = 4096;

// A checkpoint is due when the files have more dead bytes than this, and more than half of the live
// bytes. Only older commits need dead bytes.
constexpr int64_t kLeastDead = int64_t{4} << 20;

// The most files that one commit removes.
constexpr int64_t kMostRemoved = 256;

// Returns true if a chunk file is missing or is not a file, which damages its chunk alone.
bool IsDamage(const absl::Status& status) {
  return absl::IsNotFound(status) || absl::IsFailedPrecondition(status) || absl::IsDataLoss(status);
}

// Writes the chunk files again that may be in the page cache alone, and syncs them. A missing file
// stays damage of its chunk.
absl::Status PersistFiles(FileSystem& directory,
                          const std::vector<JournalFootprint::Placed>& journaled,
                          int64_t durable_end) {
  std::vector<std::byte> bytes;
  std::vector<ChunkFile> written;
  for (const JournalFootprint::Placed& chunk : journaled) {
    if (chunk.record_end <= durable_end) continue;
    const auto file =
        directory.Open(format::ChunkFileName(chunk.bytes.begin), FileMode::kReadWrite);
    if (IsDamage(file.status())) continue;
    CAIRN_RETURN_IF_ERROR(file.status());
    CAIRN_ASSIGN_OR_RETURN(const int64_t size, (*file)->Size());
    bytes.resize(static_cast<size_t>(std::min(chunk.bytes.size(), size)));
    CAIRN_ASSIGN_OR_RETURN(const size_t got, (*file)->ReadSome(0, bytes));
    CAIRN_RETURN_IF_ERROR((*file)->WriteAt(0, Bytes(bytes).first(got)));
    written.push_back({.number = chunk.bytes.begin, .size = chunk.bytes.size()});
  }
  return SyncChunkFiles(directory, written);
}

// Reserves what the frame needs at rest, as far as the disk has it.
void HoldReserve(const CommittedFrame& frame, ReplacedIndexes& old) {
  const auto hold = [&] {
    return HoldAtRest(*frame.state, *frame.file, CommittedEnd(*frame.state), true);
  };
  if (hold().ok()) return;
  old.CutReserves();
  hold().IgnoreError();
}

// Returns the bytes that the next index needs. The chunk of the pending items comes before it.
int64_t NeedForIndex(const StagedState& staged, const State& base) {
  const CheckpointNeed need = NeedOf(staged, base);
  return need.index + need.last_blocks + format::kMinRecordSize;
}

}  // namespace

SparseBackend::SparseBackend(CommittedFrame frame, StagerOptions options,
                             std::unique_ptr<SparseSink> sink,
                             std::vector<JournalFootprint::Placed> journaled)
    : CommitBackend(std::move(frame), std::move(options)),
      journal_(frame_, FrameSpace(), {}),
      journaled_(std::move(journaled)),
      sink_(std::move(sink)),
      old_(frame_.location().files, frame_.core->env()),
      files_(std::make_shared<ChunkFileSync>(frame_.location())),
      published_(sink_ != nullptr) {
  frame_.sync->SetNamedSync([files = files_] { return files->Sync(); });
}

// Removes each file that neither a committed state nor a reader needs. Returns the files of the
// newest checkpoint and of every commit after it, in ascending order.
absl::StatusOr<std::vector<int64_t>> SparseBackend::Sweep() {
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::string> names, frame_.location().files->List("."));
  CAIRN_ASSIGN_OR_RETURN(std::vector<int64_t> named,
                         FilesSeenIn(frame_.source, base(), journaled_, names.size()));
  old_.Sweep(names, named);
  return named;
}

// Makes a sink that gives staged chunks numbers which no file has.
void SparseBackend::StageBeside(std::vector<int64_t> named) {
  std::vector<int64_t> others = old_.Files(named);
  sink_ =
      std::make_unique<SparseSink>(frame_.location().files, std::move(named), std::move(others));
  // A commit that grows the frame is refused where it leaves too little. One that makes it smaller
  // may have to encode the pending items first.
  sink_->TakeReserve([this] { return KeepOfReserve(NeedForIndex(StagedState(base()), base())); });
}

absl::Status SparseBackend::Restart(bool /*failed*/) {
  if (sink_ == nullptr) {
    CAIRN_ASSIGN_OR_RETURN(std::vector<int64_t> named, Sweep());
    StageBeside(std::move(named));
  } else {
    sink_->Discard();
  }
  journal_.tail().StageAt(CommittedEnd(base()));
  HoldReserve(frame_, old_);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Stager>> SparseBackend::Stage() {
  if (std::exchange(published_, false)) CAIRN_RETURN_IF_ERROR(FinishReplacement());
  SetLimit();
  return std::make_unique<Stager>(frame_.state, *sink_, options_);
}

absl::Status SparseBackend::PersistBase() {
  CAIRN_RETURN_IF_ERROR(
      PersistFiles(*frame_.location().files, journaled_, base().journal->durable_end));
  CAIRN_RETURN_IF_ERROR(journal_.Persist());
  CAIRN_RETURN_IF_ERROR(frame_.PersistHeader());
  return journal_.receipts().WriteReceipt();
}

// Syncs the chunk files, because another writer may remove files that its state does not need.
absl::Status SparseBackend::Suspend() {
  CAIRN_RETURN_IF_ERROR(frame_.sync->SyncNamed());
  CAIRN_RETURN_IF_ERROR(journal_.receipts().WriteReceiptOfSyncs());
  return CommitBackend::Suspend();
}

// Continues if no other writer has committed anything. One that has only looked may have removed
// files that no state needs, and nothing here relies on those.
absl::StatusOr<bool> SparseBackend::Resume(const WriterOptions& options) {
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<File> peer_lock, TakePeerLock(frame_.location(), options));
  const StatePtr before = frame_.state;
  CAIRN_ASSIGN_OR_RETURN(const bool follows, journal_.CatchUp());
  if (!follows || frame_.state != before || !journal_.receipts().IsDurable()) return false;
  CAIRN_RETURN_IF_ERROR(journal_.Resume());
  frame_.peer_lock = std::move(peer_lock);
  return true;
}

// Returns the bytes of chunk files that the newest state does not need, but recovery may.
int64_t SparseBackend::DeadFileBytes() const {
  const Checkpoint& checkpoint = *base().checkpoint;
  if (!checkpoint.seal_holds || !base().stored_bytes.has_value()) return 0;
  const std::optional<int64_t> stored =
      BelievedBytes(checkpoint.header.cbytes - std::max<int64_t>(checkpoint.seal->dead_bytes, 0));
  if (!stored.has_value()) return 0;
  return std::max<int64_t>(base().journal->reused - (*base().stored_bytes - *stored), 0);
}

// Returns the bytes of all chunk files, including those that the newest state does not need.
int64_t SparseBackend::FileBytes() const {
  return base().stored_bytes.value_or(0) + DeadFileBytes();
}

void SparseBackend::SetLimit() {
  sink_->SetLimit(frame_.limit, FileBytes() + CommittedEnd(base()));
}

bool SparseBackend::IsWorthClosing(const Stager& stager) const {
  return journal_.IsWorthClosing(stager, sink_->staged_bytes());
}

absl::Status SparseBackend::MakeRoom(const Stager& stager) {
  old_.ReleaseSome(kMostRemoved, sink_->named());
  const int64_t other_bytes = FileBytes() + sink_->staged_bytes();
  CAIRN_RETURN_IF_ERROR(journal_.headroom().CheckLimit(stager, other_bytes));
  CAIRN_RETURN_IF_ERROR(journal_.headroom().Reserve(stager, other_bytes));
  return journal_.HoldRecord(stager);
}

absl::Status SparseBackend::PrepareCommit(Stager& stager, Durability /*durability*/) {
  CAIRN_RETURN_IF_ERROR(MakeRoom(stager));
  if (!journal_.HasRoomForCommit(stager)) {
    return Refuse(Unimplemented("a commit that needs a new index cannot be prepared"));
  }
  return absl::OkStatus();
}

absl::Status SparseBackend::PublishCommit(Stager& stager, Durability durability) {
  const absl::Status room = MakeRoom(stager);
  // There may be room for an index where there is none for a record and an index.
  if (absl::IsResourceExhausted(room) && !Grows(stager.staged(), base())) {
    return WriteCheckpoint(stager, Follows::kCommits);
  }
  CAIRN_RETURN_IF_ERROR(room);
  const int64_t most_dead = std::max(kLeastDead, base().stored_bytes.value_or(0) / 2);
  if (journal_.IsLong(stager.staged()) || DeadFileBytes() > most_dead) {
    return WriteCheckpoint(stager, Follows::kCommits);
  }
  return PublishPrepared(stager, durability);
}

absl::Status SparseBackend::PublishPrepared(Stager& stager, Durability durability) {
  const bool durable = durability == Durability::kMachine;
  const int64_t file_bytes = sink_->staged_bytes();
  // The files must be known before the commit is, so that a thread which syncs it syncs them too.
  files_->Add(sink_->staged());
  const bool many =
      files_->count() > kMostUnsyncedFiles || journal_.UnsyncedBytes() + file_bytes > kMostUnsynced;
  if (durable) {
    CAIRN_RETURN_IF_ERROR(frame_.sync->SyncNamed());
  } else if (many) {
    CAIRN_RETURN_IF_ERROR(journal_.Sync(base().generation()));
  }
  CAIRN_ASSIGN_OR_RETURN(const bool published, journal_.Publish(stager, durability, file_bytes));
  if (!published) return WriteCheckpoint(stager, Follows::kCommits);
  for (const ChunkFile& file : sink_->staged()) {
    journaled_.push_back(
        {.bytes = {file.number, file.number + file.size}, .record_end = base().journal->end});
  }
  sink_->Keep();
  SetLimit();
  return absl::OkStatus();
}

// Leaves `size` bytes of the reserve past the end of the present index.
absl::Status SparseBackend::KeepOfReserve(int64_t size) {
  const int64_t end = CommittedEnd(base());
  CAIRN_RETURN_IF_ERROR(frame_.file->Truncate(end));
  journal_.headroom().Forget();
  frame_.file->Allocate(end, size).IgnoreError();
  return absl::OkStatus();
}

// Finds space on the disk for a new index. Cutting off the reserve of the present one takes as long
// as a small checkpoint, so the new index gets that only after a journal, which is cut off too, or
// if the disk has no other space. Refused if that would leave too little.
absl::Status SparseBackend::TakeReserve(File& index, const StagedState& staged) {
  const CheckpointNeed need = NeedOf(staged, base());
  const int64_t kept = NeedAfter(staged, base(), 0, true);  // Reclaim only removes files
  const int64_t end = CommittedEnd(base());
  const bool has_journal = frame_.file->Size().value_or(INT64_MAX) > end;
  if (!has_journal && frame_.file->Allocate(end, kept).ok() && index.Allocate(0, need.index).ok()) {
    return absl::OkStatus();
  }
  if (kept > 0) {
    const absl::Status status = frame_.file->Allocate(end, need.index + kept);
    if (absl::IsResourceExhausted(status)) return DiskIsFull(status, kept);
  }
  // The record that ends the journal needs this.
  CAIRN_RETURN_IF_ERROR(KeepOfReserve(format::kMinRecordSize));
  index.Allocate(0, need.index).IgnoreError();
  return absl::OkStatus();
}

absl::StatusOr<AtomicFile> SparseBackend::NewIndex(const StagedState& staged) {
  const FrameLocation& location = frame_.location();
  CAIRN_ASSIGN_OR_RETURN(AtomicFile index, AtomicFile::CreateBeside(location.files, location.path));
  CAIRN_RETURN_IF_ERROR(TakeReserve(*index.file(), staged));
  CAIRN_RETURN_IF_ERROR(StoreCheckpoint(*index.file(), staged,
                                        frame_.PlanCheckpoint(staged.header.header_len, true)));
  CAIRN_RETURN_IF_ERROR(index.Persist());
  return index;
}

absl::Status SparseBackend::ReplaceIndex(const StagedState& staged) {
  files_->Add(sink_->staged());
  CAIRN_RETURN_IF_ERROR(frame_.sync->SyncNamed());
  absl::StatusOr<AtomicFile> made = NewIndex(staged);
  if (absl::IsResourceExhausted(made.status())) {
    HoldReserve(frame_, old_);
    return Refuse(made.status());
  }
  CAIRN_ASSIGN_OR_RETURN(AtomicFile index, std::move(made));
  CAIRN_RETURN_IF_ERROR(frame_.CheckNotReplaced());
  // Readers that find this record look for the new index at once, and otherwise a second later. So
  // the record may be missing if the disk is full.
  const absl::Status replaced =
      frame_.file->WriteAt(CommittedEnd(base()), format::EncodeReplaced());
  if (!absl::IsResourceExhausted(replaced)) CAIRN_RETURN_IF_ERROR(replaced);
  CAIRN_ASSIGN_OR_RETURN(old_index_, index.PublishBySwap());
  CAIRN_RETURN_IF_ERROR(frame_.InstallFile(index.file()));
  journal_.BeginAfterCheckpoint(FrameSpace(), 0);
  journaled_.clear();
  published_ = true;
  return absl::OkStatus();
}

// Releases the old index and its files, since no stager of this writer reads the old state.
absl::Status SparseBackend::FinishReplacement() {
  // A snapshot of the edits that were staged for a new frame may read files that the frame itself
  // does not need.
  if (old_index_.empty() && sink_->IsPinned()) {
    sink_->Keep();
    HoldReserve(frame_, old_);
    return absl::OkStatus();
  }
  CAIRN_ASSIGN_OR_RETURN(std::vector<int64_t> named, FileNumbersIn(base().chunks, SIZE_MAX));
  old_.Add(std::exchange(old_index_, {}), sink_->Files(), named);
  if (old_.needs_sweep()) CAIRN_RETURN_IF_ERROR(Sweep().status());
  old_.ReleaseSome(kMostRemoved, named);
  StageBeside(std::move(named));
  HoldReserve(frame_, old_);
  return absl::OkStatus();
}

absl::Status SparseBackend::WriteCheckpoint(Stager& stager, Follows /*follows*/) {
  const StagedState& staged = stager.staged();
  CAIRN_RETURN_IF_ERROR(
      journal_.headroom().CheckLimit(stager, FileBytes() + sink_->staged_bytes()));
  sink_->SetLimit({}, 0);
  // The chunk of the pending items needs a part of the reserve.
  if (!staged.partial.empty()) {
    CAIRN_RETURN_IF_ERROR(KeepOfReserve(NeedForIndex(staged, base())));
  }
  CAIRN_RETURN_IF_ERROR(Finish(stager));
  return ReplaceIndex(staged);
}

absl::StatusOr<int64_t> SparseBackend::Rewrite(std::unique_ptr<LiveCopy> /*begun*/,
                                               ChunkProgress progress) {
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<Stager> stager, Stage());
  CAIRN_RETURN_IF_ERROR(Finish(*stager));
  CAIRN_ASSIGN_OR_RETURN(const StatePtr view, stager->View());
  CAIRN_ASSIGN_OR_RETURN(
      const StagedState staged,
      SealChunks(
          *view, stager->staged(), [](int64_t entry, Bytes) { return entry; }, progress));
  const int64_t before =
      CommittedEnd(base()) + *staged.stored_bytes + DeadFileBytes() + old_.freed();
  CAIRN_RETURN_IF_ERROR(ReplaceIndex(staged));
  return before;
}

// Writes a checkpoint if there is a journal, and sweeps: files that were read during an earlier
// checkpoint may be free now.
absl::StatusOr<ReclaimReport> SparseBackend::ReclaimSpace(const ReclaimOptions& /*options*/) {
  ReclaimReport report{.blocked = true, .oldest_generation = base().generation()};
  if (sink_->IsPinned()) return report;
  const int64_t freed_before = old_.freed();
  if (!base().journal->empty()) {
    CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<Stager> stager, Stage());
    CAIRN_RETURN_IF_ERROR(WriteCheckpoint(*stager, Follows::kCommits));
    stager.reset();
    published_ = false;
    CAIRN_RETURN_IF_ERROR(FinishReplacement());
    report.oldest_generation = base().generation();
  }
  CAIRN_RETURN_IF_ERROR(Sweep().status());
  HoldReserve(frame_, old_);
  report.freed = old_.freed() - freed_before;
  report.blocked = old_.is_read();
  return report;
}

absl::Status SparseBackend::DropUncommitted() {
  // A snapshot still reads its staged chunks, so they are not orphans.
  if (sink_->IsPinned()) return absl::OkStatus();
  sink_->Discard();
  CAIRN_RETURN_IF_ERROR(journal_.remains().CutAt(CommittedEnd(base())));
  old_.Release(sink_->named());
  const absl::Status swept = old_.needs_sweep() ? Sweep().status() : absl::OkStatus();
  HoldReserve(frame_, old_);
  return swept;
}

}  // namespace cairn::frame
