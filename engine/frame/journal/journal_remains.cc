// Where the journal may go, and what of the file after it goes.
#include <algorithm>
#include <vector>

#include "engine/base/status.h"
#include "engine/format/journal.h"
#include "engine/frame/files/frame_locks.h"
#include "engine/frame/journal/journal_writer.h"

namespace cairn::frame {

namespace {

constexpr int64_t kZerosPiece = int64_t{64} << 10;

// Bytes of the file: the kernel has to forget each page.
constexpr int64_t kMostCut = int64_t{16} << 20;

// Asking for readers costs a few system calls.
constexpr int kCommitsUntilTidy = 64;

// How many dead extents may become free at once, before the first commit after a checkpoint; and
// with each commit, and for each chunk of it. There may be a million.
constexpr int64_t kManyReleased = 4096;
constexpr int64_t kReleased = 32;
constexpr int64_t kReleasedForChunk = 2;

}  // namespace

void JournalWriter::Release(int64_t most) {
  const bool sealed = base().checkpoint->seal_holds;
  const uint64_t oldest = sealed ? base().checkpoint->seal->oldest_generation : 0;
  if (most == INT64_MAX) {
    space_.Release(*frame_.file, oldest);
  } else {
    space_.ReleaseSome(*frame_.file, oldest, most);
  }
  SetRoom();
}

int64_t JournalWriter::EndWithMark() const {
  const bool has_room = sink_->HasRoomFor(format::kEndedSize + format::kEndMark);
  return sink_->end() + (has_room ? format::kEndedSize : 0);
}

absl::Status JournalWriter::MarkEnded(const State& before, int64_t end) {
  const Checkpoint& newer = *base().checkpoint;
  const bool is_sealed = newer.seal_holds && before.journal.has_value();
  if (!is_sealed || EndWithMark() == end) return absl::OkStatus();
  const absl::Status status =
      frame_.file->WriteAt(end, format::EncodeEnded({.base = before.journal->base,
                                                     .last = before.generation(),
                                                     .generation = newer.seal->generation,
                                                     .frame_size = newer.header.frame_size},
                                                    end));
  // The checkpoint is durable, whether that can be recorded or not.
  return absl::IsResourceExhausted(status) ? absl::OkStatus() : status;
}

void JournalWriter::SetRoom() {
  const int64_t end = sink_->end();
  sink_->SetRoom({.limit = space_.LimitFrom(end), .resume = std::max(end, space_.EndOfDead())});
}

absl::Status JournalWriter::TidyUp() {
  commits_until_tidy_ = kCommitsUntilTidy;
  if (space_.has_dead()) Release(kManyReleased);
  return CutSome();
}

absl::Status JournalWriter::TidyUpAll() {
  if (space_.has_dead()) Release();
  return remains_end_ > sink_->end() ? CutAt(sink_->end()) : absl::OkStatus();
}

absl::Status JournalWriter::TidyUpNowAndThen() {
  const bool is_time = --commits_until_tidy_ <= 0;
  if (space_.is_releasing() || (is_time && space_.has_dead())) {
    Release(kReleased + kReleasedForChunk * std::ssize(sink_->placed()));
  }
  if (!is_time) return absl::OkStatus();
  commits_until_tidy_ = kCommitsUntilTidy;
  return CutSome();
}

// Of what an earlier checkpoint left; what is reserved after that goes, too.
absl::Status JournalWriter::CutSome() {
  const int64_t end = sink_->end();
  if (remains_end_ <= end) return absl::OkStatus();
  const int64_t target = std::max(end, remains_end_ - kMostCut);
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, frame_.file->Size());
  return size > target ? CutUnread(target) : absl::OkStatus();
}

// Whether the journal may go on for so many bytes, and its end be marked.
bool JournalWriter::HasRoomFor(int64_t size) {
  if (sink_->HasRoomFor(size + format::kEndMark)) return true;
  Release();
  return sink_->HasRoomFor(size + format::kEndMark);
}

absl::Status JournalWriter::CutAt(int64_t end) {
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, frame_.file->Size());
  if (size <= end) return absl::OkStatus();
  if (remains_end_ > end) Release();
  return CutUnread(end);
}

absl::Status JournalWriter::CutUnread(int64_t end) {
  if (remains_end_ > end) {
    const bool is_read = frame_.file->IsLocked(kLoadingLockByte, 1).value_or(true);
    if (space_.EndOfDead() > end || is_read) return absl::OkStatus();
  }
  remains_end_ = end > sink_->end() ? end : 0;
  ForgetHeadroom();
  return frame_.file->Truncate(end);
}

absl::Status JournalWriter::DropAfter(int64_t end) {
  CAIRN_RETURN_IF_ERROR(CutAt(end));
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, frame_.file->Size());
  const int64_t limit = std::min(size, space_.LimitFrom(end));
  if (limit <= end) return absl::OkStatus();
  ForgetHeadroom();
  const absl::Status status = frame_.file->PunchHole(end, limit - end);
  if (!absl::IsUnimplemented(status)) return status;
  const std::vector<std::byte> zeros(static_cast<size_t>(kZerosPiece));
  for (int64_t at = end; at < limit; at += kZerosPiece) {
    const auto piece = static_cast<size_t>(std::min(kZerosPiece, limit - at));
    CAIRN_RETURN_IF_ERROR(frame_.file->WriteAt(at, Bytes(zeros).first(piece)));
  }
  return absl::OkStatus();
}

}  // namespace cairn::frame
