#include "engine/blosc2_api/chunks/decompress.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/chunk.h"
#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/blosc2_api/chunks/block_filters.h"
#include "engine/blosc2_api/chunks/chunk_head.h"
#include "engine/blosc2_api/chunks/coders.h"
#include "engine/blosc2_api/chunks/context.h"
#include "engine/blosc2_api/chunks/lazy_chunk.h"
#include "engine/blosc2_api/process/codes.h"

namespace cairn::blosc2_api {

namespace {

// A chunk that a caller gave, complete.
struct GivenChunk {
  ChunkHead head;
  Chunk chunk;  // with the bytes of a file, if the caller's chunk is lazy
};

// Returns a copy of a chunk of a newer version, which uses none of what that has brought, with the
// version that it could have.
Chunk AsOfToday(Bytes bytes, const ChunkHead& head) {
  auto copy = std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end());
  copy->front() =
      std::byte{head.vlblocks() ? kVersionFormatVlBlocks : uint8_t{BLOSC2_VERSION_FORMAT_STABLE}};
  const Bytes content = *copy;
  return Chunk(content, std::move(copy));
}

int Take(blosc2_context& context, const void* src, int32_t srcsize, GivenChunk& given) {
  const int code = ReadHead(src, srcsize, true, given.head);
  if (code < 0) return code;
  if (given.head.lazy())
    return FetchLazyChunk(context.schunk(), src, srcsize, given.head, given.chunk);
  if (given.head.cbytes > srcsize) {
    return Failed(BLOSC2_ERROR_INVALID_HEADER, "chunk: fewer bytes than its header says");
  }
  const Bytes bytes = BytesAt(src, given.head.cbytes);
  given.chunk = given.head.version > BLOSC2_VERSION_FORMAT ? AsOfToday(bytes, given.head)
                                                           : Chunk(bytes, nullptr);
  return BLOSC2_ERROR_SUCCESS;
}

// Decompresses the stretches of blocks that the mask leaves.
absl::Status DecompressUnmasked(const ChunkDecompressor& decompressor, const GivenChunk& given,
                                const std::vector<bool>& mask, MutableBytes dst) {
  const auto size = static_cast<size_t>(given.head.blocksize);
  const size_t typesize = given.head.typesize;
  const int32_t nblocks = given.head.nblocks();
  if (given.head.vlblocks() || std::ssize(mask) != nblocks) {
    return DataLoss("mask: it is of %d blocks, the chunk has %d of %d bytes", mask.size(), nblocks,
                    given.head.blocksize);
  }
  // A chunk may end with a part of an item, which is not read alone.
  const bool are_items = size % typesize == 0 && dst.size() % typesize == 0;
  std::vector<std::byte> whole(are_items ? 0 : dst.size());
  if (!are_items) CAIRN_RETURN_IF_ERROR(decompressor.Decompress(given.chunk.bytes(), whole));
  for (size_t block = 0; block * size < dst.size();) {
    size_t end = block;
    while (end * size < dst.size() && !mask[end]) ++end;
    if (end > block) {
      const size_t from = block * size;
      const MutableBytes part = dst.subspan(from, std::min(end * size, dst.size()) - from);
      if (are_items) {
        CAIRN_RETURN_IF_ERROR(decompressor.DecompressItems(
            given.chunk.bytes(), static_cast<int64_t>(from / typesize), part));
      } else {
        CopyBytes(Bytes(whole).subspan(from, part.size()), part);
      }
    }
    block = std::max(end, block + 1);
  }
  return absl::OkStatus();
}

}  // namespace

int Decompress(blosc2_context& context, const void* src, int32_t srcsize, void* dest,
               int32_t destsize, const ReadCall& call) {
  GivenChunk given;
  const int code = Take(context, src, srcsize, given);
  if (code < 0) return code;
  const int32_t nbytes = given.head.nbytes;
  if (nbytes > destsize) {
    return Failed(BLOSC2_ERROR_WRITE_BUFFER, "decompress: too little room for the chunk");
  }
  if (nbytes < 0) return Failed(BLOSC2_ERROR_INVALID_HEADER, "chunk header: a negative size");
  const blosc2_schunk* const schunk = context.schunk();
  // A frame's index has special chunks without their blocks, and masks are of the super-chunk's.
  if (given.head.special() != BLOSC2_NO_SPECIAL && schunk != nullptr && schunk->blocksize > 0 &&
      std::ssize(call.masked) != given.head.nblocks()) {
    given.head.blocksize = schunk->blocksize;
  }
  const std::shared_ptr<const ChunkDecompressor> decompressor =
      DecompressorOf(context, given.head, call.nchunk);
  const MutableBytes dst = MutableBytesAt(dest, nbytes);
  const absl::Status status = call.masked.empty()
                                  ? decompressor->Decompress(given.chunk.bytes(), dst)
                                  : DecompressUnmasked(*decompressor, given, call.masked, dst);
  if (!status.ok()) return CodeOf(status);
  return nbytes;
}

int GetItems(blosc2_context& context, const void* src, int32_t srcsize, int32_t start,
             int32_t nitems, void* dest, int32_t destsize, int64_t nchunk) {
  GivenChunk given;
  const int code = Take(context, src, srcsize, given);
  if (code < 0) return code;
  if (given.head.vlblocks()) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "get items: the chunk has variable blocks");
  }
  if (nitems == 0) return 0;
  const int64_t typesize = given.head.typesize;
  const int64_t size = nitems * typesize;
  if (nitems < 0) return Failed(BLOSC2_ERROR_INVALID_PARAM, "get items: a negative number");
  if (size > destsize) {
    return Failed(BLOSC2_ERROR_WRITE_BUFFER, "get items: too little room for them");
  }
  if (start < 0 || start * typesize + size > given.head.nbytes) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "get items: past the end of the chunk");
  }
  const absl::Status status =
      DecompressorOf(context, given.head, nchunk)
          ->DecompressItems(given.chunk.bytes(), start, MutableBytesAt(dest, size));
  return status.ok() ? static_cast<int>(size) : CodeOf(status);
}

int GetBytes(blosc2_context& context, const void* src, int32_t srcsize, int32_t start,
             int32_t nbytes, void* dest, int32_t destsize, int64_t nchunk) {
  ChunkHead head;
  const int code = ReadHead(src, srcsize, true, head);
  if (code < 0) return code;
  const int32_t typesize = head.typesize;
  if (head.vlblocks() || start < 0 || nbytes < 0 || start % typesize != 0 ||
      nbytes % typesize != 0) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "get items: expected bytes of complete items");
  }
  return GetItems(context, src, srcsize, start / typesize, nbytes / typesize, dest, destsize,
                  nchunk);
}

}  // namespace cairn::blosc2_api

using cairn::blosc2_api::CurrentChunk;
using cairn::blosc2_api::Failed;

int blosc2_decompress_ctx(blosc2_context* context, const void* src, int32_t srcsize, void* dest,
                          int32_t destsize) {
  if (context->compresses) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "decompress: the context is not for it");
  }
  cairn::blosc2_api::ReadCall call{.nchunk = CurrentChunk(context->schunk())};
  // Threads may share a context without a mask, so none of them writes the field.
  if (!context->masked_blocks.empty()) call.masked = std::exchange(context->masked_blocks, {});
  return cairn::blosc2_api::Decompress(*context, src, srcsize, dest, destsize, call);
}

int blosc2_getitem_ctx(blosc2_context* context, const void* src, int32_t srcsize, int start,
                       int nitems, void* dest, int32_t destsize) {
  return cairn::blosc2_api::GetItems(*context, src, srcsize, start, nitems, dest, destsize,
                                     CurrentChunk(context->schunk()));
}

int blosc2_getitem_bytes_ctx(blosc2_context* context, const void* src, int32_t srcsize,
                             int32_t start, int32_t nbytes, void* dest, int32_t destsize) {
  return cairn::blosc2_api::GetBytes(*context, src, srcsize, start, nbytes, dest, destsize,
                                     CurrentChunk(context->schunk()));
}
