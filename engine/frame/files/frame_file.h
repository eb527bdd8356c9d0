// Where the bytes of a frame come from, and the one place that knows where in its file it begins.
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
    FrameFile source(file, nullptr, origin, use_mmap);
    source.readers_ = std::make_shared<GenerationLocks>(file);
    return source;
  }
  // The index file of a sparse frame, and the directory that it lies in.
  static FrameFile OfIndex(const std::shared_ptr<File>& file, std::shared_ptr<FileSystem> directory,
                           bool use_mmap) {
    FrameFile source = OfFile(file, 0, use_mmap);
    source.directory_ = std::move(directory);
    return source;
  }
  static FrameFile OfBuffer(std::shared_ptr<const Mapping> buffer, int64_t origin) {
    return FrameFile(nullptr, std::move(buffer), origin, true);
  }

  // Bytes from the start of the frame to the end of what holds it. kOutOfRange for a frame that
  // begins behind that end.
  absl::StatusOr<int64_t> Size() const;
  absl::Status ReadAt(int64_t position, MutableBytes dst) const;
  // The same, but as much as there is; the number of bytes read.
  absl::StatusOr<size_t> ReadSome(int64_t position, MutableBytes dst) const;
  // The first `size` bytes of the frame.
  absl::StatusOr<FrameView> View(int64_t size) const { return View(size, 0); }
  // The same of a frame that has grown since `before` was viewed, and will go on growing.
  absl::StatusOr<FrameView> ViewMore(const FrameView& before, int64_t size) const;

  // Keeps what the checkpoint of this generation needs from being reclaimed while it lives. Null
  // for a buffer; kUnavailable.
  absl::StatusOr<std::shared_ptr<const void>> Register(uint64_t generation) const {
    if (readers_ == nullptr) return nullptr;
    return GenerationLocks::Hold(readers_, generation);
  }

  int64_t origin() const { return origin_; }
  // Null for a buffer.
  const std::shared_ptr<const File>& file() const { return file_; }
  // Null unless this is a sparse frame.
  const std::shared_ptr<FileSystem>& directory() const { return directory_; }

 private:
  absl::StatusOr<FrameView> View(int64_t size, int64_t room) const;
  FrameFile(std::shared_ptr<const File> file, std::shared_ptr<const Mapping> buffer, int64_t origin,
            bool use_mmap)
      : file_(std::move(file)), buffer_(std::move(buffer)), origin_(origin), use_mmap_(use_mmap) {}

  std::shared_ptr<const File> file_;
  std::shared_ptr<GenerationLocks> readers_;
  std::shared_ptr<const Mapping> buffer_;
  std::shared_ptr<FileSystem> directory_;
  int64_t origin_ = 0;
  bool use_mmap_ = true;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_FILES_FRAME_FILE_H_
