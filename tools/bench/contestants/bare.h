// The limit: a codec's own library on the filtered blocks of a chunk, and the filter's kernel,
// without anything around them.
#ifndef CAIRN_TOOLS_BENCH_CONTESTANTS_BARE_H_
#define CAIRN_TOOLS_BENCH_CONTESTANTS_BARE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/chunk.h"
#include "cairn/options.h"
#include "cairn/types.h"

namespace cairn::bench {

// Returns true if there are kernels for the filters. They are those of C-Blosc2, if it was found.
bool HaveKernels();

// The library that codes zlib streams.
enum class ZlibLibrary { kZlib, kLibdeflate };
// Returns true if this was built with libdeflate.
bool HaveLibdeflate();

// A stream of a stored chunk.
struct Stream {
  Bytes stored;     // raw if it has the decoded size; empty: a run of `run`
  std::byte run{};  // the byte that it repeats
  size_t nbytes = 0;
};

struct StoredBlock {
  std::vector<Stream> streams;
  size_t nbytes = 0;
};

// Takes the blocks of a chunk apart beforehand. `chunk` must stay alive.
absl::StatusOr<std::vector<StoredBlock>> TakeApart(Bytes chunk);

// Supports the codecs LZ4, LZ4HC, zlib and zstd, with no filter, SHUFFLE or BITSHUFFLE. Keeps its
// contexts.
class BareCodec {
 public:
  static absl::StatusOr<BareCodec> Make(const CompressionOptions& options,
                                        ZlibLibrary zlib = ZlibLibrary::kZlib);
  BareCodec(BareCodec&&) noexcept;
  ~BareCodec();

  // Decodes blocks one after the other into dst.
  absl::Status Decode(std::span<const StoredBlock> blocks, MutableBytes dst);
  // Codes `raw` cut into blocks and streams like those of `info`, one stream after the other.
  // Returns the size of the result.
  absl::StatusOr<size_t> Encode(Bytes raw, const ChunkInfo& info, MutableBytes dst);

 private:
  struct Impl;
  explicit BareCodec(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace cairn::bench

#endif  // CAIRN_TOOLS_BENCH_CONTESTANTS_BARE_H_
