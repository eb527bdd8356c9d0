#include "engine/frame/region.h"

#include <vector>

#include "engine/base/checked.h"
#include "engine/base/status.h"

namespace cairn::frame {

absl::Status Region::Check(int64_t offset, int64_t size) const {
  if (RangeFits(offset, size, size_)) return absl::OkStatus();
  return DataLoss("frame: bytes from %d on, %d of them, pass its %d bytes", offset, size, size_);
}

absl::StatusOr<Bytes> Region::Read(int64_t offset, int64_t size,
                                   chunk::ScratchBuffer& scratch) const {
  CAIRN_RETURN_IF_ERROR(Check(offset, size));
  if (mapping_ != nullptr) {
    return mapping_->bytes().subspan(static_cast<size_t>(offset), static_cast<size_t>(size));
  }
  const MutableBytes bytes = scratch.Get(static_cast<size_t>(size));
  CAIRN_RETURN_IF_ERROR(file_->ReadAt(origin_ + offset, bytes));
  return Bytes(bytes);
}

absl::StatusOr<Chunk> Region::Pin(int64_t offset, int64_t size) const {
  CAIRN_RETURN_IF_ERROR(Check(offset, size));
  if (mapping_ != nullptr) {
    return Chunk(mapping_->bytes().subspan(static_cast<size_t>(offset), static_cast<size_t>(size)),
                 mapping_);
  }
  auto copy = std::make_shared<std::vector<std::byte>>(static_cast<size_t>(size));
  CAIRN_RETURN_IF_ERROR(file_->ReadAt(origin_ + offset, *copy));
  return Chunk(*copy, copy);
}

}  // namespace cairn::frame
