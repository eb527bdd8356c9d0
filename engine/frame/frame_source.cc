#include "engine/frame/frame_source.h"

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/storage/buffer_mapping.h"

namespace cairn::frame {

absl::StatusOr<int64_t> FrameSource::Size() const {
  auto size = static_cast<int64_t>(buffer_ != nullptr ? buffer_->bytes().size() : 0);
  if (file_ != nullptr) {
    CAIRN_ASSIGN_OR_RETURN(size, file_->Size());
  }
  if (origin_ < 0 || origin_ > size) {
    return OutOfRange("frame: offset %d is not in a file of %d bytes", origin_, size);
  }
  return size - origin_;
}

absl::Status FrameSource::ReadAt(int64_t position, MutableBytes dst) const {
  if (file_ != nullptr) return file_->ReadAt(origin_ + position, dst);
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, Size());
  if (!RangeFits(position, static_cast<int64_t>(dst.size()), size)) {
    return OutOfRange("frame: %d bytes from %d on pass the end at %d", dst.size(), position, size);
  }
  CopyBytes(buffer_->bytes().subspan(static_cast<size_t>(origin_ + position), dst.size()), dst);
  return absl::OkStatus();
}

absl::StatusOr<Region> FrameSource::View(int64_t size) const {
  if (file_ == nullptr) {
    const Bytes part =
        buffer_->bytes().subspan(static_cast<size_t>(origin_), static_cast<size_t>(size));
    return Region(storage::ShareBytes(part, buffer_));
  }
  if (!use_mmap_) return Region(file_, origin_, size);
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const Mapping> mapping, file_->Map(origin_, size, 0));
  return Region(std::move(mapping));
}

}  // namespace cairn::frame
