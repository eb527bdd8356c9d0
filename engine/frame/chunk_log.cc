#include "engine/frame/chunk_log.h"

#include <algorithm>

#include "engine/base/status.h"

namespace cairn::frame {

namespace {

constexpr size_t kPieceSize = 1 << 20;

}  // namespace

absl::StatusOr<int64_t> ChunkLog::Append(Bytes chunk) {
  if (pending_.size() + chunk.size() > kPieceSize) CAIRN_RETURN_IF_ERROR(Flush());
  const int64_t position = end();
  if (chunk.size() > kPieceSize) {
    CAIRN_RETURN_IF_ERROR(file_->WriteAt(position, chunk));
    flushed_ += static_cast<int64_t>(chunk.size());
  } else {
    pending_.insert(pending_.end(), chunk.begin(), chunk.end());
  }
  return position - header_len_;
}

absl::Status ChunkLog::Flush() {
  if (pending_.empty()) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(file_->WriteAt(flushed_, pending_));
  flushed_ = end();
  pending_.clear();
  return absl::OkStatus();
}

absl::Status ChunkLog::AttachTo(State& state) const {
  state.chunks_end = std::max(state.chunks_end, flushed_);
  CAIRN_ASSIGN_OR_RETURN(state.region, source_.ViewMore(state.region, state.chunks_end));
  SetContiguousArea(state);
  return absl::OkStatus();
}

}  // namespace cairn::frame
