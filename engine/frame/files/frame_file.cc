#include "engine/frame/files/frame_file.h"

#include <algorithm>
#include <optional>

#include "engine/base/status.h"

namespace cairn::frame {

absl::StatusOr<int64_t> FrameFile::Size() const {
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, file_->Size());
  if (origin_ < 0 || origin_ > size) {
    return OutOfRange("frame: offset %d is not in a file of %d bytes", origin_, size);
  }
  return size - origin_;
}

absl::StatusOr<FrameView> FrameFile::ViewMore(const FrameView& before, int64_t size) const {
  // Headroom costs nothing until it is used, and another map costs the pages of this one.
  constexpr int64_t kMinHeadroom = int64_t{64} << 20;
  if (std::optional<FrameView> more = before.Resized(size); more.has_value()) return *more;
  CAIRN_ASSIGN_OR_RETURN(FrameView view, View(size, std::max(size, kMinHeadroom)));
  if (before.retained() != nullptr) view.Retain(before.retained());
  return view;
}

absl::StatusOr<FrameView> FrameFile::View(int64_t size, int64_t headroom) const {
  if (!use_mmap_) return FrameView(file_, origin_, size);
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const Mapping> mapping,
                         file_->Map(origin_, size, headroom));
  return FrameView(std::move(mapping), size).BackedBy(file_, origin_);
}

}  // namespace cairn::frame
