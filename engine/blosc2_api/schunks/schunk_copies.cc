// Copies of super-chunks, and super-chunks as buffers and files.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/blosc2_api/chunks/context.h"
#include "engine/blosc2_api/files/frame_store.h"
#include "engine/blosc2_api/process/api.h"
#include "engine/blosc2_api/process/codes.h"
#include "engine/blosc2_api/schunks/schunk.h"
#include "engine/blosc2_api/schunks/serialize.h"

namespace cairn::blosc2_api {

namespace {

using CframePtr = std::unique_ptr<std::byte, decltype(&std::free)>;

bool InMemoryFrame(const blosc2_schunk& schunk) {
  return schunk.frame != nullptr && !schunk.frame->on_disk();
}

// Returns the frame of a super-chunk as its file is now. Its owner is `owner` or the super-chunk.
absl::StatusOr<MutableBytes> FrameOf(blosc2_schunk& schunk, CframePtr& owner) {
  // python-blosc2 cuts the file of a super-chunk without chunks before it writes what this returns.
  if (SyncWithFile(schunk) < 0 && schunk.nchunks > 0) {
    return absl::DataLossError("super-chunk: its file cannot be read");
  }
  if (InMemoryFrame(schunk) && !schunk.view) return schunk.frame->Cframe();
  CAIRN_ASSIGN_OR_RETURN(const MutableBytes cframe, Serialize(schunk));
  owner.reset(cframe.data());
  return cframe;
}

// Returns true if chunks made with these parameters are those of the super-chunk.
bool HasParameters(const blosc2_schunk& schunk, const blosc2_cparams& cparams) {
  const blosc2_cparams& own = schunk.cctx->cparams;
  return own.typesize == cparams.typesize && own.clevel == cparams.clevel &&
         own.compcode == cparams.compcode && own.use_dict == cparams.use_dict &&
         (cparams.blocksize == 0 || own.blocksize == cparams.blocksize) &&
         std::ranges::equal(own.filters, cparams.filters) &&
         std::ranges::equal(own.filters_meta, cparams.filters_meta) && own.prefilter == nullptr &&
         schunk.dctx->dparams.postfilter == nullptr;
}

int CopyChunks(blosc2_schunk& from, blosc2_schunk& to, bool recompress) {
  std::vector<uint8_t> buffer;
  for (int64_t i = 0; i < from.nchunks; ++i) {
    const absl::StatusOr<Chunk> chunk = GetChunk(from, i);
    if (!chunk.ok()) return CodeOf(chunk.status());
    const Bytes bytes = chunk->bytes();
    int64_t done = 0;
    if (!recompress) {
      auto* const data = const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(bytes.data()));
      done = blosc2_schunk_append_chunk(&to, data, true);
    } else {
      int32_t nbytes = 0;
      blosc2_cbuffer_sizes(bytes.data(), &nbytes, nullptr, nullptr);
      buffer.resize(static_cast<size_t>(std::max(nbytes, 0)));
      const int size = blosc2_schunk_decompress_chunk(&from, i, buffer.data(), nbytes);
      if (size < 0) return size;
      done = blosc2_schunk_append_buffer(&to, buffer.data(), size);
    }
    if (done < 0) return static_cast<int>(done);
  }
  return BLOSC2_ERROR_SUCCESS;
}

// Writes a frame to a file: from its start, or at the end of what is there. Returns the position or
// an error code.
int64_t Write(Bytes frame, const char* urlpath, bool append) {
  std::fstream file(urlpath,
                    std::ios::binary | std::ios::out | (append ? std::ios::app : std::ios::trunc));
  if (!file) return Failed(BLOSC2_ERROR_FILE_OPEN, "super-chunk: the file cannot be opened");
  file.seekp(0, std::ios::end);
  const auto position = static_cast<int64_t>(file.tellp());
  file.write(reinterpret_cast<const char*>(frame.data()), std::ssize(frame));
  file.flush();
  if (!file) return Failed(BLOSC2_ERROR_FILE_WRITE, "super-chunk: the file cannot be written");
  return position;
}

}  // namespace

}  // namespace cairn::blosc2_api

using cairn::blosc2_api::CframePtr;
using cairn::blosc2_api::CodeOf;
using cairn::blosc2_api::Failed;
using cairn::blosc2_api::SchunkPtr;

blosc2_schunk* blosc2_schunk_copy(blosc2_schunk* schunk, blosc2_storage* storage) {
  if (schunk == nullptr || storage == nullptr) {
    Failed(BLOSC2_ERROR_NULL_POINTER, "copy: there is no super-chunk");
    return nullptr;
  }
  if (cairn::blosc2_api::SyncWithFile(*schunk) < 0) return nullptr;
  blosc2_cparams cparams = schunk->cctx->cparams;
  cparams.prefilter = nullptr;
  cparams.preparams = nullptr;
  blosc2_storage with_params = *storage;
  if (storage->cparams == nullptr) with_params.cparams = &cparams;
  const bool recompress = !cairn::blosc2_api::HasParameters(*schunk, *with_params.cparams) &&
                          (cairn::blosc2_api::Flags2(*schunk) & cairn::blosc2_api::kVlBlocks) == 0;
  SchunkPtr copy(blosc2_schunk_new(&with_params));
  if (copy == nullptr) return nullptr;
  copy->chunksize = schunk->chunksize;
  cairn::blosc2_api::Flags2(*copy) = cairn::blosc2_api::Flags2(*schunk);
  for (int i = 0; i < schunk->nmetalayers; ++i) {
    const blosc2_metalayer& layer = *schunk->metalayers[i];
    if (blosc2_meta_add(copy.get(), layer.name, layer.content, layer.content_len) < 0) {
      return nullptr;
    }
  }
  cairn::blosc2_api::EditBatch batch(*copy);
  if (batch.code() < 0 || cairn::blosc2_api::CopyChunks(*schunk, *copy, recompress) < 0) {
    return nullptr;
  }
  for (int i = 0; i < schunk->nvlmetalayers; ++i) {
    const blosc2_metalayer& layer = *schunk->vlmetalayers[i];
    if (blosc2_vlmeta_add(copy.get(), layer.name, layer.content, layer.content_len, nullptr) < 0) {
      return nullptr;
    }
  }
  return batch.End() < 0 ? nullptr : copy.release();
}

int64_t blosc2_schunk_to_buffer(blosc2_schunk* schunk, uint8_t** cframe, bool* needs_free) {
  *cframe = nullptr;
  *needs_free = false;
  CframePtr owner(nullptr, std::free);
  const auto frame = cairn::blosc2_api::FrameOf(*schunk, owner);
  if (!frame.ok()) return CodeOf(frame.status());
  *needs_free = owner != nullptr;
  static_cast<void>(owner.release());
  *cframe = reinterpret_cast<uint8_t*>(frame->data());
  return std::ssize(*frame);
}

int64_t blosc2_schunk_to_file(blosc2_schunk* schunk, const char* urlpath) {
  if (urlpath == nullptr) return Failed(BLOSC2_ERROR_INVALID_PARAM, "super-chunk: no path");
  CframePtr owner(nullptr, std::free);
  const auto frame = cairn::blosc2_api::FrameOf(*schunk, owner);
  if (!frame.ok()) return CodeOf(frame.status());
  const int64_t written = cairn::blosc2_api::Write(*frame, urlpath, false);
  return written < 0 ? written : std::ssize(*frame);
}

int64_t blosc2_schunk_append_file(blosc2_schunk* schunk, const char* urlpath) {
  if (urlpath == nullptr) return Failed(BLOSC2_ERROR_INVALID_PARAM, "super-chunk: no path");
  CframePtr owner(nullptr, std::free);
  const auto frame = cairn::blosc2_api::FrameOf(*schunk, owner);
  if (!frame.ok()) return CodeOf(frame.status());
  return cairn::blosc2_api::Write(*frame, urlpath, true);
}

int64_t blosc2_schunk_frame_len(blosc2_schunk* schunk) {
  // Without a frame this is a guess: the chunks and an index.
  if (schunk->frame == nullptr) return schunk->cbytes + schunk->nchunks * 8;
  const int code = cairn::blosc2_api::SyncWithFile(*schunk);
  if (code < 0) return code;
  const auto length = schunk->frame->Length();
  return length.ok() ? *length : CodeOf(length.status());
}

int blosc2_schunk_get_cparams(blosc2_schunk* schunk, blosc2_cparams** cparams) {
  *cparams = static_cast<blosc2_cparams*>(std::calloc(1, sizeof(blosc2_cparams)));
  if (*cparams == nullptr) return Failed(BLOSC2_ERROR_MEMORY_ALLOC, "parameters: memory");
  (*cparams)->schunk = schunk;
  std::ranges::copy(schunk->filters, (*cparams)->filters);
  std::ranges::copy(schunk->filters_meta, (*cparams)->filters_meta);
  (*cparams)->compcode = schunk->compcode;
  (*cparams)->compcode_meta = schunk->compcode_meta;
  (*cparams)->clevel = schunk->clevel;
  (*cparams)->typesize = schunk->typesize;
  (*cparams)->blocksize = schunk->blocksize;
  (*cparams)->splitmode = schunk->splitmode;
  (*cparams)->use_dict = cairn::blosc2_api::UseDict(*schunk);
  (*cparams)->nthreads =
      schunk->cctx == nullptr ? blosc2_get_nthreads() : schunk->cctx->cparams.nthreads;
  return BLOSC2_ERROR_SUCCESS;
}

int blosc2_schunk_get_dparams(blosc2_schunk* schunk, blosc2_dparams** dparams) {
  *dparams = static_cast<blosc2_dparams*>(std::calloc(1, sizeof(blosc2_dparams)));
  if (*dparams == nullptr) return Failed(BLOSC2_ERROR_MEMORY_ALLOC, "parameters: memory");
  (*dparams)->schunk = schunk;
  (*dparams)->nthreads =
      schunk->dctx == nullptr ? blosc2_get_nthreads() : schunk->dctx->dparams.nthreads;
  return BLOSC2_ERROR_SUCCESS;
}
