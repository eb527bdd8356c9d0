// Writes a frame that does not exist until its first commit.
#ifndef CAIRN_ENGINE_FRAME_WRITER_CREATION_H_
#define CAIRN_ENGINE_FRAME_WRITER_CREATION_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "engine/base/status.h"
#include "engine/frame/files/replacement.h"
#include "engine/frame/layout/commit_backend.h"
#include "engine/frame/stage/array_editor.h"

namespace cairn::frame {

// Does the steps of creation that all layouts share. At the first checkpoint, the backend of the
// layout succeeds it. The stager of a new frame always has edits, so there is nothing to sync,
// reclaim or rewrite.
class Creation : public CommitBackend {
 public:
  // Creates a frame that is found at `location` from the first commit on.
  Creation(FrameLocation location, const CreateOptions& options, StatePtr state, bool plain)
      : CommitBackend(
            {}, {.compression = options.compression,
                 .chunksize = options.chunksize.nbytes().value_or(WriterOptions().chunksize)}),
        location_(std::move(location)),
        replace_(options.overwrite),
        is_array_(options.array.has_value()) {
    frame_.state = std::move(state);
    frame_.fingerprint = options.fingerprint;
    frame_.plain = plain && options.fingerprint == FingerprintType::kNone;
  }

  absl::StatusOr<ReclaimReport> ReclaimSpace(const ReclaimOptions& /*options*/) final {
    return absl::InternalError("the frame does not exist yet");
  }
  absl::StatusOr<int64_t> Rewrite(std::unique_ptr<LiveCopy> /*begun*/,
                                  ChunkProgress /*progress*/) final {
    return absl::InternalError("the frame does not exist yet");
  }
  bool IsPinned() const final { return false; }
  // Does nothing, because files without a name disappear with their owner.
  absl::Status DropUncommitted() final { return absl::OkStatus(); }
  std::unique_ptr<CommitBackend> Successor() final { return std::move(successor_); }

 protected:
  absl::StatusOr<std::unique_ptr<Stager>> StageInto(ChunkSink& sink) const {
    auto stager = std::make_unique<Stager>(frame_.state, sink, options_);
    stager->BeginFrame();
    if (is_array_) CAIRN_RETURN_IF_ERROR(ArrayEditor(*stager).BeginFrame());
    return stager;
  }
  // Locks the frame that is about to be replaced. If that is refused, the commit can be tried
  // again.
  absl::StatusOr<HeldFiles> LockOld() const {
    if (!replace_) return HeldFiles();
    auto held = LockForReplacement(location_.files, location_.path);
    return held.ok() ? std::move(held) : Refuse(held.status());
  }

  const FrameLocation location_;
  const bool replace_;  // true if the frame may take the name of another one
  const bool is_array_;
  std::unique_ptr<CommitBackend> successor_;  // null until the frame is published
};

// Returns the backend that creates a frame in an object store.
std::unique_ptr<CommitBackend> MakeObjectCreation(FrameLocation location,
                                                  const CreateOptions& options, StatePtr state);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_WRITER_CREATION_H_
