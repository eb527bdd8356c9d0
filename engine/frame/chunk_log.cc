#include "engine/frame/chunk_log.h"

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
  return position;
}

absl::Status ChunkLog::Flush() {
  if (pending_.empty()) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(file_->WriteAt(flushed_, pending_));
  flushed_ = end();
  pending_.clear();
  return absl::OkStatus();
}

}  // namespace cairn::frame
