// Knows the space of a contiguous frame's file after a checkpoint that is not written yet.
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
  // `space` is the space of the frame with the staged edits. The journal up to `journal_end` leads
  // to the checkpoint, which has that generation.
  NextCheckpointSpace(FrameSpace space, uint64_t generation, int64_t journal_end)
      : space_(std::move(space)), journal_end_(journal_end) {
    space_.MakeNext(generation, journal_end);
  }

  // Frees dead bytes that no reader sees; see FrameSpace.
  void Release(const File& file, uint64_t oldest) { space_.Release(file, oldest); }

  // Returns free space of at least `size` bytes that no live chunk follows. A checkpoint there
  // makes the frame shorter.
  std::optional<Extent> FindBelow(int64_t size) const;
  // Returns the position of an index after the journal. It lies after all bytes that readers need.
  // But if the frame would then take more than `times` times its used bytes, the index lies at the
  // first `size` bytes between them.
  int64_t FindAbove(int64_t size, int64_t times) const;
  // Moves the index to `begin`, also if an earlier call placed it elsewhere.
  void PlaceIndex(int64_t begin) { space_.PlaceIndex(begin, journal_end_); }

  int64_t journal_end() const { return journal_end_; }
  // The space of the frame after the checkpoint.
  const FrameSpace& after() const { return space_; }
  // Returns this as the space of the frame.
  FrameSpace Take() && { return std::move(space_); }

 private:
  FrameSpace space_;
  int64_t journal_end_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_SPACE_NEXT_CHECKPOINT_SPACE_H_
