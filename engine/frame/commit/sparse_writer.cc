#include "engine/frame/commit/sparse_writer.h"

#include <utility>

#include "engine/base/status.h"
#include "engine/format/index_entry.h"
#include "engine/format/seal.h"
#include "engine/format/sparse_names.h"
#include "engine/frame/commit/disk_reserve.h"
#include "engine/frame/commit/orphans.h"
#include "engine/frame/files/replacement.h"
#include "engine/frame/read/read_budget.h"
#include "engine/frame/read/stored_chunk.h"
#include "engine/frame/state/sparse_chunk_source.h"

namespace cairn::frame {

// Where a frame is made, and where it will be.
struct SparseWriter::FirstPlace {
  AtomicDirectory made;
  FrameLocation wanted;
};

std::unique_ptr<FrameWriter> SparseWriter::Make(Start start) {
  return std::unique_ptr<SparseWriter>(new SparseWriter(std::move(start)));
}

absl::StatusOr<std::unique_ptr<FrameWriter>> SparseWriter::Build(FrameLocation place, Start start,
                                                                 First first) {
  if (place.files == nullptr) {
    return InvalidArgument("a sparse frame is a directory: it cannot live in memory");
  }
  CAIRN_ASSIGN_OR_RETURN(AtomicDirectory made,
                         AtomicDirectory::CreateBeside(place.files, place.path));
  FrameLocation inside = LocationIn(made.directory(), place.files, place.path);
  start.file = made.index();
  const std::shared_ptr<const FrameContext> env = start.base->env();
  start.source = FrameFile::OfIndex(start.file, made.directory(), env->use_mmap);
  start.core = std::make_shared<FrameCore>(std::move(inside), start.source, env);
  auto base = std::make_shared<State>(*start.base);
  base->chunk_source = std::make_shared<SparseChunkSource>(made.directory(), start.file, *env);
  start.base = std::move(base);
  std::unique_ptr<SparseWriter> writer(new SparseWriter(std::move(start)));
  writer->first_ = first;
  writer->first_place_ =
      std::make_unique<FirstPlace>(FirstPlace{std::move(made), std::move(place)});
  CAIRN_RETURN_IF_ERROR(writer->Restart());
  return writer;
}

SparseWriter::~SparseWriter() {
  if (usable() && !first_.has_value()) CleanUp().IgnoreError();
}

const FrameLocation& SparseWriter::wanted() const {
  return first_place_ != nullptr ? first_place_->wanted : core_->place();
}

absl::Status SparseWriter::Restart() {
  if (files_ == nullptr) {
    if (!first_.has_value()) {
      CAIRN_ASSIGN_OR_RETURN(orphans_, RemoveOrphans(directory(), base_->chunks));
    }
    CAIRN_ASSIGN_OR_RETURN(files_, SparseSink::Make(core_->place().directory, base_->chunks));
  } else if (StagedIsRead()) {
    files_->Keep();
  } else {
    files_->Discard();
  }
  StageInto(*files_);
  HoldReserve();
  return absl::OkStatus();
}

// The space that the next index takes, and more, past the end of the one of now.
void SparseWriter::HoldReserve() {
  if (first_.has_value()) return;
  HoldPastEnd(*file_, base_->header().frame_size, NeedAtRest(NeedOf(StagedState(*base_), *base_)));
}

// A new index takes the reserve of the one of now, unless that would leave too little.
absl::Status SparseWriter::TakeReserve(File& index, const StagedState& draft) {
  const CheckpointNeed need = NeedOf(draft, *base_);
  const int64_t kept = NeedAfter(draft, *base_, 0);  // Reclaim only removes files
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, file_->Size());
  if (kept > 0) {
    const absl::Status status = file_->ReservePastEnd(size + need.index + kept);
    if (absl::IsResourceExhausted(status)) return DiskIsFull(status, kept);
  }
  CAIRN_RETURN_IF_ERROR(file_->Truncate(size));
  index.ReservePastEnd(need.index).IgnoreError();
  return absl::OkStatus();
}

absl::Status SparseWriter::WriteIndex(File& file, const StagedState& draft) const {
  const int64_t header_len = draft.header.header_len;
  CAIRN_ASSIGN_OR_RETURN(const CheckpointBytes bytes,
                         EncodeCheckpoint(draft, PlanAt(header_len, true), &core_->env()->pool));
  CAIRN_RETURN_IF_ERROR(file.WriteAt(header_len, bytes.tail));
  CAIRN_RETURN_IF_ERROR(file.WriteAt(0, bytes.header));
  return file.Sync(SyncMode::kAll);
}

absl::Status SparseWriter::CommitFirst() {
  CAIRN_RETURN_IF_ERROR(WriteIndex(*file_, stager_->draft()));
  CAIRN_RETURN_IF_ERROR(first_place_->made.Publish(first_->replace));
  first_place_.reset();
  return Adopt(file_);
}

absl::StatusOr<AtomicFile> SparseWriter::NewIndex(const StagedState& draft) {
  const FrameLocation& place = core_->place();
  CAIRN_RETURN_IF_ERROR(directory().SyncDirectoryOf(place.path));
  CAIRN_ASSIGN_OR_RETURN(AtomicFile index, AtomicFile::CreateBeside(place.files, place.path));
  CAIRN_RETURN_IF_ERROR(TakeReserve(*index.file(), draft));
  CAIRN_RETURN_IF_ERROR(WriteIndex(*index.file(), draft));
  return index;
}

absl::Status SparseWriter::ReplaceIndex(const StagedState& draft) {
  absl::StatusOr<AtomicFile> made = NewIndex(draft);
  if (absl::IsResourceExhausted(made.status())) {
    HoldReserve();
    return Refuse(made.status());
  }
  CAIRN_ASSIGN_OR_RETURN(AtomicFile index, std::move(made));
  CAIRN_RETURN_IF_ERROR(CheckAtPlace());
  CAIRN_ASSIGN_OR_RETURN(const std::string old, index.PublishBySwap());
  CAIRN_RETURN_IF_ERROR(Adopt(index.file()));
  stager_.reset();  // it reads the old state too
  if (!RemoveIfUnread(directory(), old)) orphans_.old_read = true;
  return absl::OkStatus();
}

absl::Status SparseWriter::Publish() {
  CAIRN_RETURN_IF_ERROR(files_->Sync());
  if (first_.has_value()) {
    CAIRN_RETURN_IF_ERROR(CommitFirst());
  } else {
    CAIRN_RETURN_IF_ERROR(ReplaceIndex(stager_->draft()));
  }
  CAIRN_RETURN_IF_ERROR(RecycleNumbers());
  committed_ = true;
  HoldReserve();
  StageInto(*files_);
  return absl::OkStatus();
}

// Where nobody reads an older state, the files that the new one dropped go, and their numbers can
// be used again: so they stay low, as C-Blosc2 wants them.
absl::Status SparseWriter::RecycleNumbers() {
  if (orphans_.old_read || StagedIsRead()) {
    files_->Keep();
    return absl::OkStatus();
  }
  CAIRN_RETURN_IF_ERROR(files_->RemoveUnnamed(base_->chunks));
  CAIRN_ASSIGN_OR_RETURN(files_, SparseSink::Make(core_->place().directory, base_->chunks));
  return absl::OkStatus();
}

// The committed state with a fingerprint for every chunk, each checked.
absl::StatusOr<StagedState> SparseWriter::SealAll(ChunkProgress progress) const {
  StagedState draft(*base_);
  std::vector<IndexEntry> entries;
  draft.stored_bytes = 0;
  ScratchBuffer scratch;
  ReadBudget budget(*base_);
  for (int64_t i = 0; i < base_->chunks.size(); ++i) {
    CAIRN_ASSIGN_OR_RETURN(IndexEntry entry, base_->chunks.Get(i));
    if (!format::IsSpecialEntry(entry.value)) {
      CAIRN_ASSIGN_OR_RETURN(const StoredChunk stored,
                             ReadStored(*base_, i, VerifyPolicy::kAlways, scratch));
      CAIRN_RETURN_IF_ERROR(budget.Spend(i, std::ssize(stored.bytes())));
      entry.fingerprint = format::HashChunk(stored.bytes());
      *draft.stored_bytes += static_cast<int64_t>(stored.bytes().size());
    }
    entries.push_back(entry);
    if (!progress(i + 1)) return absl::CancelledError("checking the chunks was stopped");
  }
  draft.chunks = ChunkIndex(std::move(entries));
  return draft;
}

absl::StatusOr<int64_t> SparseWriter::Rewrite(ChunkProgress progress) {
  CAIRN_ASSIGN_OR_RETURN(const StagedState draft, SealAll(progress));
  const int64_t before = base_->header().frame_size + *draft.stored_bytes + orphans_.freed;
  CAIRN_RETURN_IF_ERROR(ReplaceIndex(draft));
  committed_ = true;
  HoldReserve();
  StageInto(*files_);
  return before;
}

// Whatever nobody reads goes with each commit; what was read then may be free now.
absl::StatusOr<ReclaimReport> SparseWriter::Free(const ReclaimOptions& /*options*/) {
  if (StagedIsRead()) {
    return ReclaimReport{.blocked = true, .oldest_generation = base_->generation()};
  }
  CAIRN_ASSIGN_OR_RETURN(orphans_, RemoveOrphans(directory(), base_->chunks));
  return ReclaimReport{.freed = orphans_.freed,
                       .blocked = orphans_.old_read,
                       .oldest_generation = base_->generation()};
}

absl::Status SparseWriter::CleanUp() {
  // The snapshot's chunks are no orphans yet.
  if (StagedIsRead()) return absl::OkStatus();
  files_->Discard();
  if (!committed_) return absl::OkStatus();
  return RemoveOrphans(directory(), base_->chunks).status();
}

}  // namespace cairn::frame
