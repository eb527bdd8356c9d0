#include "engine/frame/files/frame_view.h"

#include <utility>
#include <vector>

#include "engine/base/checked.h"
#include "engine/base/endian.h"
#include "engine/base/page_size.h"
#include "engine/base/status.h"
#include "engine/format/frame_header.h"

namespace cairn::frame {

FrameView FrameView::BackedBy(std::shared_ptr<const File> file, int64_t origin) const {
  FrameView backed = *this;
  backed.file_ = std::move(file);
  backed.origin_ = origin;
  return backed;
}

FrameView FrameView::Unmapped() const {
  return file_ == nullptr ? *this : FrameView(file_, origin_, size_);
}

std::optional<FrameView> FrameView::Resized(int64_t size) const {
  if (mapping_ == nullptr && file_ == nullptr) return std::nullopt;
  if (mapping_ != nullptr && size > std::ssize(mapping_->bytes())) return std::nullopt;
  FrameView resized = *this;
  resized.size_ = size;
  return resized;
}

void FrameView::Hold(std::shared_ptr<const void> what) {
  using Both = std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>;
  held_ = std::move(what);
  owner_ = std::make_shared<const Both>(mapping_, held_);
}

int64_t FrameView::LoadFrameSize() const {
  const std::byte* word = mapping_->bytes().data() + format::kFrameSizeOffset;
  const uint64_t raw = __atomic_load_n(reinterpret_cast<const uint64_t*>(word), __ATOMIC_ACQUIRE);
  return static_cast<int64_t>(ToOrder<std::endian::big>(raw));
}

bool FrameView::PeekIsZero(int64_t position) const {
  // Pages may be larger, but no smaller.
  const bool in_our_page = position <= size_ && (origin_ + position) % kPageSize != 0;
  if (!in_our_page || position >= std::ssize(in_place_)) return false;
  const std::byte* byte = in_place_.data() + position;
  return __atomic_load_n(reinterpret_cast<const uint8_t*>(byte), __ATOMIC_ACQUIRE) == 0;
}

absl::Status FrameView::Check(int64_t offset, int64_t size) const {
  if (RangeFits(offset, size, size_)) return absl::OkStatus();
  return DataLoss("frame: bytes from %d on, %d of them, pass its %d bytes", offset, size, size_);
}

absl::Status FrameView::Copy(int64_t offset, MutableBytes dst) const {
  absl::Status status = file_->ReadAt(origin_ + offset, dst);
  // All of the region was there once: somebody has cut the file short.
  return absl::IsOutOfRange(status) ? absl::DataLossError(status.message()) : status;
}

absl::StatusOr<Bytes> FrameView::Read(int64_t offset, int64_t size, ScratchBuffer& scratch) const {
  CAIRN_RETURN_IF_ERROR(Check(offset, size));
  if (mapping_ != nullptr) {
    return in_place_.subspan(static_cast<size_t>(offset), static_cast<size_t>(size));
  }
  const MutableBytes bytes = scratch.Get(static_cast<size_t>(size));
  CAIRN_RETURN_IF_ERROR(Copy(offset, bytes));
  return Bytes(bytes);
}

absl::StatusOr<Chunk> FrameView::Pin(int64_t offset, int64_t size) const {
  CAIRN_RETURN_IF_ERROR(Check(offset, size));
  if (mapping_ != nullptr) {
    return Chunk(mapping_->bytes().subspan(static_cast<size_t>(offset), static_cast<size_t>(size)),
                 owner_);
  }
  auto copy = std::make_shared<std::vector<std::byte>>(static_cast<size_t>(size));
  CAIRN_RETURN_IF_ERROR(Copy(offset, *copy));
  return Chunk(*copy, copy);
}

}  // namespace cairn::frame
