#include "engine/frame/files/frame_file.h"

#include <algorithm>
#include <optional>

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/storage/buffer_mapping.h"

namespace cairn::frame {

absl::StatusOr<int64_t> FrameFile::Size() const {
  auto size = static_cast<int64_t>(buffer_ != nullptr ? buffer_->bytes().size() : 0);
  if (file_ != nullptr) {
    CAIRN_ASSIGN_OR_RETURN(size, file_->Size());
  }
  if (origin_ < 0 || origin_ > size) {
    return OutOfRange("frame: offset %d is not in a file of %d bytes", origin_, size);
  }
  return size - origin_;
}

absl::Status FrameFile::ReadAt(int64_t position, MutableBytes dst) const {
  if (file_ != nullptr) return file_->ReadAt(origin_ + position, dst);
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, Size());
  if (!RangeFits(position, static_cast<int64_t>(dst.size()), size)) {
    return OutOfRange("frame: %d bytes from %d on pass the end at %d", dst.size(), position, size);
  }
  CopyBytes(buffer_->bytes().subspan(static_cast<size_t>(origin_ + position), dst.size()), dst);
  return absl::OkStatus();
}

absl::StatusOr<size_t> FrameFile::ReadSome(int64_t position, MutableBytes dst) const {
  if (file_ != nullptr) return file_->ReadSome(origin_ + position, dst);
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, Size());
  const int64_t n = std::clamp<int64_t>(size - position, 0, std::ssize(dst));
  if (n == 0) return 0;
  CAIRN_RETURN_IF_ERROR(ReadAt(position, dst.first(static_cast<size_t>(n))));
  return static_cast<size_t>(n);
}

absl::StatusOr<FrameView> FrameFile::ViewMore(const FrameView& before, int64_t size) const {
  // Room costs nothing until it is used, and another map costs the pages of this one.
  constexpr int64_t kLeastRoom = int64_t{64} << 20;
  if (std::optional<FrameView> more = before.Resized(size); more.has_value()) return *more;
  CAIRN_ASSIGN_OR_RETURN(FrameView region, View(size, std::max(size, kLeastRoom)));
  if (before.held() != nullptr) region.Hold(before.held());
  return region;
}

absl::StatusOr<FrameView> FrameFile::View(int64_t size, int64_t room) const {
  if (file_ == nullptr) {
    const Bytes part =
        buffer_->bytes().subspan(static_cast<size_t>(origin_), static_cast<size_t>(size));
    return FrameView(storage::ShareBytes(part, buffer_), size);
  }
  if (!use_mmap_) return FrameView(file_, origin_, size);
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const Mapping> mapping, file_->Map(origin_, size, room));
  return FrameView(std::move(mapping), size).BackedBy(file_, origin_);
}

}  // namespace cairn::frame
