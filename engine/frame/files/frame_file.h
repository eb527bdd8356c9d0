// The open file of a frame, and the one class that knows where in that file the frame begins.
#ifndef CAIRN_ENGINE_FRAME_FILES_FRAME_FILE_H_
#define CAIRN_ENGINE_FRAME_FILES_FRAME_FILE_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "engine/frame/files/frame_view.h"
#include "engine/frame/files/generation_locks.h"

namespace cairn::frame {

// Positions count from the start of the frame. Cheap to copy, thread-safe.
class FrameFile {
 public:
  FrameFile() = default;  // nowhere
  static FrameFile OfFile(const std::shared_ptr<File>& file, int64_t origin, bool use_mmap) {
    FrameFile opened;
    opened.file_ = file;
    opened.readers_ = std::make_shared<GenerationLocks>(file);
    opened.origin_ = origin;
    opened.use_mmap_ = use_mmap;
    return opened;
  }
  // The index file of a sparse frame, and the directory that it lies in.
  static FrameFile OfIndex(const std::shared_ptr<File>& file, std::shared_ptr<FileSystem> directory,
                           bool use_mmap) {
    FrameFile opened = OfFile(file, 0, use_mmap);
    opened.directory_ = std::move(directory);
    return opened;
  }

  // Bytes from the start of the frame to the end of the file. kOutOfRange for a frame that begins
  // after that end.
  absl::StatusOr<int64_t> Size() const;
  absl::Status ReadAt(int64_t position, MutableBytes dst) const {
    return file_->ReadAt(origin_ + position, dst);
  }
  // The same, but as much as there is; the number of bytes read.
  absl::StatusOr<size_t> ReadSome(int64_t position, MutableBytes dst) const {
    return file_->ReadSome(origin_ + position, dst);
  }
  // The first `size` bytes of the frame.
  absl::StatusOr<FrameView> View(int64_t size) const { return View(size, 0); }
  // The same of a frame that has grown since `before` was viewed, and will go on growing.
  absl::StatusOr<FrameView> ViewMore(const FrameView& before, int64_t size) const;

  // Keeps what the checkpoint of this generation needs from being reclaimed while it lives.
  // kUnavailable.
  absl::StatusOr<std::shared_ptr<const void>> Register(uint64_t generation) const {
    return GenerationLocks::Hold(readers_, generation);
  }

  int64_t origin() const { return origin_; }
  const std::shared_ptr<const File>& file() const { return file_; }
  // Null unless this is a sparse frame.
  const std::shared_ptr<FileSystem>& directory() const { return directory_; }

 private:
  absl::StatusOr<FrameView> View(int64_t size, int64_t headroom) const;

  std::shared_ptr<const File> file_;
  std::shared_ptr<GenerationLocks> readers_;
  std::shared_ptr<FileSystem> directory_;
  int64_t origin_ = 0;
  bool use_mmap_ = true;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_FILES_FRAME_FILE_H_
