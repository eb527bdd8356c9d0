// Writes staged chunks one behind the other, in large pieces.
#ifndef CAIRN_ENGINE_FRAME_CHUNK_LOG_H_
#define CAIRN_ENGINE_FRAME_CHUNK_LOG_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"

namespace cairn::frame {

// Nothing refers to what is written here until a commit does.
class ChunkLog {
 public:
  // Writes from `begin` on, which lies behind every committed byte.
  ChunkLog(File* file, int64_t begin) : file_(file), flushed_(begin) {}

  // Returns the position that the chunk will have.
  absl::StatusOr<int64_t> Append(Bytes chunk);
  // Brings everything to the file.
  absl::Status Flush();
  // The first free position.
  int64_t end() const { return flushed_ + static_cast<int64_t>(pending_.size()); }

 private:
  File* file_;
  int64_t flushed_;
  std::vector<std::byte> pending_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_CHUNK_LOG_H_
