// Where staged chunks go.
#ifndef CAIRN_ENGINE_FRAME_STAGE_CHUNK_SINK_H_
#define CAIRN_ENGINE_FRAME_STAGE_CHUNK_SINK_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "engine/base/status.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// What the files of a frame may take.
struct SizeLimit {
  std::string path = {};  // for messages
  int64_t bytes = INT64_MAX;

  // kResourceExhausted unless `size` bytes are within it.
  absl::Status Check(int64_t size) const {
    if (size <= bytes) return absl::OkStatus();
    return AtPath(path, ResourceExhausted("%d bytes pass the limit of %d", size, bytes));
  }
};

// Nothing refers to what is written here until a commit does. Not thread-safe.
class ChunkSink {
 public:
  virtual ~ChunkSink() = default;
  // Takes a chunk and returns its entry in the index.
  virtual absl::StatusOr<int64_t> Append(Bytes chunk) = 0;
  // The space of a chunk that was taken since the last commit is free again, if it can be.
  virtual bool TakeBack(const IndexEntry& /*entry*/) { return false; }
  // Brings everything to the files, so that it can be read.
  virtual absl::Status Flush() = 0;
  // Whether the chunk of that entry is not in the files yet.
  virtual bool IsPending(int64_t /*entry*/) const { return false; }
  // Reads the chunks of `base` and those that were flushed.
  virtual absl::StatusOr<std::shared_ptr<const ChunkSource>> Source(const State& base) = 0;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STAGE_CHUNK_SINK_H_
