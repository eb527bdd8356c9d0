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
    : CommitBackend(std::move(frame), std::move(options)), journal_(frame_) {}

absl::StatusOr<std::unique_ptr<Stager>> ContiguousBackend::Stage() {
  return std::make_unique<Stager>(frame_.state, journal_.sink(), options_);
}

absl::Status ContiguousBackend::Restart(bool failed) {
  if (journal_.sink().end() > CommittedEnd(base()) || failed) {
    // Readers that skipped these chunks must not take them for those of the next commit.
    CAIRN_RETURN_IF_ERROR(DropUncommitted());
    journal_.ForgetHeadroom();
  } else {
    HoldReserve();
  }
  journal_.StageAt(std::max(CommittedEnd(base()), pinned_end_));
  return absl::OkStatus();
}

absl::Status ContiguousBackend::PersistBase() {
  CAIRN_RETURN_IF_ERROR(journal_.Persist());
  CAIRN_RETURN_IF_ERROR(frame_.PersistHeader());
  return journal_.Witness();
}

bool ContiguousBackend::FitsInPlace(const StagedState& staged) const {
  if (staged.nbytes() == 0) return false;
  return staged.header.header_len <= kSectorSize || !MetalayersDiffer(staged);
}

absl::Status ContiguousBackend::PublishCommit(Stager& stager, Durability durability) {
  CAIRN_RETURN_IF_ERROR(journal_.Reserve(stager));
  if (journal_.IsLong(stager.staged())) return WriteCheckpoint(stager);
  if (journal_.unsynced() > kMostUnsynced) CAIRN_RETURN_IF_ERROR(journal_.Sync());
  CAIRN_ASSIGN_OR_RETURN(const bool published, journal_.Publish(stager, durability));
  return published ? absl::OkStatus() : WriteCheckpoint(stager);
}

// For a checkpoint of `size` bytes, and what it leaves: Reclaim begins with one of the same
// entries.
absl::Status ContiguousBackend::ReserveCheckpoint(const StagedState& staged, int64_t size) {
  constexpr int64_t kMargin = 128;
  const int64_t kept = NeedAfter(staged, base(), size + kMargin);
  const absl::Status status = frame_.file->ReservePastEnd(journal_.sink().end() + size + kept);
  return absl::IsResourceExhausted(status) ? Refuse(DiskIsFull(status, kept)) : absl::OkStatus();
}

absl::Status ContiguousBackend::CommitInPlace(const StagedState& staged,
                                              std::optional<uint64_t> oldest_generation) {
  CheckpointPlan plan = frame_.PlanCheckpoint(journal_.sink().end(), false);
  plan.seal.oldest_generation = oldest_generation.value_or(plan.seal.oldest_generation);
  CAIRN_ASSIGN_OR_RETURN(const CheckpointBytes bytes, EncodeCheckpoint(staged, plan));
  CAIRN_RETURN_IF_ERROR(ReserveCheckpoint(staged, std::ssize(bytes.tail)));
  CAIRN_RETURN_IF_ERROR(frame_.file->WriteAt(journal_.sink().end(), bytes.tail));
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
  CAIRN_RETURN_IF_ERROR(frame_.file->Truncate(journal_.sink().end()));
  journal_.ForgetHeadroom();
  frame_.file->ReservePastEnd(journal_.sink().end() + format::kMinRecordSize).IgnoreError();
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
  CAIRN_RETURN_IF_ERROR(frame_.file->WriteAt(journal_.sink().end(), format::EncodeReplaced()));
  CAIRN_RETURN_IF_ERROR(file.Publish(true));
  CAIRN_RETURN_IF_ERROR(frame_.Adopt(file.file()));
  journal_.ForgetHeadroom();
  BeginAfterCheckpoint();
  return absl::OkStatus();
}

// A new file has neither headroom nor journal, and is durable.
void ContiguousBackend::BeginAfterCheckpoint() {
  pinned_end_ = 0;  // the committed frame ends after them, or lies in another file
  journal_.BeginAfterCheckpoint();
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
