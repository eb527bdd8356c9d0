// The interface through which staged chunks go into files.
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

// The most bytes that the files of a frame may take.
struct SizeLimit {
  std::string path = {};  // for messages
  int64_t bytes = INT64_MAX;

  // Errors: kResourceExhausted if `size` bytes are over the limit.
  absl::Status Check(int64_t size) const {
    if (size <= bytes) return absl::OkStatus();
    return AtPath(
        path,
        ResourceExhausted("the files would take %d bytes, more than the limit of %d", size, bytes));
  }
};

// Stores chunks. Nothing refers to them until a commit does. Not thread-safe.
class ChunkSink {
 public:
  virtual ~ChunkSink() = default;
  // Takes a chunk and returns its entry in the index.
  virtual absl::StatusOr<int64_t> Append(Bytes chunk) = 0;
  // Frees the space of a chunk that was appended since the last commit. Returns false if it cannot.
  virtual bool TakeBack(const IndexEntry& /*entry*/) { return false; }
  // Brings everything to the files, so that it can be read.
  virtual absl::Status Flush() = 0;
  // Returns true if the chunk of that entry is not in the files yet.
  virtual bool IsPending(int64_t /*entry*/) const { return false; }
  // Returns a source that reads the chunks of `base` and those that were flushed.
  virtual absl::StatusOr<std::shared_ptr<const ChunkSource>> Source(const State& base) = 0;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STAGE_CHUNK_SINK_H_
