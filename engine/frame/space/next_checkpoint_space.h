// The space of a contiguous frame's file as a checkpoint that is not written yet leaves it.
#ifndef CAIRN_ENGINE_FRAME_SPACE_NEXT_CHECKPOINT_SPACE_H_
#define CAIRN_ENGINE_FRAME_SPACE_NEXT_CHECKPOINT_SPACE_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "cairn/file_system.h"
#include "engine/base/extent.h"
#include "engine/format/seal.h"
#include "engine/frame/space/frame_space.h"

namespace cairn::frame {

// Finds a place for the checkpoint's index, and becomes the space of the frame when the checkpoint
// is durable. Until then the frame keeps its own. Not thread-safe.
class NextCheckpointSpace {
 public:
  // `space` is that of the frame, with what is staged. The journal up to `journal_end` leads to the
  // checkpoint, which is of that generation.
  NextCheckpointSpace(FrameSpace space, uint64_t generation, int64_t journal_end)
      : space_(std::move(space)), journal_end_(journal_end) {
    space_.MakeNext(generation, journal_end);
  }

  // Frees what is dead and no reader sees; see FrameSpace.
  void Release(const File& file, uint64_t oldest) { space_.Release(file, oldest); }

  // Returns free space for a checkpoint of up to `size` bytes after which no chunk lies, so that
  // the frame gets shorter.
  std::optional<Extent> FindBelow(int64_t size) const;
  // Returns where an index begins that lies after the journal: after all that readers need or, if
  // the frame would then take more than this many times what is used of it, at the first `size`
  // bytes between.
  int64_t FindAbove(int64_t size, int64_t times) const;
  // The index begins there, or at another place than the last call said.
  void PlaceIndex(int64_t begin) { space_.PlaceIndex(begin, journal_end_); }

  int64_t journal_end() const { return journal_end_; }
  // The space of the frame after the checkpoint.
  const FrameSpace& after() const { return space_; }
  // Makes it the space of the frame.
  FrameSpace Take() && { return std::move(space_); }

 private:
  FrameSpace space_;
  int64_t journal_end_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_SPACE_NEXT_CHECKPOINT_SPACE_H_
