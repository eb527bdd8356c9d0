#include "engine/blosc2_api/schunks/schunk_reader.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "engine/base/status.h"
#include "engine/blosc2_api/chunks/chunk_head.h"
#include "engine/blosc2_api/chunks/context.h"
#include "engine/blosc2_api/chunks/decompress.h"
#include "engine/blosc2_api/files/frame_store.h"
#include "engine/blosc2_api/process/codes.h"

namespace cairn::blosc2_api {

namespace {

// Returns the bytes of the blocks that the mask leaves.
std::vector<ByteRange> RangesOf(const BlockMask& mask) {
  std::vector<ByteRange> ranges;
  int64_t begin = 0;
  for (const bool masked : mask.masked) {
    const int64_t end = begin + mask.blocksize;
    if (!masked && !ranges.empty() && ranges.back().end == begin) {
      ranges.back().end = end;
    } else if (!masked) {
      ranges.push_back({.begin = begin, .end = end});
    }
    begin = end;
  }
  return ranges;
}

// Returns true if the blocks of a chunk are those of the mask, and can be decoded one by one. A
// chunk that the program has brought may have others.
bool HasBlocksOf(const ChunkHead& head, const BlockMask& mask) {
  return head.blocksize == mask.blocksize && head.blocksize % head.typesize == 0 &&
         head.nbytes % head.typesize == 0;
}

}  // namespace

void SetCurrentChunk(blosc2_schunk& schunk, int64_t nchunk) {
  std::atomic_ref(schunk.current_nchunk).store(nchunk, std::memory_order_relaxed);
}

int SyncWithFile(blosc2_schunk& schunk) { return SyncWithFile(schunk, FieldsLock(schunk)); }

absl::StatusOr<Chunk> GetChunk(const blosc2_schunk& schunk, int64_t nchunk) {
  const blosc2_schunk& owner = OwnerOf(schunk);
  if (nchunk >= owner.nchunks) return DataLoss("chunk %d: the array of the view has none", nchunk);
  if (owner.frame != nullptr) return owner.frame->Get(nchunk);
  const uint8_t* const data = owner.data[nchunk];
  ChunkHead head;
  if (data == nullptr || ReadHead(data, BLOSC_MIN_HEADER_LENGTH, false, head) < 0) {
    return absl::DataLossError("chunk: its header is damaged");
  }
  return Chunk(BytesAt(data, head.cbytes), nullptr);
}

SchunkReader::SchunkReader(blosc2_schunk& schunk, const FieldsLock& lock)
    : schunk_(&schunk), code_(SyncWithFile(schunk, lock, &pinned_)) {
  if (code_ < 0) return;
  nchunks_ = std::min(schunk.nchunks, OwnerOf(schunk).nchunks);
  nbytes_ = schunk.nbytes;
  chunksize_ = schunk.chunksize;
}

absl::StatusOr<Chunk> SchunkReader::Get(int64_t nchunk) const {
  if (nchunk < 0 || nchunk >= nchunks_) {
    return InvalidArgument("super-chunk: there is no chunk %d", nchunk);
  }
  return pinned_.has_value() ? pinned_->state.GetChunk(nchunk) : GetChunk(*schunk_, nchunk);
}

absl::StatusOr<Chunk> SchunkReader::Get(int64_t nchunk, std::span<const ByteRange> needed) const {
  const bool is_read = pinned_.has_value() && nchunk >= 0 && nchunk < nchunks_;
  return is_read ? pinned_->state.GetChunk(nchunk, needed) : Get(nchunk);
}

int SchunkReader::Decompress(int64_t nchunk, void* dest, int32_t destsize, BlockMask mask) const {
  absl::StatusOr<Chunk> chunk = mask.masked.empty() ? Get(nchunk) : Get(nchunk, RangesOf(mask));
  if (!chunk.ok()) return CodeOf(chunk.status());
  SetCurrentChunk(*schunk_, nchunk);
  ChunkHead head;
  const int code =
      ReadHead(chunk->bytes().data(), static_cast<int32_t>(chunk->bytes().size()), true, head);
  if (code < 0) return code;
  if (destsize < head.nbytes) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "super-chunk: too little room for the chunk");
  }
  if (head.special() != BLOSC2_NO_SPECIAL) {
    mask.masked.clear();
  } else if (!mask.masked.empty() && !HasBlocksOf(head, mask)) {
    // All blocks are decoded, and a program's filters must see the data of each of them.
    mask.masked.clear();
    chunk = Get(nchunk);
    if (!chunk.ok()) return CodeOf(chunk.status());
  }
  const Bytes bytes = chunk->bytes();
  return blosc2_api::Decompress(*schunk_->dctx, bytes.data(), static_cast<int32_t>(bytes.size()),
                                dest, destsize,
                                {.nchunk = nchunk, .masked = std::move(mask.masked)});
}

int SchunkReader::GetBytes(const Chunk& chunk, int64_t nchunk, int64_t start,
                           MutableBytes dst) const {
  SetCurrentChunk(*schunk_, nchunk);
  const auto size = static_cast<int32_t>(dst.size());
  return blosc2_api::GetBytes(*schunk_->dctx, chunk.bytes().data(),
                              static_cast<int32_t>(chunk.bytes().size()),
                              static_cast<int32_t>(start), size, dst.data(), size, nchunk);
}

}  // namespace cairn::blosc2_api
