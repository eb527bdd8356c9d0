#include "engine/frame/journal/journal_remains.h"

#include <algorithm>
#include <array>
#include <vector>

#include "engine/base/status.h"
#include "engine/format/journal.h"
#include "engine/frame/files/frame_locks.h"
#include "engine/frame/space/disk_reserve.h"

namespace cairn::frame {

namespace {

constexpr int64_t kZerosPiece = int64_t{64} << 10;

// Bytes of the file: the kernel has to forget each page.
constexpr int64_t kMostCut = int64_t{16} << 20;
constexpr int64_t kLeastCut = int64_t{64} << 10;

// Asking for readers costs a few system calls.
constexpr int kCommitsUntilTidy = 64;

// How many dead extents may become free at once, before the first commit after a checkpoint; and
// with each commit, and for each chunk of it. There may be a million.
constexpr int64_t kManyReleased = 4096;
constexpr int64_t kReleased = 32;
constexpr int64_t kReleasedForChunk = 2;

}  // namespace

void JournalRemains::Resume(int64_t size) {
  end_ = std::min(end_, size);
  if (end_ <= CommittedEnd(*frame_.state)) end_ = 0;
  if (end_ == 0) {
    headroom_.Resume(size);
  } else {
    headroom_.Forget();
  }
}

// The room of the next checkpoints stays: to cut it off and to reserve it again takes longer than
// to write there. The first commit cuts it off, since a checkpoint beside commits needs a free end.
absl::Status JournalRemains::TidyUp() {
  commits_until_tidy_ = kCommitsUntilTidy;
  if (!tail_.space().dead().empty()) tail_.Release(kManyReleased);
  if (end_ <= tail_.end()) return absl::OkStatus();
  commits_until_tidy_ = 0;
  const int64_t room = 2 * RoomForNext(StagedState(*frame_.state), *frame_.state);
  return CutSome(tail_.end() + std::max(room, kLeastCut));
}

absl::Status JournalRemains::TidyUpAll() {
  if (!tail_.space().dead().empty()) tail_.Release();
  return end_ > tail_.end() ? CutAndHold(tail_.end()) : absl::OkStatus();
}

absl::Status JournalRemains::TidyUpNowAndThen() {
  const bool is_time = --commits_until_tidy_ <= 0;
  if (tail_.space().is_releasing() || (is_time && !tail_.space().dead().empty())) {
    tail_.Release(kReleased + kReleasedForChunk * std::ssize(tail_.sink().placed()));
  }
  if (!is_time) return absl::OkStatus();
  commits_until_tidy_ = kCommitsUntilTidy;
  return CutSome(tail_.end());
}

// Space that is reserved after the remains goes, too.
absl::Status JournalRemains::CutSome(int64_t end) {
  if (end_ <= end) return absl::OkStatus();
  return CutAndHold(std::max(end, end_ - kMostCut));
}

absl::Status JournalRemains::CutAt(int64_t end) {
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, frame_.file->Size());
  if (size <= end) return absl::OkStatus();
  if (end_ > end) tail_.Release();
  return CutUnread(end);
}

// Cuts the file, and reserves again what the cut gave back.
absl::Status JournalRemains::CutAndHold(int64_t end) {
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, frame_.file->Size());
  if (size <= end) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(CutUnread(end));
  if (end_ == 0) tail_.HoldReserve(end);
  return absl::OkStatus();
}

absl::Status JournalRemains::CutUnread(int64_t end) {
  if (end_ > end) {
    const bool is_read = frame_.file->IsLocked(kLoadingLockByte, 1).value_or(true);
    if (tail_.space().EndOfDead() > end || is_read) return absl::OkStatus();
  }
  end_ = end > tail_.end() ? end : 0;
  headroom_.Forget();
  return frame_.file->Truncate(end);
}

absl::Status JournalRemains::DropAfter(int64_t end) {
  CAIRN_RETURN_IF_ERROR(CutAt(end));
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, frame_.file->Size());
  const int64_t limit = std::min(size, tail_.space().LimitFrom(end));
  if (limit <= end) return absl::OkStatus();
  headroom_.Forget();
  // The first bytes keep their disk space, for the journal that goes on here.
  const int64_t kept =
      std::min(limit, end + RoomForNext(StagedState(*frame_.state), *frame_.state));
  const absl::Status zeroed = WriteZeros(end, kept);
  if (!zeroed.ok() && !absl::IsResourceExhausted(zeroed)) return zeroed;
  const int64_t begin = zeroed.ok() ? kept : end;
  const absl::Status status =
      begin < limit ? frame_.file->PunchHole(begin, limit - begin) : absl::OkStatus();
  const bool is_refused = absl::IsUnimplemented(status) || absl::IsResourceExhausted(status);
  return is_refused ? WriteZeros(begin, limit) : status;
}

absl::Status JournalRemains::WriteZeros(int64_t begin, int64_t end) {
  const std::vector<std::byte> zeros(static_cast<size_t>(std::min(kZerosPiece, end - begin)));
  for (int64_t at = begin; at < end; at += kZerosPiece) {
    const auto piece = static_cast<size_t>(std::min(kZerosPiece, end - at));
    CAIRN_RETURN_IF_ERROR(frame_.file->WriteAt(at, Bytes(zeros).first(piece)));
  }
  return absl::OkStatus();
}

absl::Status JournalRemains::MarkEnd(int64_t position) {
  static constexpr std::array<std::byte, format::kEndMark> kZeros = {};
  return frame_.file->WriteAt(position, kZeros);
}

}  // namespace cairn::frame
