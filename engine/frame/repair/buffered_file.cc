#include "engine/frame/repair/buffered_file.h"

#include <algorithm>

#include "engine/base/checked.h"
#include "engine/base/status.h"

namespace cairn::frame {

absl::StatusOr<BufferedFile> BufferedFile::Open(const File& file, int64_t ahead) {
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, file.Size());
  return BufferedFile(file, size, ahead);
}

absl::StatusOr<BufferedFile> BufferedFile::Map(const File& file) {
  CAIRN_ASSIGN_OR_RETURN(BufferedFile buffered, Open(file, 0));
  if (buffered.size_ == 0) return buffered;
  CAIRN_ASSIGN_OR_RETURN(buffered.mapping_, file.Map(0, buffered.size_, 0));
  buffered.window_ = buffered.mapping_->bytes();
  return buffered;
}

absl::StatusOr<Bytes> BufferedFile::Read(int64_t offset, int64_t size) {
  if (!RangeFits(offset, size, size_)) {
    return OutOfRange("%d bytes from byte %d on of %d", size, offset, size_);
  }
  if (!IsBuffered(offset, size)) {
    const int64_t ahead = std::min(std::max(size, ahead_), size_ - offset);
    window_ = {};
    const MutableBytes bytes = buffer_.Get(static_cast<size_t>(ahead));
    CAIRN_RETURN_IF_ERROR(file_->ReadAt(offset, bytes));
    window_ = bytes;
    window_begin_ = offset;
  }
  return window_.subspan(static_cast<size_t>(offset - window_begin_), static_cast<size_t>(size));
}

absl::StatusOr<Bytes> BufferedFile::ReadUpTo(int64_t offset, int64_t size) {
  return Read(offset, std::min(size, size_ - offset));
}

absl::StatusOr<Bytes> BufferedFile::ReadAsideUpTo(int64_t offset, int64_t size) {
  size = std::min(size, size_ - offset);
  if (IsBuffered(offset, size) || !RangeFits(offset, size, size_)) return Read(offset, size);
  const MutableBytes bytes = aside_.Get(static_cast<size_t>(size));
  CAIRN_RETURN_IF_ERROR(file_->ReadAt(offset, bytes));
  return bytes;
}

}  // namespace cairn::frame
