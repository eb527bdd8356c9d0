// Copies the chunks of one frame into another.
#ifndef CAIRN_TOOLS_CAIRN_STREAMS_CHUNK_COPIER_H_
#define CAIRN_TOOLS_CAIRN_STREAMS_CHUNK_COPIER_H_

#include <cstdint>

#include "absl/status/status.h"

#include "cairn/options.h"
#include "cairn/snapshot.h"
#include "cairn/writer.h"

namespace cairn::tool {

enum class CopyMode {
  kAsTheyAre,  // compressed chunks, recompressed only if a frame of today cannot hold them
  kRecode      // with the options of the new frame
};

class ChunkCopier {
 public:
  // Appends to `to`, whose items have `typesize` bytes. Both must stay in place.
  ChunkCopier(const Snapshot& from, Writer& to, int32_t typesize, CopyMode mode)
      : from_(from), to_(to), typesize_(typesize), mode_(mode) {}

  // Call this for chunks in their order. Special values stay special if the new frame allows it.
  absl::Status Copy(int64_t nchunk);

  // Decodes the chunk without copying it. Errors: kDataLoss if it is damaged.
  absl::Status Check(int64_t nchunk) const;
  // Puts a chunk of equal size in the place of a damaged one. It is made of `fill`, an item, or if
  // that is empty it is a hole, which cannot be read. `compression` is that of the new frame.
  absl::Status Skip(int64_t nchunk, Bytes fill, const CompressionOptions& compression);

  // Returns the decoded bytes so far.
  int64_t nbytes() const { return nbytes_; }

 private:
  absl::Status CopySpecial(const Chunk& chunk, const ChunkInfo& info);
  absl::Status CopyItems(int64_t nchunk, int32_t size);
  bool MayBeMade(int64_t nchunk) const;

  const Snapshot& from_;
  Writer& to_;
  int32_t typesize_;
  CopyMode mode_;
  int64_t nbytes_ = 0;
};

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_STREAMS_CHUNK_COPIER_H_
