// A file that is scanned, read through a buffer.
#ifndef CAIRN_ENGINE_FRAME_REPAIR_BUFFERED_FILE_H_
#define CAIRN_ENGINE_FRAME_REPAIR_BUFFERED_FILE_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "cairn/types.h"
#include "engine/base/checked.h"
#include "engine/base/scratch_buffer.h"

namespace cairn::frame {

// Costs memory only for what is read at one time. The file must outlive it and keep its size.
class BufferedFile {
 public:
  // Reads `ahead` bytes at a time, or more when asked for more.
  static absl::StatusOr<BufferedFile> Open(const File& file, int64_t ahead);
  // Reads in place.
  static absl::StatusOr<BufferedFile> Map(const File& file);

  int64_t size() const { return size_; }
  // Bytes [offset, offset + size), valid until the next call. kOutOfRange past the end.
  absl::StatusOr<Bytes> Read(int64_t offset, int64_t size);
  // The same, but as many as there are before the end.
  absl::StatusOr<Bytes> ReadUpTo(int64_t offset, int64_t size);
  // The same without moving the buffer, for short reads elsewhere.
  absl::StatusOr<Bytes> ReadAsideUpTo(int64_t offset, int64_t size);

 private:
  BufferedFile(const File& file, int64_t size, int64_t ahead)
      : file_(&file), size_(size), ahead_(ahead) {}
  bool IsBuffered(int64_t offset, int64_t size) const {
    return RangeFits(offset - window_begin_, size, std::ssize(window_));
  }

  const File* file_;
  int64_t size_;
  int64_t ahead_;
  std::shared_ptr<const Mapping> mapping_;  // null: by copy
  ScratchBuffer buffer_;
  ScratchBuffer aside_;
  Bytes window_;
  int64_t window_begin_ = 0;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_REPAIR_BUFFERED_FILE_H_
