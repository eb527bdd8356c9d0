// Decodes chunks of every version and form.
#ifndef CAIRN_ENGINE_CHUNK_DECODER_H_
#define CAIRN_ENGINE_CHUNK_DECODER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/executor.h"
#include "cairn/options.h"
#include "cairn/types.h"
#include "engine/chunk/header.h"
#include "engine/chunk/item_fields.h"
#include "engine/chunk/parallel.h"
#include "engine/chunk/workspace.h"
#include "engine/codec/stream_codec.h"
#include "engine/filter/pipeline.h"

namespace cairn::chunk {

// The facts that a chunk does not hold itself. Whatever this points to must outlive the decoder.
struct DecodeContext {
  const Registry* registry = nullptr;
  Executor* executor = nullptr;
  WorkspacePool* pool = nullptr;                    // required
  int64_t max_memory = Limits().max_decode_memory;  // apart from the caller's buffer
  int32_t frame_typesize = 0;           // typesize of the frame around the chunk; 0: none
  bool whole_block_bitshuffle = false;  // the frame is older than 2.0.0.beta.5
  std::span<const int32_t> blockshape;  // the frame is an n-dimensional array
};

// The place of one block's streams, and of the bytes that they decode to.
struct BlockPlace {
  int64_t block = 0;   // its number
  int64_t begin = 0;   // in the decoded chunk
  int32_t nbytes = 0;  // decoded
  int32_t start = 0;   // in the chunk
  int32_t stored = 0;  // vlblocks: compressed size; else unknown, 0
};

// Checks that decoding a block takes no more memory than the context allows.
// Errors: kResourceExhausted if it does.
absl::Status CheckDecodeMemory(const DecodeContext& context, int64_t block, int64_t memory);

// Decodes one chunk. Reads `chunk` only inside its bounds. Thread-safe once it is open.
class Decoder {
 public:
  // Makes a decoder of a chunk of no bytes, until Open.
  Decoder() = default;
  // Opens the decoder, once, in place because chunks are many. Checks the header and the block
  // positions that are needed to find any block.
  absl::Status Open(Bytes chunk, const DecodeContext& context);
  // Opens the decoder of a chunk whose header is already parsed.
  absl::Status Open(Bytes chunk, const Header& header, const DecodeContext& context);

  const Header& header() const { return header_; }
  // Returns the chunk, without the bytes that may follow it.
  Bytes bytes() const { return chunk_; }
  int32_t nbytes() const { return header_.nbytes; }

  // Decodes everything. dst has nbytes() bytes.
  absl::Status Decode(MutableBytes dst) const;
  // Decodes bytes [begin, begin + dst.size()), and only the blocks that hold them. If the other
  // blocks are coded against block 0, that is decoded too. If a block holds more than is wanted,
  // codec and filters decode only as much as they need. This thread works in `workspace`. Errors:
  // kOutOfRange if the chunk does not have these bytes.
  absl::Status DecodeRange(int64_t begin, MutableBytes dst, Workspace& workspace) const;
  absl::Status DecodeRange(int64_t begin, MutableBytes dst) const;

  // Decodes fields of items. In shuffled blocks this takes only the planes that hold them. If each
  // plane is a stream of its own, the others are not decoded, so damage there is not seen.
  absl::Status DecodeFields(const ItemRange& items, const ItemFields& fields,
                            Workspace& workspace) const;

  int64_t nblocks() const { return header_.nblocks(); }
  absl::StatusOr<BlockPlace> PlaceOf(int64_t block) const;
  // Returns the block that holds a byte of the decoded chunk.
  int64_t BlockAt(int64_t position) const;
  // Checks the memory for a caller that decodes a block into memory of its own, and takes `beside`
  // bytes more. Errors: kResourceExhausted if that passes the context's limit.
  absl::Status CheckMemory(const BlockPlace& place, int64_t beside = 0) const;
  // Returns the end of a piece of complete blocks. The piece begins at `begin`, where a block does,
  // has about `size` bytes, and can be decoded into such memory. Errors: kResourceExhausted if not
  // even one block can.
  absl::StatusOr<int64_t> PieceEnd(int64_t begin, int64_t size) const;

 private:
  friend class FieldDecoder;
  friend absl::StatusOr<std::vector<numbers::Column>> ReadColumns(const Decoder& decoder);

  // A stream of a block as it is stored.
  struct Stream {
    Bytes stored;     // empty: a run
    std::byte run{};  // the byte that it repeats
    bool is_run() const { return stored.empty(); }
  };

  absl::Status OpenBody(Bytes chunk, const DecodeContext& context);
  absl::Status ReadDictionary();
  absl::Status ReadVlBlocks();
  bool NeedsReference() const { return pipeline_.uses_reference() && !header_.vlblocks; }
  int64_t MemoryFor(int64_t nbytes, bool reference) const;
  absl::StatusOr<Executor*> ChooseExecutor(BlockRange range, int64_t begin, int64_t size,
                                           bool reference) const;
  absl::Status DecodeBlocks(int64_t begin, MutableBytes dst, Workspace& workspace) const;
  // Decodes the bytes of [begin, begin + dst.size()) that a block has.
  absl::Status DecodeOverlap(int64_t block, Bytes reference, int64_t begin, MutableBytes dst,
                             Workspace& workspace) const;
  absl::Status DecodeBlock(const BlockPlace& place, Bytes reference, MutableBytes out,
                           Workspace& workspace) const;
  // Decodes bytes [begin, begin + out.size()) of a block. Returns false if there is no shorter way
  // than to decode all of it.
  absl::StatusOr<bool> DecodePart(const BlockPlace& place, int64_t begin, MutableBytes out,
                                  Workspace& workspace) const;
  absl::Status GatherPart(const BlockPlace& place, const filter::BlockPart& part,
                          MutableBytes small, Workspace& workspace) const;
  // Decodes the streams of a block to their places in `out`, each the part that `wanted(begin,
  // end)` returns for its place.
  absl::Status DecodeStreams(const BlockPlace& place, MutableBytes out, Workspace& workspace,
                             absl::FunctionRef<codec::StreamPart(size_t, size_t)> wanted) const;
  // Decodes a part of a stream. `out` has room for all.
  absl::Status DecodeStream(const Stream& stream, const codec::StreamPart& part, MutableBytes out,
                            Workspace& workspace) const;
  // Decodes block 0, which the other blocks are coded against.
  absl::Status DecodeReference(MutableBytes out, Workspace& workspace) const;
  // Calls visit(stream, from, size) with each stream of a block and its place in the block.
  template <typename Visit>
  absl::Status ForEachStream(const BlockPlace& place, const Visit& visit) const;
  absl::Status PrepareWorkspace(Workspace& workspace) const;

  Bytes chunk_;
  Header header_;
  DecodeContext context_;
  Codec codec_ = Codec::kBloscLz;
  filter::Pipeline pipeline_;
  Bytes dict_;
  int64_t blocks_begin_ = 0;  // the first byte after positions and dictionary
  std::vector<BlockPlace> vlblocks_;
};

// Returns the columns of the first block that a codec of numbers coded, or none.
absl::StatusOr<std::vector<numbers::Column>> ReadColumns(const Decoder& decoder);

// Returns up to how many bytes lie between two items of a block that are decoded together sooner
// than one by one.
int64_t MaxGap(const Decoder& decoder);

}  // namespace cairn::chunk

#endif  // CAIRN_ENGINE_CHUNK_DECODER_H_
