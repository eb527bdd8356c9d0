// Chunks: self-describing compressed bytes. These functions need no frame.
//
// All of them are thread-safe, and safe on hostile bytes: they give the data or a status, whatever
// a chunk holds. kDataLoss means that the bytes are wrong, kUnimplemented that they need a codec,
// filter or version that this build lacks (the message names the id), kInvalidArgument that the
// arguments are wrong.
#ifndef CAIRN_CHUNK_H_
#define CAIRN_CHUNK_H_

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "cairn/types.h"

namespace cairn {

// The content of a chunk header.
struct ChunkInfo {
  int version = 0;          // chunk format: 1, 2 Blosc1; 3, 4 pre-releases of Blosc2; 5; 6 vlblocks
  bool extended = false;    // the long header of Blosc2, else that of Blosc1
  int32_t header_size = 0;  // bytes: 32 or 16
  int32_t typesize = 0;     // 1..255
  int32_t nbytes = 0;       // decoded size
  int32_t cbytes = 0;       // size of the chunk, header included
  int32_t blocksize = 0;    // decoded size of a block; 0 when blocks vary
  int32_t nblocks = 0;
  Codec codec = Codec::kBloscLz;  // LZ4 and LZ4HC chunks look alike in Blosc1 form: kLz4
  uint8_t codec_meta = 0;
  std::array<FilterStage, kMaxFilters> filters{};  // slot 0 is applied first when compressing
  SpecialValue special = SpecialValue::kNone;
  bool memcpyed = false;  // the payload is stored as it is
  bool split = false;     // one stream a byte position
  bool vlblocks = false;
  bool has_dict = false;
};

// A chunk and what keeps its bytes alive. Cheap to copy.
class CAIRN_EXPORT Chunk {
 public:
  Chunk() = default;  // no bytes
  Chunk(Bytes bytes, std::shared_ptr<const void> owner) : bytes_(bytes), owner_(std::move(owner)) {}
  [[nodiscard]] Bytes bytes() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return bytes_; }
  [[nodiscard]] const std::shared_ptr<const void>& owner() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return owner_;
  }

 private:
  Bytes bytes_;
  std::shared_ptr<const void> owner_;
};

// Largest size of a chunk of nbytes of payload.
constexpr size_t MaxCompressedSize(size_t nbytes) { return nbytes + 32; }

// Parses and checks the header; reads no other byte. `chunk` may be longer than the chunk.
CAIRN_EXPORT absl::StatusOr<ChunkInfo> InspectChunk(Bytes chunk);

// Compresses src (at most kMaxChunkBytes) into dst and returns the size of the chunk. A dst of
// MaxCompressedSize(src.size()) is always enough; a smaller one may give kResourceExhausted.
CAIRN_EXPORT absl::StatusOr<size_t> CompressChunk(Bytes src, const CompressionOptions& options,
                                                  MutableBytes dst);

// Largest size of a chunk of variable blocks: the bytes, an offset and a size for each block, a
// dictionary with its length, and the header.
constexpr size_t MaxVlCompressedSize(size_t nbytes, size_t nblocks) {
  return nbytes + (4 + 4) * nblocks + (4 + 32768) + 32;
}
// Makes one chunk of exactly the given blocks, none of them empty. A dst of MaxVlCompressedSize is
// always enough; a smaller one may give kResourceExhausted.
CAIRN_EXPORT absl::StatusOr<size_t> CompressVlBlocks(std::span<const Bytes> blocks,
                                                     const CompressionOptions& options,
                                                     MutableBytes dst);

// Makes a chunk of nbytes of one value that stores no data. `value` is given with kRepeat only; its
// size is the width that repeats. kNans needs a typesize of 4 or 8.
CAIRN_EXPORT absl::StatusOr<std::vector<std::byte>> MakeSpecialChunk(
    SpecialValue special, int32_t nbytes, Bytes value, const CompressionOptions& options);

// Decodes all of the chunk; dst must have its nbytes. Uninitialised values read as zeros.
CAIRN_EXPORT absl::Status DecompressChunk(Bytes chunk, MutableBytes dst,
                                          const DecompressionOptions& options = {});

// Decodes the items from number `start` on that fill dst, whose size is a multiple of the chunk's
// typesize; decodes only the blocks that hold them. kOutOfRange past the last item;
// kResourceExhausted where a block that is larger than dst takes more than 256 MiB to decode (see
// docs/security.md).
CAIRN_EXPORT absl::Status DecompressItems(Bytes chunk, int64_t start, MutableBytes dst,
                                          const DecompressionOptions& options = {});

// CompressChunk for programs that make many chunks: checks the options once and keeps the codec's
// state and all scratch memory from call to call, so that later calls allocate nothing. Below
// 64 KiB that is most of the time. Thread-safe: concurrent calls get memory of their own, which is
// freed with the compressor.
class CAIRN_EXPORT ChunkCompressor {
 public:
  // kInvalidArgument or kUnimplemented for options that no chunk can be made with.
  static absl::StatusOr<ChunkCompressor> Make(const CompressionOptions& options);
  ChunkCompressor(ChunkCompressor&&) noexcept;
  ChunkCompressor& operator=(ChunkCompressor&&) noexcept;
  ~ChunkCompressor();

  // As CompressChunk; the bytes are the same.
  absl::StatusOr<size_t> Compress(Bytes src, MutableBytes dst) const;

 private:
  struct State;
  explicit ChunkCompressor(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Decompresses many chunks, as DecompressChunk and DecompressItems do for one. Thread-safe.
class CAIRN_EXPORT ChunkDecompressor {
 public:
  explicit ChunkDecompressor(const DecompressionOptions& options = {});
  ChunkDecompressor(ChunkDecompressor&&) noexcept;
  ChunkDecompressor& operator=(ChunkDecompressor&&) noexcept;
  ~ChunkDecompressor();

  absl::Status Decompress(Bytes chunk, MutableBytes dst) const;
  absl::Status DecompressItems(Bytes chunk, int64_t start, MutableBytes dst) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Decoded sizes of a chunk's blocks in order: blocksize for all but the last, or those of the
// vlblocks. Empty for chunks without blocks: plain copies and special values.
CAIRN_EXPORT absl::StatusOr<std::vector<int32_t>> BlockSizes(Bytes chunk);

}  // namespace cairn

#endif  // CAIRN_CHUNK_H_
