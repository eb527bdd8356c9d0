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
#include "engine/filter/pipeline.h"

namespace cairn::chunk {

// What a chunk does not say of itself. What it points to must outlive the decoder.
struct DecodeContext {
  const Registry* registry = nullptr;
  Executor* executor = nullptr;
  WorkspacePool* pool = nullptr;                    // required
  int64_t max_memory = Limits().max_decode_memory;  // beside the caller's buffer
  int32_t frame_typesize = 0;                       // of the frame around the chunk; 0: none
  bool whole_block_bitshuffle = false;              // the frame is older than 2.0.0.beta.5
  std::span<const int32_t> blockshape;              // the frame is an n-dimensional array
};

// Where one block's streams begin, and what they decode to.
struct BlockPlace {
  int64_t block = 0;   // its number
  int64_t begin = 0;   // in the decoded chunk
  int32_t nbytes = 0;  // decoded
  int32_t start = 0;   // in the chunk
  int32_t stored = 0;  // vlblocks: compressed size; else unknown, 0
};

// One chunk being decoded; reads `chunk` only inside its bounds. Thread-safe once it is open.
class Decoder {
 public:
  // Of a chunk of no bytes, until one is opened.
  Decoder() = default;
  // Done once, in place: chunks are many. Checks the header and the block positions that are needed
  // to find any block.
  absl::Status Open(Bytes chunk, const DecodeContext& context);
  // The same of a chunk whose header was parsed.
  absl::Status Open(Bytes chunk, const Header& header, const DecodeContext& context);

  const Header& header() const { return header_; }
  // The chunk, without what may follow it.
  Bytes bytes() const { return chunk_; }
  int32_t nbytes() const { return header_.nbytes; }

  // Decodes everything; dst has nbytes().
  absl::Status Decode(MutableBytes dst) const;
  // Decodes bytes [begin, begin + dst.size()), and only the blocks that hold them (and block 0
  // where the others are coded against it); of a block that holds more than is wanted, no more than
  // codec and filters need for that. kOutOfRange. This thread works in `workspace`.
  absl::Status DecodeRange(int64_t begin, MutableBytes dst, Workspace& workspace) const;
  absl::Status DecodeRange(int64_t begin, MutableBytes dst) const;

  // Decodes fields of items. Of shuffled blocks it takes only the planes that hold them, and where
  // each of these is a stream of its own, decodes no others: damage there is not seen.
  absl::Status DecodeFields(const ItemRange& items, const ItemFields& fields,
                            Workspace& workspace) const;

  int64_t nblocks() const { return header_.nblocks(); }
  absl::StatusOr<BlockPlace> PlaceOf(int64_t block) const;
  // The block that holds a byte of the decoded chunk.
  int64_t BlockAt(int64_t position) const;
  // For who decodes a block into memory of its own, and takes `beside` bytes more:
  // kResourceExhausted when that passes the context's limit.
  absl::Status CheckMemory(const BlockPlace& place, int64_t beside = 0) const;
  // Where a piece of complete blocks ends that begins where a block does, has about `size` bytes,
  // and can be decoded into such memory; kResourceExhausted when not even one block can.
  absl::StatusOr<int64_t> PieceEnd(int64_t begin, int64_t size) const;

 private:
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
  absl::Status CheckLimit(int64_t block, int64_t memory) const;
  absl::StatusOr<Executor*> ChooseExecutor(BlockRange range, int64_t begin, int64_t size,
                                           bool reference) const;
  absl::Status DecodeBlocks(int64_t begin, MutableBytes dst, Workspace& workspace) const;
  // Decodes what a block has of [begin, begin + dst.size()).
  absl::Status DecodeOverlap(int64_t block, Bytes reference, int64_t begin, MutableBytes dst,
                             Workspace& workspace) const;
  absl::Status DecodeBlock(const BlockPlace& place, Bytes reference, MutableBytes out,
                           Workspace& workspace) const;
  // Decodes bytes [begin, begin + out.size()) of a block; false when there is no shorter way than
  // to decode all of it.
  absl::StatusOr<bool> DecodePart(const BlockPlace& place, int64_t begin, MutableBytes out,
                                  Workspace& workspace) const;
  absl::Status GatherPart(const BlockPlace& place, const filter::BlockPart& part,
                          MutableBytes small, Workspace& workspace) const;
  // Decodes the streams of a block to their places in `out`, each up to the end that
  // `wanted(begin, end)` says of its place.
  absl::Status DecodeStreams(const BlockPlace& place, MutableBytes out, Workspace& workspace,
                             absl::FunctionRef<size_t(size_t, size_t)> wanted) const;
  // Decodes the first `wanted` bytes of a stream; `out` has room for all.
  absl::Status DecodeStream(const Stream& stream, size_t wanted, MutableBytes out,
                            Workspace& workspace) const;
  // Decodes block 0, which the others are coded against.
  absl::Status DecodeReference(MutableBytes out, Workspace& workspace) const;
  absl::Status DecodeFieldBlocks(const ItemRange& items, const ItemFields& fields,
                                 Workspace& workspace) const;
  // Of the items that begin in a block.
  absl::Status DecodeFieldsIn(const BlockPlace& place, Bytes reference, const ItemRange& items,
                              const ItemFields& fields, Workspace& workspace) const;
  // Of items that lie in a block of planes.
  absl::Status DecodePlanes(const BlockPlace& place, const ItemRange& items,
                            const ItemFields& fields, Workspace& workspace) const;
  // Decodes bytes that lie in any blocks.
  absl::Status DecodeAcross(int64_t begin, Bytes reference, MutableBytes dst,
                            Workspace& workspace) const;
  // Calls visit(stream, from, size) with each stream of a block, and where in the block it belongs.
  template <typename Visit>
  absl::Status ForEachStream(const BlockPlace& place, const Visit& visit) const;
  int64_t StreamsOf(const BlockPlace& place) const;
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

}  // namespace cairn::chunk

#endif  // CAIRN_ENGINE_CHUNK_DECODER_H_
