#include "engine/frame/stage/contiguous_sink.h"

#include <algorithm>
#include <optional>

#include "engine/base/check.h"
#include "engine/base/extent.h"
#include "engine/base/status.h"
#include "engine/chunk/special.h"
#include "engine/frame/files/holes.h"

namespace cairn::frame {

namespace {

// Bytes of one write. The disk is also asked to write this many at a time, so that syncs wait for
// little, and the disk works while chunks are made.
constexpr size_t kPieceSize = 1 << 20;

// In how many places a full disk refuses a chunk before it goes after the journal.
constexpr int64_t kMostRefused = 16;

}  // namespace

absl::Status ContiguousSink::Write(Bytes bytes) {
  CAIRN_RETURN_IF_ERROR(file_->WriteAt(flushed_, bytes));
  flushed_ += std::ssize(bytes);
  // The last page is left out, because it will be written again.
  const int64_t complete = flushed_ - flushed_ % kPageSize;
  if (complete - announced_ >= static_cast<int64_t>(kPieceSize)) {
    file_->SyncSoon(announced_, complete - announced_);
    announced_ = complete;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<int64_t>> ContiguousSink::TakeFree(int64_t size) {
  if (free_ == nullptr) return std::nullopt;
  const std::optional<int64_t> position = free_->Take(size);
  if (!position.has_value() || may_reuse_ == nullptr) return position;
  const absl::StatusOr<bool> may_reuse = may_reuse_();
  if (may_reuse.ok() && *may_reuse) {
    may_reuse_ = nullptr;
    return position;
  }
  free_->Add({*position, *position + size});
  CAIRN_RETURN_IF_ERROR(may_reuse.status());
  return std::nullopt;
}

// Returns nothing if no free space takes the chunk. Free space may lie in holes: a full disk has no
// room there, but may have blocks in other free space.
absl::StatusOr<std::optional<int64_t>> ContiguousSink::PutIntoFree(Bytes chunk) {
  const auto size = std::ssize(chunk);
  std::vector<Extent> refused;
  absl::StatusOr<std::optional<int64_t>> place;
  do {
    place = TakeFree(size);
    if (!place.ok() || !place->has_value()) break;
    const absl::Status written = WriteReused(**place, chunk);
    if (written.ok()) break;
    refused.push_back({**place, **place + size});
    place = std::optional<int64_t>();
    const bool may_try =
        absl::IsResourceExhausted(written) && has_holes_ != nullptr && has_holes_();
    if (!may_try) place = written;
  } while (place.ok() && std::ssize(refused) < kMostRefused);
  for (const Extent& extent : refused) free_->Add(extent);
  return place;
}

absl::StatusOr<int64_t> ContiguousSink::Append(Bytes chunk) {
  const auto size = std::ssize(chunk);
  CAIRN_ASSIGN_OR_RETURN(const std::optional<int64_t> reused, PutIntoFree(chunk));
  int64_t position = 0;
  if (reused.has_value()) {
    position = *reused;
    CAIRN_DCHECK(position >= header_len_ && position + size <= begin_);
    reused_ += size;
  } else {
    CAIRN_ASSIGN_OR_RETURN(position, AppendAtEnd(chunk));
  }
  placed_.push_back({position, position + size});
  return position - header_len_;
}

// Writes at once where the disk may refuse it: the place of a chunk that waits is known to others.
absl::Status ContiguousSink::WriteReused(int64_t position, Bytes chunk) {
  if (has_holes_ != nullptr && has_holes_()) {
    CAIRN_RETURN_IF_ERROR(FlushReused());
    const absl::Status written = file_->WriteAt(position, chunk);
    if (absl::IsResourceExhausted(written)) {
      PunchPages({position, position + std::ssize(chunk)}, *file_).IgnoreError();
    }
    return written;
  }
  const bool follows = position == reused_begin_ + std::ssize(reused_pending_);
  if (!follows || reused_pending_.size() + chunk.size() > kPieceSize) {
    CAIRN_RETURN_IF_ERROR(FlushReused());
    reused_begin_ = position;
  }
  reused_pending_.insert(reused_pending_.end(), chunk.begin(), chunk.end());
  return absl::OkStatus();
}

absl::StatusOr<int64_t> ContiguousSink::AppendAtEnd(Bytes chunk) {
  CAIRN_RETURN_IF_ERROR(limit_.Check(end() + std::ssize(chunk)));
  if (!HasRoomFor(std::ssize(chunk))) {
    CAIRN_RETURN_IF_ERROR(Flush());
    CAIRN_DCHECK(room_.resume >= room_.limit);
    flushed_ = announced_ = std::max(flushed_, room_.resume);
    room_ = {};
    left_journal_ = true;
  }
  if (pending_.size() + chunk.size() > kPieceSize) CAIRN_RETURN_IF_ERROR(Flush());
  const int64_t position = end();
  if (chunk.size() > kPieceSize) {
    CAIRN_RETURN_IF_ERROR(Write(chunk));
  } else {
    pending_.insert(pending_.end(), chunk.begin(), chunk.end());
  }
  return position;
}

absl::StatusOr<uint64_t> ContiguousSink::AppendRecord(const format::CommitRecordParts& commit,
                                                      const format::Receipt& receipt) {
  CAIRN_RETURN_IF_ERROR(FlushReused());
  const int64_t size = format::RecordSize(commit) + format::kReceiptSize;
  if (std::ssize(pending_) + size > static_cast<int64_t>(kPieceSize)) {
    CAIRN_RETURN_IF_ERROR(Flush());
  }
  CAIRN_DCHECK(HasRoomFor(size) && !left_journal_);
  format::AppendRecord(commit, end(), pending_);
  const uint64_t hash = format::StoredChecksum(pending_);
  format::AppendReceipt(receipt, end(), pending_);
  return hash;
}

// Writes the header last, because the journal ends here until it is there.
absl::Status ContiguousSink::Skip(int64_t size) {
  static constexpr std::byte kLast[1] = {std::byte{1}};
  CAIRN_DCHECK(size > chunk::kHeaderSize && HasRoomFor(size) && !left_journal_);
  CAIRN_RETURN_IF_ERROR(Flush());
  CAIRN_RETURN_IF_ERROR(file_->WriteAt(end() + size - 1, kLast));
  const auto nbytes = static_cast<int32_t>(size - chunk::kHeaderSize);
  CAIRN_RETURN_IF_ERROR(file_->WriteAt(end(), chunk::MemcpyedHeader(nbytes)));
  flushed_ = announced_ = end() + size;
  return absl::OkStatus();
}

// Takes back only chunks in space that was free, because chunks after the journal lie back to back.
bool ContiguousSink::TakeBack(const IndexEntry& entry) {
  const Extent chunk = {header_len_ + entry.value, header_len_ + entry.value + entry.cbytes};
  if (placed_is_read_ || free_ == nullptr || chunk.begin >= begin_) return false;
  for (; indexed_ < placed_.size(); ++indexed_) places_[placed_[indexed_].begin] = indexed_;
  const auto found = places_.find(chunk.begin);
  if (found == places_.end() || placed_[found->second] != chunk) return false;
  // Other classes write into free space, too. The bytes of this chunk must not be written after
  // theirs.
  if (IsPending(entry.value) && !FlushReused().ok()) return false;
  if (!free_->Add(chunk)) return false;
  const size_t place = found->second;
  places_.erase(found);
  if (place + 1 < placed_.size()) {
    placed_[place] = placed_.back();
    places_[placed_[place].begin] = place;
  }
  placed_.pop_back();
  indexed_ = placed_.size();
  reused_ -= chunk.size();
  CAIRN_DCHECK(reused_ >= 0);
  return true;
}

absl::Status ContiguousSink::FlushReused() {
  if (reused_pending_.empty()) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(file_->WriteAt(reused_begin_, reused_pending_));
  if (reused_pending_.capacity() > 2 * kPieceSize) reused_pending_ = {};
  reused_pending_.clear();
  return absl::OkStatus();
}

absl::Status ContiguousSink::Flush() {
  CAIRN_RETURN_IF_ERROR(FlushReused());
  if (pending_.empty()) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(Write(pending_));
  if (pending_.capacity() > 2 * kPieceSize) pending_ = {};
  pending_.clear();
  return absl::OkStatus();
}

bool ContiguousSink::IsPending(int64_t entry) const {
  const int64_t position = header_len_ + entry;
  const int64_t reused = position - reused_begin_;
  return position >= flushed_ || (reused >= 0 && reused < std::ssize(reused_pending_));
}

absl::StatusOr<FrameView> ContiguousSink::View(const State& base) {
  const FrameView& before = view_.size() > base.region.size() ? view_ : base.region;
  return source_.ViewMore(before, std::max(base.chunks_end, flushed_));
}

absl::StatusOr<std::shared_ptr<const ChunkSource>> ContiguousSink::Source(const State& base) {
  CAIRN_ASSIGN_OR_RETURN(view_, View(base));
  return std::make_shared<const ContiguousChunkSource>(view_, header_len_, view_.size());
}

}  // namespace cairn::frame
