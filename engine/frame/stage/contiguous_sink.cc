#include "engine/frame/stage/contiguous_sink.h"

#include <algorithm>

#include "engine/base/status.h"

namespace cairn::frame {

namespace {

// Of one write. So much is also announced to the disk at a time: syncs wait for little then, and
// the disk works while chunks are made.
constexpr size_t kPieceSize = 1 << 20;

}  // namespace

absl::Status ContiguousSink::Write(Bytes bytes) {
  constexpr int64_t kPage = 4096;
  CAIRN_RETURN_IF_ERROR(file_->WriteAt(flushed_, bytes));
  flushed_ += std::ssize(bytes);
  // The last page is written again.
  const int64_t whole = flushed_ - flushed_ % kPage;
  if (whole - announced_ >= static_cast<int64_t>(kPieceSize)) {
    file_->SyncSoon(announced_, whole - announced_);
    announced_ = whole;
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> ContiguousSink::Append(Bytes chunk) {
  if (pending_.size() + chunk.size() > kPieceSize) CAIRN_RETURN_IF_ERROR(Flush());
  const int64_t position = end();
  if (chunk.size() > kPieceSize) {
    CAIRN_RETURN_IF_ERROR(Write(chunk));
  } else {
    pending_.insert(pending_.end(), chunk.begin(), chunk.end());
  }
  return position - header_len_;
}

absl::StatusOr<uint64_t> ContiguousSink::AppendRecord(const format::CommitRecordParts& batch,
                                                      const format::Receipt& receipt) {
  const int64_t size = format::RecordSize(batch) + format::kReceiptSize;
  if (std::ssize(pending_) + size > static_cast<int64_t>(kPieceSize)) {
    CAIRN_RETURN_IF_ERROR(Flush());
  }
  format::AppendRecord(batch, end(), pending_);
  const uint64_t hash = format::StoredChecksum(pending_);
  format::AppendReceipt(receipt, end(), pending_);
  return hash;
}

absl::Status ContiguousSink::Flush() {
  if (pending_.empty()) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(Write(pending_));
  if (pending_.capacity() > 2 * kPieceSize) pending_ = {};
  pending_.clear();
  return absl::OkStatus();
}

absl::Status ContiguousSink::AttachTo(State& state) {
  state.chunks_end = std::max(state.chunks_end, flushed_);
  const FrameView& before = region_.size() > state.region.size() ? region_ : state.region;
  CAIRN_ASSIGN_OR_RETURN(region_, source_.ViewMore(before, state.chunks_end));
  state.region = region_;
  SetContiguousSource(state);
  return absl::OkStatus();
}

}  // namespace cairn::frame
