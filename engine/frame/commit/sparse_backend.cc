#include "engine/frame/commit/sparse_backend.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "engine/format/sparse_names.h"
#include "engine/frame/commit/live_copy.h"
#include "engine/frame/files/frame_locks.h"

namespace cairn::frame {

namespace {

int64_t SizeOf(FileSystem& directory, const std::string& name) {
  const auto file = directory.Open(name, FileMode::kRead);
  return file.ok() ? (*file)->Size().value_or(0) : 0;
}

bool IsRead(FileSystem& directory, const std::string& name) {
  const auto file = directory.Open(name, FileMode::kReadWrite);
  // What cannot be asked may be read.
  if (!file.ok()) return !absl::IsNotFound(file.status());
  return !(*file)->LockByte(kReaderLockByte, LockMode::kExclusive).ok();
}

// Removes index files that are not read, and then, when none is left but the current one, chunk
// files that `named` does not name. Only the holder of the writer's lock may call it.
absl::StatusOr<OrphanReport> RemoveOrphans(FileSystem& directory, const ChunkIndex& named) {
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::string> names, directory.List("."));
  OrphanReport report;
  const auto remove = [&](const std::string& name) {
    const int64_t size = SizeOf(directory, name);
    // What cannot be removed waits for the next writer.
    if (directory.Remove(name).ok()) report.freed += size;
  };
  for (const std::string& name : names) {
    if (!format::IsOtherIndexName(name)) continue;
    if (IsRead(directory, name)) {
      report.old_read = true;
    } else {
      remove(name);
    }
  }
  // Some of the files may be missing, but hardly most of them: an index that names far more is made
  // to cost memory.
  const size_t most = 2 * names.size() + 4096;
  CAIRN_ASSIGN_OR_RETURN(const std::vector<int64_t> numbers, FileNumbersIn(named, most));
  if (report.old_read) return report;
  for (const std::string& name : names) {
    const std::optional<int64_t> number = format::ParseChunkFileName(name);
    if (number.has_value() && !std::ranges::binary_search(numbers, *number)) remove(name);
  }
  return report;
}

}  // namespace

absl::Status SparseBackend::Restart(bool /*failed*/) {
  if (sink_ == nullptr) {
    CAIRN_ASSIGN_OR_RETURN(orphans_, RemoveOrphans(directory(), base().chunks));
    CAIRN_ASSIGN_OR_RETURN(sink_, SparseSink::Make(frame_.location().files, base().chunks));
  } else {
    sink_->Discard();
  }
  HoldReserve();
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Stager>> SparseBackend::Stage() {
  if (std::exchange(published_, false)) CAIRN_RETURN_IF_ERROR(FinishReplacement());
  return std::make_unique<Stager>(frame_.state, *sink_, options_);
}

// A new index takes the reserve of the present one, unless that would leave too little.
absl::Status SparseBackend::TakeReserve(File& index, const StagedState& staged) {
  const CheckpointNeed need = NeedOf(staged, base());
  const int64_t kept = NeedAfter(staged, base(), 0, true);  // Reclaim only removes files
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, frame_.file->Size());
  if (kept > 0) {
    const absl::Status status = frame_.file->ReservePastEnd(size + need.index + kept);
    if (absl::IsResourceExhausted(status)) return DiskIsFull(status, kept);
  }
  CAIRN_RETURN_IF_ERROR(frame_.file->Truncate(size));
  index.ReservePastEnd(need.index).IgnoreError();
  return absl::OkStatus();
}

absl::StatusOr<AtomicFile> SparseBackend::NewIndex(const StagedState& staged) {
  const FrameLocation& location = frame_.location();
  CAIRN_RETURN_IF_ERROR(directory().SyncDirectoryOf(location.path));
  CAIRN_ASSIGN_OR_RETURN(AtomicFile index, AtomicFile::CreateBeside(location.files, location.path));
  CAIRN_RETURN_IF_ERROR(TakeReserve(*index.file(), staged));
  CAIRN_RETURN_IF_ERROR(StoreCheckpoint(*index.file(), staged,
                                        frame_.PlanCheckpoint(staged.header.header_len, true)));
  CAIRN_RETURN_IF_ERROR(index.file()->Sync(SyncMode::kAll));
  return index;
}

absl::Status SparseBackend::ReplaceIndex(const StagedState& staged) {
  absl::StatusOr<AtomicFile> made = NewIndex(staged);
  if (absl::IsResourceExhausted(made.status())) {
    HoldReserve();
    return Refuse(made.status());
  }
  CAIRN_ASSIGN_OR_RETURN(AtomicFile index, std::move(made));
  CAIRN_RETURN_IF_ERROR(frame_.CheckNotReplaced());
  CAIRN_ASSIGN_OR_RETURN(old_index_, index.PublishBySwap());
  CAIRN_RETURN_IF_ERROR(frame_.Adopt(index.file()));
  published_ = true;
  return absl::OkStatus();
}

// No stager of this writer reads the old state any more. Where no older state is read at all, the
// files that the new one dropped go, and their numbers can be used again: so they stay low, as
// C-Blosc2 wants them.
absl::Status SparseBackend::FinishReplacement() {
  const std::string old_index = std::exchange(old_index_, {});
  if (!old_index.empty() &&
      (IsRead(directory(), old_index) || !directory().Remove(old_index).ok())) {
    orphans_.old_read = true;
  }
  if (orphans_.old_read || sink_->IsPinned()) {
    sink_->Keep();
  } else {
    CAIRN_RETURN_IF_ERROR(sink_->RemoveUnnamed(base().chunks));
    CAIRN_ASSIGN_OR_RETURN(sink_, SparseSink::Make(frame_.location().files, base().chunks));
  }
  committed_ = true;
  HoldReserve();
  return absl::OkStatus();
}

absl::Status SparseBackend::WriteCheckpoint(Stager& stager) {
  CAIRN_RETURN_IF_ERROR(Finish(stager));
  CAIRN_RETURN_IF_ERROR(sink_->Sync());
  return ReplaceIndex(stager.staged());
}

absl::StatusOr<int64_t> SparseBackend::Rewrite(ChunkProgress progress) {
  CAIRN_ASSIGN_OR_RETURN(
      const StagedState staged,
      SealChunks(
          base(), StagedState(base()), [](int64_t entry, Bytes) { return entry; }, progress));
  const int64_t before = base().header().frame_size + *staged.stored_bytes + orphans_.freed;
  CAIRN_RETURN_IF_ERROR(ReplaceIndex(staged));
  return before;
}

// Each commit removes what is not read; what was read then may be free now.
absl::StatusOr<ReclaimReport> SparseBackend::ReclaimSpace(const ReclaimOptions& /*options*/) {
  ReclaimReport report{.blocked = true, .oldest_generation = base().generation()};
  if (sink_->IsPinned()) return report;
  CAIRN_ASSIGN_OR_RETURN(orphans_, RemoveOrphans(directory(), base().chunks));
  report.freed = orphans_.freed;
  report.blocked = orphans_.old_read;
  return report;
}

absl::Status SparseBackend::DropUncommitted() {
  // The snapshot's chunks are no orphans yet.
  if (sink_->IsPinned()) return absl::OkStatus();
  sink_->Discard();
  if (!committed_) return absl::OkStatus();
  return RemoveOrphans(directory(), base().chunks).status();
}

}  // namespace cairn::frame
