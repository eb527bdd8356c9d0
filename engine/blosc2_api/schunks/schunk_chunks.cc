// Appends, inserts, replaces, deletes and reads chunks of super-chunks.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/blosc2_api/chunks/chunk_head.h"
#include "engine/blosc2_api/chunks/lazy_chunk.h"
#include "engine/blosc2_api/files/frame_store.h"
#include "engine/blosc2_api/process/api.h"
#include "engine/blosc2_api/process/codes.h"
#include "engine/blosc2_api/schunks/schunk.h"

namespace cairn::blosc2_api {

namespace {

// A chunk that a program gave. It stays the program's unless a super-chunk takes it over.
struct NewChunk {
  ChunkHead head;
  uint8_t* given = nullptr;
  bool copy = true;  // the program keeps what it has given
  std::unique_ptr<uint8_t, decltype(&std::free)> copied{nullptr, std::free};

  // Returns the bytes that count for the super-chunk's cbytes. Frames store special values in
  // their index.
  int64_t stored(const blosc2_schunk& schunk) const {
    const bool in_index = schunk.frame != nullptr && head.special() != BLOSC2_NO_SPECIAL &&
                          head.special() != BLOSC2_SPECIAL_VALUE;
    return in_index ? 0 : head.cbytes;
  }
};

// Looks at a chunk, and copies it if the super-chunk keeps one that is not its own.
int Take(const blosc2_schunk& schunk, uint8_t* chunk, bool copy, NewChunk& taken) {
  int code = ReadHead(chunk, BLOSC_MIN_HEADER_LENGTH, false, taken.head);
  if (code >= 0) code = ReadHead(chunk, taken.head.cbytes, true, taken.head);
  if (code < 0) return code;
  taken.given = chunk;
  taken.copy = copy;
  const bool needs_copy = schunk.frame == nullptr ? copy : !schunk.frame->on_disk();
  if (!needs_copy) return BLOSC2_ERROR_SUCCESS;
  taken.copied.reset(static_cast<uint8_t*>(std::malloc(static_cast<size_t>(taken.head.cbytes))));
  if (taken.copied == nullptr) return Failed(BLOSC2_ERROR_MEMORY_ALLOC, "chunk: memory");
  CopyBytes(BytesAt(chunk, taken.head.cbytes),
            MutableBytesAt(taken.copied.get(), taken.head.cbytes));
  return BLOSC2_ERROR_SUCCESS;
}

Chunk ForFrame(NewChunk& taken) {
  if (taken.copied == nullptr) return Chunk(BytesAt(taken.given, taken.head.cbytes), nullptr);
  const Bytes bytes = BytesAt(taken.copied.get(), taken.head.cbytes);
  return Chunk(bytes, std::shared_ptr<const void>(taken.copied.release(), std::free));
}

// Returns the memory that a super-chunk without a frame keeps.
uint8_t* ForData(NewChunk& taken) {
  if (taken.copied != nullptr) return taken.copied.release();
  // The program may have made room for a chunk that does not compress.
  void* const smaller = taken.head.cbytes < taken.head.nbytes
                            ? std::realloc(taken.given, static_cast<size_t>(taken.head.cbytes))
                            : nullptr;
  return smaller == nullptr ? taken.given : static_cast<uint8_t*>(smaller);
}

int HeadOf(const blosc2_schunk& schunk, int64_t nchunk, ChunkHead& head) {
  const absl::StatusOr<Chunk> chunk = GetChunk(schunk, nchunk);
  if (!chunk.ok()) return CodeOf(chunk.status());
  const Bytes bytes = chunk->bytes();
  return ReadHead(bytes.data(), static_cast<int32_t>(bytes.size()), true, head);
}

int CheckNumber(const blosc2_schunk& schunk, int64_t nchunk, int64_t end) {
  if (nchunk >= 0 && nchunk < end && end <= schunk.nchunks + 1) return BLOSC2_ERROR_SUCCESS;
  return Failed(BLOSC2_ERROR_INVALID_PARAM, "super-chunk: there is no such chunk");
}

// Reads what the items of a chunk take. A frame mostly knows it without reading the chunk.
int NbytesOf(const blosc2_schunk& schunk, int64_t nchunk, int32_t& nbytes) {
  const absl::StatusOr<std::optional<PinnedState>> now =
      schunk.frame != nullptr ? schunk.frame->Pin(nullptr) : std::optional<PinnedState>();
  if (!now.ok()) return CodeOf(now.status());
  if (now->has_value()) {
    const absl::StatusOr<int32_t> known = (*now)->state.ChunkNbytes(nchunk);
    nbytes = known.value_or(0);
    return CodeOf(known.status());
  }
  ChunkHead head;
  const int code = HeadOf(schunk, nchunk, head);
  nbytes = head.nbytes;
  return code;
}

// Checks that a new chunk has variable blocks if the `others` have some.
int CheckBlocks(blosc2_schunk& schunk, const ChunkHead& head, int64_t others, int refused) {
  if (others == 0) Flags2(schunk) = head.flags2;
  if (head.vlblocks() == ((Flags2(schunk) & kVlBlocks) != 0)) return BLOSC2_ERROR_SUCCESS;
  return Failed(refused, "super-chunk: chunks with and without variable blocks");
}

// Decides whether all chunks still have one size, if a chunk comes in front of chunk `nchunk`.
int FitChunksize(blosc2_schunk& schunk, const ChunkHead& head, int64_t nchunk, int refused) {
  if (schunk.chunksize == -1) schunk.chunksize = head.nbytes;
  if (schunk.chunksize == 0) return BLOSC2_ERROR_SUCCESS;
  if (schunk.nchunks == 0) {
    if (head.nbytes <= schunk.chunksize) return BLOSC2_ERROR_SUCCESS;
    return Failed(refused, "super-chunk: the chunk is larger than chunksize");
  }
  int32_t last = 0;
  const int code = NbytesOf(schunk, schunk.nchunks - 1, last);
  if (code < 0) return code;
  const bool inside = nchunk != schunk.nchunks;
  if (last < schunk.chunksize || head.nbytes > schunk.chunksize ||
      (inside && head.nbytes != schunk.chunksize)) {
    schunk.chunksize = 0;
  }
  return BLOSC2_ERROR_SUCCESS;
}

// Makes room for one more pointer.
int GrowData(blosc2_schunk& schunk) {
  const size_t needed = (static_cast<size_t>(schunk.nchunks) + 1) * sizeof(uint8_t*);
  if (needed <= schunk.data_len) return BLOSC2_ERROR_SUCCESS;
  const size_t size = std::max<size_t>(4096, schunk.data_len * 2);
  void* const data = std::realloc(static_cast<void*>(schunk.data), size);
  if (data == nullptr) return Failed(BLOSC2_ERROR_MEMORY_ALLOC, "super-chunk: memory");
  schunk.data = static_cast<uint8_t**>(data);
  schunk.data_len = size;
  return BLOSC2_ERROR_SUCCESS;
}

// Lets the store of a super-chunk keep what an edit has changed. Returns the number of chunks or an
// error code.
int64_t Settled(const blosc2_schunk& schunk, EditBatch& batch) {
  int code = schunk.frame == nullptr ? 0 : CodeOf(schunk.frame->Settle());
  if (code >= 0) code = batch.End();
  return code < 0 ? code : schunk.nchunks;
}

// Does so, and then frees the chunk that a frame has copied.
int64_t Settled(const blosc2_schunk& schunk, const NewChunk& taken, EditBatch& batch) {
  const int64_t nchunks = Settled(schunk, batch);
  if (nchunks >= 0 && !taken.copy && schunk.frame != nullptr) std::free(taken.given);
  return nchunks;
}

// Inserts a chunk before chunk `before`, or appends it.
int64_t Insert(blosc2_schunk& schunk, std::optional<int64_t> before, uint8_t* chunk, bool copy,
               int refused) {
  NewChunk taken;
  EditBatch batch(schunk);
  int code = batch.code();
  const int64_t nchunk = before.value_or(schunk.nchunks);
  if (code >= 0) code = CheckNumber(schunk, nchunk, schunk.nchunks + 1);
  if (code >= 0) code = Take(schunk, chunk, copy, taken);
  const int32_t chunksize = schunk.chunksize;
  if (code >= 0) code = CheckBlocks(schunk, taken.head, schunk.nchunks, refused);
  if (code >= 0) code = FitChunksize(schunk, taken.head, nchunk, refused);
  if (code >= 0 && schunk.frame == nullptr) code = GrowData(schunk);
  if (code < 0) return code;
  const int64_t stored = taken.stored(schunk);
  if (schunk.frame != nullptr) {
    const absl::Status status = schunk.frame->Insert(nchunk, ForFrame(taken));
    if (!status.ok()) {
      schunk.chunksize = chunksize;
      CodeOf(status);
      return Failed(refused, "super-chunk: the frame does not take the chunk");
    }
  } else {
    std::copy_backward(schunk.data + nchunk, schunk.data + schunk.nchunks,
                       schunk.data + schunk.nchunks + 1);
    schunk.data[nchunk] = ForData(taken);
  }
  schunk.current_nchunk = nchunk;
  schunk.nbytes += taken.head.nbytes;
  schunk.cbytes += stored;
  ++schunk.nchunks;
  return Settled(schunk, taken, batch);
}

// Returns what an old chunk counts for in cbytes.
int64_t StoredBefore(const ChunkHead& head) {
  return head.cbytes == BLOSC2_MAX_OVERHEAD ? 0 : head.cbytes;
}

int64_t Update(blosc2_schunk& schunk, int64_t nchunk, uint8_t* chunk, bool copy) {
  NewChunk taken;
  EditBatch batch(schunk);
  int code = batch.code();
  if (code >= 0) code = CheckNumber(schunk, nchunk, schunk.nchunks);
  if (code >= 0) code = Take(schunk, chunk, copy, taken);
  if (code >= 0) {
    code = CheckBlocks(schunk, taken.head, schunk.nchunks - 1, BLOSC2_ERROR_CHUNK_UPDATE);
  }
  ChunkHead old;
  if (code >= 0) code = HeadOf(schunk, nchunk, old);
  if (code < 0) return code;
  const int32_t chunksize = schunk.chunksize;
  if (chunksize == -1) schunk.chunksize = taken.head.nbytes;
  const bool last = nchunk == schunk.nchunks - 1;
  if (chunksize > 0 &&
      (taken.head.nbytes > chunksize || (!last && taken.head.nbytes != chunksize))) {
    schunk.chunksize = 0;
  }
  const int64_t stored = taken.stored(schunk);
  if (schunk.frame != nullptr) {
    const absl::Status status = schunk.frame->Update(nchunk, ForFrame(taken));
    if (!status.ok()) {
      schunk.chunksize = chunksize;
      CodeOf(status);
      return Failed(BLOSC2_ERROR_CHUNK_UPDATE, "super-chunk: the frame does not take the chunk");
    }
  } else {
    uint8_t*& kept = OwnerOf(schunk).data[nchunk];
    std::free(kept);
    kept = ForData(taken);
  }
  schunk.current_nchunk = nchunk;
  schunk.nbytes += taken.head.nbytes - old.nbytes;
  schunk.cbytes += stored - StoredBefore(old);
  return Settled(schunk, taken, batch);
}

// Hands a chunk to the caller: in place, or a copy if it would not stay there.
int Hand(const blosc2_schunk& schunk, int64_t nchunk, const Chunk& given, uint8_t** chunk,
         bool* needs_free) {
  const Bytes bytes = given.bytes();
  *needs_free = schunk.frame != nullptr && !schunk.frame->Keeps(nchunk, given);
  if (!*needs_free) {
    *chunk = const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(bytes.data()));
    return static_cast<int>(bytes.size());
  }
  *chunk = static_cast<uint8_t*>(std::malloc(bytes.size()));
  if (*chunk == nullptr) return Failed(BLOSC2_ERROR_MEMORY_ALLOC, "chunk: memory");
  CopyBytes(bytes, MutableBytesAt(*chunk, std::ssize(bytes)));
  return static_cast<int>(bytes.size());
}

int Read(blosc2_schunk& schunk, int64_t nchunk, bool lazy, uint8_t** chunk, bool* needs_free) {
  *needs_free = false;
  const SchunkReader reader(schunk);
  if (reader.code() < 0) return reader.code();
  SetCurrentChunk(schunk, nchunk);
  const absl::StatusOr<Chunk> found = reader.Get(nchunk);
  const bool on_disk = IsOnDisk(schunk);
  if (!found.ok()) {
    const int failed = CodeOf(found.status());
    return on_disk && failed == BLOSC2_ERROR_DATA ? int{BLOSC2_ERROR_FILE_READ} : failed;
  }
  if (!lazy || !on_disk) {
    return Hand(schunk, nchunk, *found, chunk, needs_free);
  }
  *needs_free = true;
  return MakeLazyChunk(*found, nchunk, *chunk);
}

}  // namespace

}  // namespace cairn::blosc2_api

using cairn::blosc2_api::CheckNumber;
using cairn::blosc2_api::ChunkHead;
using cairn::blosc2_api::Failed;

int64_t blosc2_schunk_append_chunk(blosc2_schunk* schunk, uint8_t* chunk, bool copy) {
  return cairn::blosc2_api::Insert(*schunk, std::nullopt, chunk, copy, BLOSC2_ERROR_CHUNK_APPEND);
}

int64_t blosc2_schunk_insert_chunk(blosc2_schunk* schunk, int64_t nchunk, uint8_t* chunk,
                                   bool copy) {
  return cairn::blosc2_api::Insert(*schunk, nchunk, chunk, copy, BLOSC2_ERROR_CHUNK_INSERT);
}

int64_t blosc2_schunk_update_chunk(blosc2_schunk* schunk, int64_t nchunk, uint8_t* chunk,
                                   bool copy) {
  return cairn::blosc2_api::Update(*schunk, nchunk, chunk, copy);
}

int64_t blosc2_schunk_delete_chunk(blosc2_schunk* schunk, int64_t nchunk) {
  ChunkHead old;
  cairn::blosc2_api::EditBatch batch(*schunk);
  int code = batch.code();
  if (code >= 0) code = CheckNumber(*schunk, nchunk, schunk->nchunks);
  if (code >= 0) code = cairn::blosc2_api::HeadOf(*schunk, nchunk, old);
  if (code < 0) return code;
  if (schunk->frame != nullptr) {
    code = cairn::blosc2_api::CodeOf(schunk->frame->Delete(nchunk));
    if (code < 0) return Failed(BLOSC2_ERROR_CHUNK_UPDATE, "super-chunk: the chunk stays");
  } else {
    std::free(schunk->data[nchunk]);
    std::copy(schunk->data + nchunk + 1, schunk->data + schunk->nchunks, schunk->data + nchunk);
    schunk->data[schunk->nchunks - 1] = nullptr;
  }
  schunk->current_nchunk = nchunk;
  schunk->nbytes -= old.nbytes;
  // A contiguous frame keeps the bytes of deleted chunks.
  const bool keeps = schunk->frame != nullptr && schunk->storage->contiguous;
  if (!keeps) schunk->cbytes -= cairn::blosc2_api::StoredBefore(old);
  if (--schunk->nchunks == 0) cairn::blosc2_api::Flags2(*schunk) = 0;
  return cairn::blosc2_api::Settled(*schunk, batch);
}

int64_t blosc2_schunk_append_buffer(blosc2_schunk* schunk, const void* src, int32_t nbytes) {
  const int32_t room = nbytes + BLOSC2_MAX_OVERHEAD;
  auto* const chunk = static_cast<uint8_t*>(std::malloc(static_cast<size_t>(room)));
  if (chunk == nullptr) return Failed(BLOSC2_ERROR_MEMORY_ALLOC, "chunk: memory");
  schunk->current_nchunk = schunk->nchunks;
  const int cbytes = blosc2_compress_ctx(schunk->cctx, src, nbytes, chunk, room);
  if (cbytes <= 0) {
    std::free(chunk);
    return cbytes < 0 ? cbytes : int{BLOSC2_ERROR_FAILURE};
  }
  const int64_t nchunks = blosc2_schunk_append_chunk(schunk, chunk, false);
  if (nchunks < 0) std::free(chunk);
  return nchunks;
}

int blosc2_schunk_decompress_chunk(blosc2_schunk* schunk, int64_t nchunk, void* dest,
                                   int32_t nbytes) {
  const cairn::blosc2_api::SchunkReader reader(*schunk);
  return reader.code() < 0 ? reader.code() : reader.Decompress(nchunk, dest, nbytes);
}

int blosc2_schunk_get_chunk(blosc2_schunk* schunk, int64_t nchunk, uint8_t** chunk,
                            bool* needs_free) {
  return cairn::blosc2_api::Read(*schunk, nchunk, false, chunk, needs_free);
}

int blosc2_schunk_get_lazychunk(blosc2_schunk* schunk, int64_t nchunk, uint8_t** chunk,
                                bool* needs_free) {
  return cairn::blosc2_api::Read(*schunk, nchunk, true, chunk, needs_free);
}

int blosc2_schunk_reorder_offsets(blosc2_schunk* schunk, int64_t* offsets_order) {
  const std::span<const int64_t> order(offsets_order, static_cast<size_t>(schunk->nchunks));
  cairn::blosc2_api::EditBatch batch(*schunk);
  if (batch.code() < 0) return batch.code();
  if (std::ssize(order) != schunk->nchunks) {
    return Failed(BLOSC2_ERROR_DATA, "reorder: others have changed the number of chunks");
  }
  std::vector<bool> seen(order.size());
  for (const int64_t nchunk : order) {
    if (CheckNumber(*schunk, nchunk, schunk->nchunks) < 0 || seen[static_cast<size_t>(nchunk)]) {
      return Failed(BLOSC2_ERROR_DATA, "reorder: expected each chunk once");
    }
    seen[static_cast<size_t>(nchunk)] = true;
  }
  if (schunk->frame != nullptr) {
    int code = cairn::blosc2_api::CodeOf(schunk->frame->Reorder(order));
    if (code >= 0) code = cairn::blosc2_api::CodeOf(schunk->frame->Settle());
    return code < 0 ? code : batch.End();
  }
  const std::vector<uint8_t*> before(schunk->data, schunk->data + schunk->nchunks);
  for (size_t i = 0; i < order.size(); ++i) {
    schunk->data[i] = before[static_cast<size_t>(order[i])];
  }
  return BLOSC2_ERROR_SUCCESS;
}

int blosc2_schunk_get_vlblock(blosc2_schunk* schunk, int64_t nchunk, int32_t nblock, uint8_t** dest,
                              int32_t* destsize) {
  if (schunk == nullptr || dest == nullptr || destsize == nullptr) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "super-chunk: nowhere to put a block");
  }
  const cairn::blosc2_api::SchunkReader reader(*schunk);
  if (reader.code() < 0) return reader.code();
  const auto chunk = reader.Get(nchunk);
  if (!chunk.ok()) return cairn::blosc2_api::CodeOf(chunk.status());
  return blosc2_vldecompress_block_ctx(schunk->dctx, chunk->bytes().data(),
                                       static_cast<int32_t>(chunk->bytes().size()), nblock, dest,
                                       destsize);
}
