// The committed bytes of one frame, read in place or by copy.
#ifndef CAIRN_ENGINE_FRAME_FILES_FRAME_VIEW_H_
#define CAIRN_ENGINE_FRAME_FILES_FRAME_VIEW_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"

#include "cairn/chunk.h"
#include "cairn/file_system.h"
#include "cairn/types.h"
#include "engine/base/scratch_buffer.h"

namespace cairn::frame {

// Bytes [0, size) counted from the start of the frame; they do not change any more but for the
// header, of which states keep a copy of their own. Cheap to copy, thread-safe, keeps map or file
// alive.
class FrameView {
 public:
  FrameView() = default;
  // In place: the mapping begins where the frame begins, and shows `size` bytes or more.
  FrameView(std::shared_ptr<const Mapping> mapping, int64_t size)
      : mapping_(std::move(mapping)), in_place_(mapping_->bytes()), size_(size), owner_(mapping_) {}
  // By copy: the frame begins at `origin` of the file.
  FrameView(std::shared_ptr<const File> file, int64_t origin, int64_t size)
      : file_(std::move(file)), origin_(origin), size_(size) {}

  int64_t size() const { return size_; }
  bool in_place() const { return mapping_ != nullptr; }
  // The frame's size as its header tells it now, read as one word. The region is in place and
  // begins where a page does.
  int64_t LoadFrameSize() const;

  // Whether the file is seen to hold a zero at `position`, at or before size(). Looks only where
  // that costs no system call and the page cannot have been cut away.
  bool PeekIsZero(int64_t position) const;

  // The same bytes, in place, that can also be had by copy from the file behind the mapping.
  FrameView BackedBy(std::shared_ptr<const File> file, int64_t origin) const;
  // The same bytes by copy, where there is a file.
  FrameView Unmapped() const;
  // More bytes of the same file; empty when the mapping does not reach that far.
  std::optional<FrameView> Resized(int64_t size) const;
  // From now on whoever keeps bytes of this region keeps `what` as well.
  void Hold(std::shared_ptr<const void> what);
  const std::shared_ptr<const void>& held() const { return held_; }

  // Bytes [offset, offset + size): in place, or in `scratch`. kDataLoss outside the region.
  absl::StatusOr<Bytes> Read(int64_t offset, int64_t size, ScratchBuffer& scratch) const;
  // The same with an owner, for as long as the caller likes.
  absl::StatusOr<Chunk> Pin(int64_t offset, int64_t size) const;

 private:
  absl::Status Check(int64_t offset, int64_t size) const;
  // Reads the file, which has to have all of it.
  absl::Status Copy(int64_t offset, MutableBytes dst) const;

  std::shared_ptr<const Mapping> mapping_;
  Bytes in_place_;  // what it shows
  std::shared_ptr<const File> file_;
  int64_t origin_ = 0;
  int64_t size_ = 0;
  std::shared_ptr<const void> held_;
  std::shared_ptr<const void> owner_;  // of pinned bytes in place: the mapping and what is held
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_FILES_FRAME_VIEW_H_
