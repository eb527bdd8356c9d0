// Bytes of a frame's file, past the end of any file, whose locks say who uses the frame.
#ifndef CAIRN_ENGINE_FRAME_FILES_LOCK_BYTES_H_
#define CAIRN_ENGINE_FRAME_FILES_LOCK_BYTES_H_

#include <cstdint>

namespace cairn::frame {

// The writer holds it exclusively.
inline constexpr int64_t kWriterLockByte = int64_t{1} << 62;
// In the index of a sparse frame: shared by its readers, whose lock keeps the chunk files that this
// index names.
inline constexpr int64_t kReaderLockByte = kWriterLockByte + 1;
// In a contiguous frame: shared by the readers of this generation's checkpoint; see
// format::kMaxGeneration.
constexpr int64_t ReaderLockByte(uint64_t generation) {
  return kReaderLockByte + static_cast<int64_t>(generation);
}

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_FILES_LOCK_BYTES_H_
