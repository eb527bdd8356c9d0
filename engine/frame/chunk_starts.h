// Where each chunk of a frame begins in the decoded data, for frames whose chunks differ in size.
#ifndef CAIRN_ENGINE_FRAME_CHUNK_STARTS_H_
#define CAIRN_ENGINE_FRAME_CHUNK_STARTS_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

namespace cairn::frame {

// Made on first use, which looks at the header of every chunk. Thread-safe; copies are empty.
class ChunkStarts {
 public:
  ChunkStarts() = default;
  ChunkStarts(const ChunkStarts&) : ChunkStarts() {}
  ChunkStarts& operator=(const ChunkStarts&) = delete;

  // nchunks + 1 numbers. `size_of` gives the decoded size of a chunk.
  absl::StatusOr<const std::vector<int64_t>*> Get(
      int64_t nchunks, absl::FunctionRef<absl::StatusOr<int32_t>(int64_t)> size_of) const;

 private:
  mutable std::mutex mutex_;
  mutable std::vector<int64_t> starts_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_CHUNK_STARTS_H_
