// Reads chunks of variable blocks.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "cairn/chunk.h"
#include "engine/base/bytes.h"
#include "engine/blosc2_api/chunks/block_filters.h"
#include "engine/blosc2_api/chunks/chunk_head.h"
#include "engine/blosc2_api/chunks/context.h"
#include "engine/blosc2_api/chunks/decompress.h"
#include "engine/blosc2_api/chunks/lazy_chunk.h"
#include "engine/blosc2_api/process/api.h"
#include "engine/blosc2_api/process/codes.h"

namespace cairn::blosc2_api {

namespace {

// The blocks of a chunk, decompressed one after the other.
struct VlBlocks {
  std::vector<int32_t> sizes;
  std::vector<std::byte> content;
};

int ReadVlBlocks(blosc2_context& context, const void* src, int32_t srcsize, VlBlocks& blocks) {
  ChunkHead head;
  const int code = ReadHead(src, srcsize, true, head);
  if (code < 0) return code;
  if (!head.vlblocks()) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "variable blocks: the chunk has none");
  }
  if (head.lazy()) {
    Chunk chunk;
    const int fetched = FetchLazyChunk(context.schunk(), src, srcsize, head, chunk);
    if (fetched < 0) return fetched;
    const Bytes bytes = chunk.bytes();
    return ReadVlBlocks(context, bytes.data(), static_cast<int32_t>(bytes.size()), blocks);
  }
  if (head.cbytes > srcsize || head.nbytes < 0) {
    return Failed(BLOSC2_ERROR_INVALID_HEADER, "chunk: fewer bytes than its header says");
  }
  absl::StatusOr<std::vector<int32_t>> sizes = BlockSizes(BytesAt(src, head.cbytes));
  if (!sizes.ok()) return CodeOf(sizes.status());
  blocks.sizes = *std::move(sizes);
  blocks.content.resize(static_cast<size_t>(head.nbytes));
  return Decompress(context, src, srcsize, blocks.content.data(), head.nbytes,
                    {.nchunk = CurrentChunk(context.schunk())});
}

// Returns a copy that the caller of the library frees, or null.
uint8_t* CopyForCaller(Bytes bytes) {
  auto* const copy = static_cast<uint8_t*>(std::malloc(bytes.size()));
  if (copy != nullptr) std::ranges::copy(bytes, reinterpret_cast<std::byte*>(copy));
  return copy;
}

}  // namespace

}  // namespace cairn::blosc2_api

using cairn::blosc2_api::Failed;
using cairn::blosc2_api::VlBlocks;

int blosc2_vldecompress_ctx(blosc2_context* context, const void* src, int32_t srcsize, void** dests,
                            int32_t* destsizes, int32_t maxblocks) {
  if (context->compresses || dests == nullptr || destsizes == nullptr || maxblocks <= 0) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "variable blocks: nowhere to put them");
  }
  VlBlocks blocks;
  const int code = cairn::blosc2_api::ReadVlBlocks(*context, src, srcsize, blocks);
  if (code < 0) return code;
  if (blocks.sizes.size() > static_cast<size_t>(maxblocks)) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "variable blocks: more than there is room for");
  }
  cairn::Bytes rest = blocks.content;
  for (size_t i = 0; i < blocks.sizes.size(); ++i) {
    const auto size = static_cast<size_t>(blocks.sizes[i]);
    destsizes[i] = blocks.sizes[i];
    dests[i] = cairn::blosc2_api::CopyForCaller(rest.first(size));
    if (dests[i] == nullptr) return Failed(BLOSC2_ERROR_MEMORY_ALLOC, "variable blocks: memory");
    rest = rest.subspan(size);
  }
  return static_cast<int>(blocks.sizes.size());
}

int blosc2_vlchunk_get_nblocks(const void* src, int32_t srcsize, int32_t* nblocks) {
  cairn::blosc2_api::ChunkHead head;
  const int code = cairn::blosc2_api::ReadHead(src, srcsize, true, head);
  if (code < 0) return code;
  if (nblocks == nullptr || !head.vlblocks()) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "variable blocks: the chunk has none");
  }
  *nblocks = head.nblocks();
  return BLOSC2_ERROR_SUCCESS;
}

int blosc2_vldecompress_block_ctx(blosc2_context* context, const void* src, int32_t srcsize,
                                  int32_t nblock, uint8_t** dest, int32_t* destsize) {
  if (context->compresses || dest == nullptr || destsize == nullptr) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "variable blocks: nowhere to put one");
  }
  VlBlocks blocks;
  const int code = cairn::blosc2_api::ReadVlBlocks(*context, src, srcsize, blocks);
  if (code < 0) return code;
  if (nblock < 0 || static_cast<size_t>(nblock) >= blocks.sizes.size()) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "variable blocks: there is no such block");
  }
  cairn::Bytes rest = blocks.content;
  for (int32_t i = 0; i < nblock; ++i) {
    rest = rest.subspan(static_cast<size_t>(blocks.sizes[static_cast<size_t>(i)]));
  }
  *destsize = blocks.sizes[static_cast<size_t>(nblock)];
  *dest = cairn::blosc2_api::CopyForCaller(rest.first(static_cast<size_t>(*destsize)));
  if (*dest == nullptr) return Failed(BLOSC2_ERROR_MEMORY_ALLOC, "variable blocks: memory");
  return *destsize;
}
