// Reads and writes items of super-chunks, and fills them.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/blosc2_api/chunks/decompress.h"
#include "engine/blosc2_api/process/api.h"
#include "engine/blosc2_api/process/codes.h"
#include "engine/blosc2_api/schunks/schunk.h"

namespace cairn::blosc2_api {

namespace {

// The part of one chunk that a range of bytes has.
struct Part {
  int64_t nchunk = 0;
  int32_t nbytes = 0;  // of all the chunk
  int32_t begin = 0;   // in the chunk
  int32_t size = 0;
};

// Returns the decoded size of a chunk, whose header is read if chunks differ in size.
absl::StatusOr<int32_t> SizeOf(const SchunkReader& reader, int64_t nchunk) {
  if (reader.chunksize() > 0) {
    return static_cast<int32_t>(
        std::min<int64_t>(reader.chunksize(), reader.nbytes() - nchunk * reader.chunksize()));
  }
  CAIRN_ASSIGN_OR_RETURN(const Chunk chunk, reader.Get(nchunk, {}));
  CAIRN_ASSIGN_OR_RETURN(const ChunkInfo info, InspectChunk(chunk.bytes()));
  return static_cast<int32_t>(info.nbytes);
}

// Returns the parts of bytes [begin, end) of a super-chunk.
absl::StatusOr<std::vector<Part>> PartsOf(const SchunkReader& reader, int64_t begin, int64_t end) {
  std::vector<Part> parts;
  int64_t nchunk = reader.chunksize() > 0 ? begin / reader.chunksize() : 0;
  int64_t chunk_begin = nchunk * reader.chunksize();
  for (; begin < end; ++nchunk) {
    if (nchunk >= reader.nchunks()) return absl::DataLossError("super-chunk: it has fewer bytes");
    CAIRN_ASSIGN_OR_RETURN(const int32_t nbytes, SizeOf(reader, nchunk));
    const int64_t part_end = std::min(chunk_begin + nbytes, end);
    if (begin < part_end) {
      parts.push_back({.nchunk = nchunk,
                       .nbytes = nbytes,
                       .begin = static_cast<int32_t>(begin - chunk_begin),
                       .size = static_cast<int32_t>(part_end - begin)});
      begin = part_end;
    }
    chunk_begin += nbytes;
  }
  return parts;
}

// Checks a range of items. Returns 0 or an error code.
int CheckItems(const SchunkReader& reader, int32_t typesize, int64_t start, int64_t stop) {
  if (reader.code() < 0) return reader.code();
  const std::optional<int64_t> end = CheckedMul<int64_t>(stop, typesize);
  if (start < 0 || stop < start || !end.has_value() || *end > reader.nbytes()) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "super-chunk: the items do not all exist");
  }
  return BLOSC2_ERROR_SUCCESS;
}

int ReadPart(const SchunkReader& reader, const Part& part, uint8_t* dest) {
  const ByteRange needed = {.begin = part.begin, .end = int64_t{part.begin} + part.size};
  const absl::StatusOr<Chunk> chunk = reader.Get(part.nchunk, {&needed, 1});
  const int size =
      chunk.ok() ? reader.GetBytes(*chunk, part.nchunk, part.begin, MutableBytesAt(dest, part.size))
                 : CodeOf(chunk.status());
  return size == part.size ? int{BLOSC2_ERROR_SUCCESS} : int{BLOSC2_ERROR_FAILURE};
}

// Writes a part of a chunk, which is decompressed unless all of it is written.
int WritePart(blosc2_schunk& schunk, const Part& part, const uint8_t* src) {
  const int32_t nbytes = part.nbytes;
  std::vector<uint8_t> whole;
  const uint8_t* content = src;
  if (part.size < nbytes) {
    whole.resize(static_cast<size_t>(nbytes));
    const int size = blosc2_schunk_decompress_chunk(&schunk, part.nchunk, whole.data(), nbytes);
    if (size < 0) return size;
    CopyBytes(BytesAt(src, part.size),
              MutableBytesAt(&whole[static_cast<size_t>(part.begin)], part.size));
    content = whole.data();
  }
  const int32_t room = nbytes + BLOSC2_MAX_OVERHEAD;
  auto* const chunk = static_cast<uint8_t*>(std::malloc(static_cast<size_t>(room)));
  if (chunk == nullptr) return Failed(BLOSC2_ERROR_MEMORY_ALLOC, "chunk: memory");
  schunk.current_nchunk = part.nchunk;
  const int cbytes = blosc2_compress_ctx(schunk.cctx, content, nbytes, chunk, room);
  if (cbytes <= 0) {
    std::free(chunk);
    return cbytes < 0 ? cbytes : int{BLOSC2_ERROR_FAILURE};
  }
  const int64_t done = blosc2_schunk_update_chunk(&schunk, part.nchunk, chunk, false);
  if (done < 0) std::free(chunk);
  return done < 0 ? static_cast<int>(done) : int{BLOSC2_ERROR_SUCCESS};
}

// Makes a chunk of a special value. Returns its size or an error code.
int MakeFilling(const blosc2_cparams& cparams, int special, int32_t nbytes, uint8_t* chunk) {
  switch (special) {
    case BLOSC2_SPECIAL_ZERO:
      return blosc2_chunk_zeros(cparams, nbytes, chunk, BLOSC_EXTENDED_HEADER_LENGTH);
    case BLOSC2_SPECIAL_NAN:
      return blosc2_chunk_nans(cparams, nbytes, chunk, BLOSC_EXTENDED_HEADER_LENGTH);
    case BLOSC2_SPECIAL_UNINIT:
      return blosc2_chunk_uninit(cparams, nbytes, chunk, BLOSC_EXTENDED_HEADER_LENGTH);
    default:
      return Failed(BLOSC2_ERROR_SCHUNK_SPECIAL, "fill: expected zeros, NaNs or no values");
  }
}

}  // namespace

}  // namespace cairn::blosc2_api

using cairn::blosc2_api::Failed;
using cairn::blosc2_api::Part;

int blosc2_schunk_get_slice_buffer(blosc2_schunk* schunk, int64_t start, int64_t stop,
                                   void* buffer) {
  const cairn::blosc2_api::SchunkReader reader(*schunk);
  const int code = cairn::blosc2_api::CheckItems(reader, schunk->typesize, start, stop);
  if (code < 0) return code;
  auto* dest = static_cast<uint8_t*>(buffer);
  const auto parts =
      cairn::blosc2_api::PartsOf(reader, start * schunk->typesize, stop * schunk->typesize);
  if (!parts.ok()) return cairn::blosc2_api::CodeOf(parts.status());
  for (const Part& part : *parts) {
    const int read = cairn::blosc2_api::ReadPart(reader, part, dest);
    if (read < 0) return read;
    dest += part.size;
  }
  return BLOSC2_ERROR_SUCCESS;
}

int blosc2_schunk_set_slice_buffer(blosc2_schunk* schunk, int64_t start, int64_t stop,
                                   void* buffer) {
  cairn::blosc2_api::EditBatch batch(*schunk);
  if (batch.code() < 0) return batch.code();
  const cairn::blosc2_api::SchunkReader reader(*schunk);
  const int code = cairn::blosc2_api::CheckItems(reader, schunk->typesize, start, stop);
  if (code < 0) return code;
  const auto* src = static_cast<const uint8_t*>(buffer);
  const auto parts =
      cairn::blosc2_api::PartsOf(reader, start * schunk->typesize, stop * schunk->typesize);
  if (!parts.ok()) return cairn::blosc2_api::CodeOf(parts.status());
  for (const Part& part : *parts) {
    const int written = cairn::blosc2_api::WritePart(*schunk, part, src);
    if (written < 0) return written;
    src += part.size;
  }
  return batch.End();
}

int blosc2_schunk_get_sparse_buffer(blosc2_schunk* schunk, int64_t ncoords, const int64_t* coords,
                                    void* buffer) {
  auto* dest = static_cast<uint8_t*>(buffer);
  for (int64_t i = 0; i < ncoords; ++i) {
    const int code = coords[i] < 0
                         ? int{BLOSC2_ERROR_INVALID_PARAM}
                         : blosc2_schunk_get_slice_buffer(schunk, coords[i], coords[i] + 1, dest);
    if (code < 0) return code;
    dest += schunk->typesize;
  }
  return BLOSC2_ERROR_SUCCESS;
}

int64_t blosc2_schunk_fill_special(blosc2_schunk* schunk, int64_t nitems, int special_value,
                                   int32_t chunksize) {
  if (nitems == 0) return 0;
  const int32_t typesize = schunk->typesize;
  if (nitems < 0 || typesize <= 0 || chunksize < typesize) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "fill: a number or a size is out of range");
  }
  cairn::blosc2_api::EditBatch batch(*schunk);
  if (batch.code() < 0) return batch.code();
  if (schunk->nbytes > 0 || schunk->cbytes > 0) {
    return Failed(BLOSC2_ERROR_FRAME_SPECIAL, "fill: the super-chunk is not empty");
  }
  const int64_t chunk_items = chunksize / typesize;
  if (nitems / chunk_items > INT32_MAX || nitems > INT64_MAX / typesize) {
    return Failed(BLOSC2_ERROR_SCHUNK_SPECIAL, "fill: too many items");
  }
  blosc2_cparams* cparams = nullptr;
  blosc2_schunk_get_cparams(schunk, &cparams);
  const std::unique_ptr<blosc2_cparams, decltype(&std::free)> owner(cparams, std::free);
  if (schunk->chunksize <= 0) schunk->chunksize = static_cast<int32_t>(chunk_items * typesize);
  for (int64_t done = 0; done < nitems; done += chunk_items) {
    std::array<uint8_t, BLOSC_EXTENDED_HEADER_LENGTH> chunk{};
    const auto nbytes = static_cast<int32_t>(std::min(chunk_items, nitems - done) * typesize);
    const int made = cairn::blosc2_api::MakeFilling(*cparams, special_value, nbytes, chunk.data());
    if (made < 0) return Failed(BLOSC2_ERROR_SCHUNK_SPECIAL, "fill: no such chunk");
    if (blosc2_schunk_append_chunk(schunk, chunk.data(), true) < 0) {
      return Failed(BLOSC2_ERROR_SCHUNK_SPECIAL, "fill: a chunk cannot be appended");
    }
  }
  const int ended = batch.End();
  return ended < 0 ? ended : schunk->nchunks;
}
