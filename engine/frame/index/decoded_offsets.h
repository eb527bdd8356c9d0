// Tells where each chunk of a frame begins in the decoded data, for frames whose chunks differ in
// size.
#ifndef CAIRN_ENGINE_FRAME_INDEX_DECODED_OFFSETS_H_
#define CAIRN_ENGINE_FRAME_INDEX_DECODED_OFFSETS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/base/mutex.h"
#include "engine/chunk/header.h"

namespace cairn::frame {

// Returns the most variable-size chunks that are accepted for `area` stored bytes. Locating a chunk
// costs a read of its header. The floor of 2^20 allows for special chunks, which store nothing.
constexpr int64_t MaxVariableChunks(int64_t area) {
  return std::max(int64_t{1} << 20, area / chunk::kBlosc1HeaderSize);
}

// The facts that DecodedOffsets asks of a frame.
struct ChunkSizes {
  int64_t nchunks;
  int64_t nbytes;  // of all chunks, from the frame's header
  // Returns the size in the chunk's own header, which nothing has checked.
  absl::FunctionRef<absl::StatusOr<int32_t>(int64_t nchunk)> size_of;
  // Checks the chunk against its fingerprint.
  absl::FunctionRef<absl::Status(int64_t nchunk)> check;
};

// Made on first use, which reads the header of every chunk. Thread-safe. Copies are empty.
class DecodedOffsets {
 public:
  // The most starts that are kept. With more chunks only one of every few is kept, because a small
  // file may claim very many.
  static constexpr int64_t kMostKept = int64_t{1} << 22;

  struct Place {
    int64_t nchunk = 0;
    int64_t begin = 0;
  };

  DecodedOffsets() = default;
  DecodedOffsets(const DecodedOffsets&) : DecodedOffsets() {}
  DecodedOffsets& operator=(const DecodedOffsets&) = delete;

  // Finds the chunk that holds a byte. A damaged chunk leaves only the bytes before it to be found.
  absl::StatusOr<Place> Find(int64_t position, const ChunkSizes& sizes) const;

 private:
  void Build(const ChunkSizes& sizes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  mutable bool built_ ABSL_GUARDED_BY(mutex_) = false;
  // The number of chunks from one start to the next.
  mutable int64_t stride_ ABSL_GUARDED_BY(mutex_) = 1;
  // The places where chunks 0, stride, 2 * stride, … begin.
  mutable std::vector<int64_t> starts_ ABSL_GUARDED_BY(mutex_);
  mutable int64_t end_ ABSL_GUARDED_BY(mutex_) = 0;      // end of the good chunks
  mutable absl::Status damage_ ABSL_GUARDED_BY(mutex_);  // tells why there are no more
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_INDEX_DECODED_OFFSETS_H_
