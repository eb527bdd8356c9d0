// Makes the chunk files of a sparse frame durable.
#ifndef CAIRN_ENGINE_FRAME_SYNC_CHUNK_FILE_SYNC_H_
#define CAIRN_ENGINE_FRAME_SYNC_CHUNK_FILE_SYNC_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"

#include "engine/base/mutex.h"
#include "engine/frame/files/frame_location.h"
#include "engine/frame/stage/sparse_sink.h"

namespace cairn::frame {

// Syncs the files that were added, and their directory. Thread-safe, except that only one thread
// may call Sync at a time.
class ChunkFileSync {
 public:
  explicit ChunkFileSync(FrameLocation location) : location_(std::move(location)) {}

  // Adds files that are perhaps not durable. They stay until the next Sync.
  void Add(std::span<const ChunkFile> files);
  int64_t count() const;
  // Makes the files that were added durable, and the directory with their names.
  absl::Status Sync();

 private:
  const FrameLocation location_;
  mutable Mutex mutex_;
  std::vector<ChunkFile> files_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_SYNC_CHUNK_FILE_SYNC_H_
