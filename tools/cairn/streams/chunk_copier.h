// Brings the chunks of one frame into another.
#ifndef CAIRN_TOOLS_CAIRN_STREAMS_CHUNK_COPIER_H_
#define CAIRN_TOOLS_CAIRN_STREAMS_CHUNK_COPIER_H_

#include <cstdint>

#include "absl/status/status.h"

#include "cairn/options.h"
#include "cairn/snapshot.h"
#include "cairn/writer.h"

namespace cairn::tool {

enum class CopyMode {
  kAsTheyAre,  // the compressed chunks; coded again only where a frame of today cannot hold them
  kRecode      // as the new frame says
};

class ChunkCopier {
 public:
  // Appends to `to`, whose items have `typesize` bytes. Both must stay in place.
  ChunkCopier(const Snapshot& from, Writer& to, int32_t typesize, CopyMode mode)
      : from_(from), to_(to), typesize_(typesize), mode_(mode) {}

  // Chunks come in their order. Special values stay special where the new frame allows.
  absl::Status Copy(int64_t nchunk);

  // Decodes the chunk, which is not copied: kDataLoss for a damaged one.
  absl::Status Check(int64_t nchunk) const;
  // Puts a chunk of the same size in the place of a damaged one: of `fill`, an item, or where that
  // is empty a hole, which cannot be read. `compression` is that of the new frame.
  absl::Status Skip(int64_t nchunk, Bytes fill, const CompressionOptions& compression);

  // Decoded bytes so far.
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
