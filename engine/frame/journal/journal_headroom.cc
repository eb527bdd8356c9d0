#include "engine/frame/journal/journal_headroom.h"

#include <algorithm>

#include "engine/base/status.h"
#include "engine/format/journal.h"
#include "engine/frame/checkpoint/commit_failures.h"

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

void JournalHeadroom::Forget() {
  reserved_.Reset(0);
  zeros_end_ = 0;
}

// Zeros that others have cut off only make commits slower.
void JournalHeadroom::Resume(int64_t size) {
  reserved_.Reset(size);
  zeros_end_ = std::min(zeros_end_, size);
}

// An edit that makes the file larger leaves room for two more indexes: where chunks were deleted,
// the next checkpoint lies after the space that it frees, and the checkpoint after that in this
// space.
absl::Status JournalHeadroom::CheckLimit(const Stager& stager, int64_t other_bytes) const {
  const StagedState& staged = stager.staged();
  if (frame_.limit.bytes == INT64_MAX || !Grows(staged, base())) return absl::OkStatus();
  const int64_t end = tail_.end() + format::RecordSize(stager.MakeCommit({}));
  const bool reuses = tail_.sink().reused() > 0 && end - CommittedEnd(base()) <= kPageSize;
  const int64_t more = reuses ? 0 : 2 * NeedOf(staged, base()).index;
  return Refuse(frame_.limit.Check(other_bytes + end + RoomForNext(staged, base()) + more));
}

absl::Status JournalHeadroom::Reserve(const Stager& stager, int64_t other_bytes) {
  const StagedState& staged = stager.staged();
  const CheckpointNeed need = NeedOf(staged, base());
  const int64_t begin = tail_.sink().flushed();
  const int64_t end = tail_.end() + format::RecordSize(stager.MakeCommit({}));
  const int64_t after = NeedAfter(staged, base(), need.index, frame_.keeps_history());
  int64_t kept = need.index + std::max(need.pending + need.last_blocks, after);
  int64_t most = INT64_MAX;
  if (frame_.limit.bytes < INT64_MAX) {
    most = frame_.limit.bytes - other_bytes;
    kept = std::clamp<int64_t>(most - end, 0, kept);
    // The other files need what is left.
    if (base().header().layout == Layout::kSparse) most = end + kept;
  }
  if (unsynced_.avoids_syncs() && frame_.sync->owes() && ++owing_commits_ <= kFewCommits) {
    const absl::Status status = frame_.file->Allocate(begin, end + kept - begin);
    return absl::IsResourceExhausted(status) ? Refuse(DiskIsFull(status, kept)) : absl::OkStatus();
  }
  return Refuse(reserved_.Extend(*frame_.file, begin, end, kept, most));
}

bool JournalHeadroom::HasRoomToMove(const Stager& stager) const {
  constexpr int64_t kMostMoves = int64_t{64} << 10;  // bytes of their edits
  const StagedState& staged = stager.staged();
  if (Grows(staged, base())) return true;
  const int64_t end = tail_.end() + format::RecordSize(stager.MakeCommit({}));
  return end + NeedOf(staged, base()).index + RoomForNext(staged, base()) + kMostMoves <=
         reserved_.end();
}

// Writes one byte of each page: readers still see zeros after the journal. One byte makes the
// kernel write the page. A larger write would fill the page cache with large folios, whose small
// parts are slow to sync. On a full disk the commit itself fails.
void JournalHeadroom::WriteZerosAhead() {
  if (tail_.end() - frame_.sync->durable().end > kSmallCommit || ++small_commits_ <= kManyCommits ||
      tail_.end() <= zeros_end_ || reserved_.end() <= tail_.end()) {
    return;
  }
  zeros_ = std::clamp(2 * zeros_, kLeastZeros, kMostZeros);
  zeros_end_ =
      std::min({tail_.end() + zeros_, reserved_.end(), tail_.space().LimitFrom(tail_.end())});
  static constexpr std::byte kZero[1] = {};
  // Pending bytes of the sink are written over them.
  for (int64_t at = tail_.sink().flushed(); at < zeros_end_; at += kPageSize - at % kPageSize) {
    if (!frame_.file->WriteAt(at, kZero).ok()) return;
  }
}

}  // namespace cairn::frame
