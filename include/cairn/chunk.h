// Functions for chunks, which are self-describing compressed bytes. They need no frame.
//
// All functions are thread-safe. They are also safe on hostile bytes: whatever a chunk contains, a
// function returns the data or an error.
//
// Errors of all functions:
//   kDataLoss if the bytes of the chunk are wrong.
//   kUnimplemented if a codec, a filter or a chunk version is not in this build; the message names
//     the id.
//   kInvalidArgument if the arguments are wrong.
#ifndef CAIRN_CHUNK_H_
#define CAIRN_CHUNK_H_

#include <array>
#include <cstdint>
#include <limits>
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

// Bytes [begin, end) of the decoded content of a chunk.
struct ByteRange {
  int64_t begin = 0;
  int64_t end = 0;
};

// Describes the content of a chunk header. Sizes are in bytes.
struct ChunkInfo {
  // Version of the chunk format: 1 and 2 are Blosc1, 3 and 4 are pre-releases of Blosc2, 5 is
  // Blosc2 and 6 is Blosc2 with vlblocks.
  int version = 0;
  bool extended = false;    // true for the long header of Blosc2, false for that of Blosc1
  int32_t header_size = 0;  // 32 or 16
  int32_t typesize = 0;     // 1..255
  int32_t nbytes = 0;       // decoded size
  int32_t cbytes = 0;       // size of the chunk, including the header
  int32_t blocksize = 0;    // decoded size of a block; 0 if blocks vary
  int32_t nblocks = 0;
  // Codec of the blocks. It is kLz4 for LZ4HC in Blosc1 form, which looks like LZ4.
  Codec codec = Codec::kBloscLz;
  uint8_t codec_meta = 0;
  std::array<FilterStage, kMaxFilters> filters{};  // slot 0 is applied first when compressing
  SpecialValue special = SpecialValue::kNone;
  bool memcpyed = false;  // the payload is stored uncompressed
  bool split = false;     // a block is one stream per byte position of its items
  bool vlblocks = false;
  bool has_dict = false;
};

// Numbers or bytes of the items of a chunk, and what codes them.
struct CodedColumn {
  int32_t offset = 0;  // bytes from the start of the item
  ItemColumn column;
  Codec codec = Codec::kZstd;  // kPco, kBitpack, kZstd or kLz4
  bool shuffled = false;       // for kZstd and kLz4: after SHUFFLE
  bool operator==(const CodedColumn&) const = default;
};

// Holds a chunk and the owner that keeps its bytes alive. Cheap to copy.
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

// Returns the largest size of a chunk with nbytes of payload. Sizes stop at the greatest size_t.
constexpr size_t MaxCompressedSize(size_t nbytes) {
  constexpr size_t kMost = std::numeric_limits<size_t>::max();
  return nbytes <= kMost - 32 ? nbytes + 32 : kMost;
}

// Parses and checks the header of a chunk, and reads no other byte. `chunk` may be longer than the
// chunk.
CAIRN_EXPORT absl::StatusOr<ChunkInfo> InspectChunk(Bytes chunk);

// Compresses src, at most kMaxChunkBytes, into dst and returns the size of the chunk. A dst of
// MaxCompressedSize(src.size()) bytes is always enough.
// Errors: kResourceExhausted if the chunk does not fit into a smaller dst.
CAIRN_EXPORT absl::StatusOr<size_t> CompressChunk(Bytes src, const CompressionOptions& options,
                                                  MutableBytes dst);

// Returns the largest size of a chunk of variable blocks. The sum holds the bytes, an offset and a
// size for each block, a dictionary with its length, and the header. Sizes stop at the greatest
// size_t.
constexpr size_t MaxVlCompressedSize(size_t nbytes, size_t nblocks) {
  constexpr size_t kMost = std::numeric_limits<size_t>::max() - (4 + 32768) - 32;
  if (nblocks > kMost / (4 + 4) || nbytes > kMost - (4 + 4) * nblocks) {
    return std::numeric_limits<size_t>::max();
  }
  return nbytes + (4 + 4) * nblocks + (4 + 32768) + 32;
}
// Makes one chunk of exactly the given blocks, none of which may be empty, and returns its size. A
// dst of MaxVlCompressedSize bytes is always enough.
// Errors: kResourceExhausted if the chunk does not fit into a smaller dst.
CAIRN_EXPORT absl::StatusOr<size_t> CompressVlBlocks(std::span<const Bytes> blocks,
                                                     const CompressionOptions& options,
                                                     MutableBytes dst);

// Makes a chunk of nbytes of one value, which stores no data. Only kRepeat takes a `value`, whose
// size is the width that repeats. kNans needs a typesize of 4 or 8.
CAIRN_EXPORT absl::StatusOr<std::vector<std::byte>> MakeSpecialChunk(
    SpecialValue special, int32_t nbytes, Bytes value, const CompressionOptions& options);

// Decodes a complete chunk into dst, which must have exactly its nbytes. Uninitialised values read
// as zeros.
CAIRN_EXPORT absl::Status DecompressChunk(Bytes chunk, MutableBytes dst,
                                          const DecompressionOptions& options = {});

// Fills dst with the items of a chunk from number `start` on. The size of dst must be a multiple of
// the chunk's typesize. Only the blocks that hold the items are decoded.
//
// Errors: kOutOfRange if the items do not all exist; kResourceExhausted if a block that is larger
// than dst takes more than 256 MiB of memory to decode (see docs/security.md).
CAIRN_EXPORT absl::Status DecompressItems(Bytes chunk, int64_t start, MutableBytes dst,
                                          const DecompressionOptions& options = {});

// Compresses many chunks, as CompressChunk does one. It checks the options once and keeps the
// codec's state and all scratch memory from call to call. Later calls then allocate nothing, which
// would take most of the time for chunks below 64 KiB.
//
// Thread-safe: each concurrent call gets its own memory, which is freed with the compressor.
class CAIRN_EXPORT ChunkCompressor {
 public:
  // Makes a compressor.
  // Errors: kInvalidArgument or kUnimplemented if no chunk can be made with these options.
  static absl::StatusOr<ChunkCompressor> Make(const CompressionOptions& options);
  ChunkCompressor(ChunkCompressor&&) noexcept;
  ChunkCompressor& operator=(ChunkCompressor&&) noexcept;
  ~ChunkCompressor();

  // Compresses one chunk into the same bytes as CompressChunk, with the same errors.
  absl::StatusOr<size_t> Compress(Bytes src, MutableBytes dst) const;

 private:
  struct State;
  explicit ChunkCompressor(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Decompresses many chunks, as DecompressChunk and DecompressItems do one. Thread-safe.
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

// Returns the decoded sizes of a chunk's blocks in order. All except the last are blocksize, unless
// the chunk has vlblocks. The list is empty for chunks without blocks, which are plain copies and
// special values.
CAIRN_EXPORT absl::StatusOr<std::vector<int32_t>> BlockSizes(Bytes chunk);

// Returns the columns of the first block that a codec of numbers coded. There are none if no block
// was, such as in chunks of other codecs and in special ones.
CAIRN_EXPORT absl::StatusOr<std::vector<CodedColumn>> CodedColumns(Bytes chunk);

}  // namespace cairn

#endif  // CAIRN_CHUNK_H_
