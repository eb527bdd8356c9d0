// Makes, opens and frees super-chunks.
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/blosc2_api/files/frame_store.h"
#include "engine/blosc2_api/files/mmap_mode.h"
#include "engine/blosc2_api/process/api.h"
#include "engine/blosc2_api/process/codes.h"
#include "engine/blosc2_api/schunks/callback_frame.h"
#include "engine/blosc2_api/schunks/file_frame.h"
#include "engine/blosc2_api/schunks/memory_frame.h"
#include "engine/blosc2_api/schunks/schunk.h"

namespace cairn::blosc2_api {

namespace {

absl::StatusOr<SchunkPtr> FromBuffer(MutableBytes cframe, bool copy) {
  CAIRN_ASSIGN_OR_RETURN(const Frame frame, Frame::OpenBuffer(cframe));
  const Snapshot snapshot = frame.snapshot();
  SchunkPtr schunk = MakeSchunk(snapshot, nullptr, nullptr);
  if (schunk == nullptr) return absl::DataLossError("frame: its parameters are wrong");
  if (!copy) {
    schunk->frame = MakeMemoryFrame(*schunk, cframe, snapshot).release();
    return schunk;
  }
  schunk->storage->contiguous = false;
  const int64_t nchunks = std::exchange(schunk->nchunks, 0);
  schunk->data_len = static_cast<size_t>(nchunks) * sizeof(uint8_t*);
  schunk->data =
      static_cast<uint8_t**>(std::calloc(static_cast<size_t>(nchunks) + 1, sizeof(uint8_t*)));
  schunk->cbytes = 0;
  for (; schunk->nchunks < nchunks; ++schunk->nchunks) {
    CAIRN_ASSIGN_OR_RETURN(const Chunk chunk, snapshot.GetChunk(schunk->nchunks));
    const int64_t size = std::ssize(chunk.bytes());
    auto* const memory = static_cast<uint8_t*>(std::malloc(static_cast<size_t>(size)));
    CopyBytes(chunk.bytes(), MutableBytesAt(memory, size));
    schunk->data[schunk->nchunks] = memory;
    schunk->cbytes += size;
  }
  return schunk;
}

// Opens a mapped file whose changes are kept in memory. The file itself is read, too, so that
// writers leave the state that was mapped where it is. A mapping that was there before may be of an
// older state.
absl::StatusOr<SchunkPtr> OpenCopyOnWrite(const char* urlpath, int64_t offset,
                                          const blosc2_io& io) {
  constexpr int kTries = 16;
  auto& mapped = *static_cast<blosc2_stdio_mmap*>(io.params);
  const bool is_new = !IsOpen(io);
  for (int i = 0; i < kTries; ++i) {
    CAIRN_ASSIGN_OR_RETURN(const Frame file, OpenFrame(urlpath, offset));
    if (blosc2_stdio_mmap_open(urlpath, "rb", &mapped) == nullptr) {
      return NotFound("%s: it cannot be mapped", urlpath);
    }
    const auto size = static_cast<int64_t>(mapped.file_size);
    if (offset < 0 || offset > size) return absl::OutOfRangeError("file: it ends before the frame");
    const MutableBytes cframe = MutableBytesAt(mapped.addr + offset, size - offset);
    const absl::StatusOr<Frame> frame = Frame::OpenBuffer(cframe);
    const Snapshot in_file = file.snapshot();
    const bool is_same = frame.ok() &&
                         in_file.info().generation == frame->snapshot().info().generation &&
                         in_file.info().frame_size == frame->snapshot().info().frame_size;
    if (is_new && !is_same) {
      Unmap(mapped);  // a writer was faster
      continue;
    }
    CAIRN_RETURN_IF_ERROR(frame.status());
    const Snapshot snapshot = frame->snapshot();
    SchunkPtr schunk = MakeSchunk(snapshot, urlpath, &io);
    if (schunk == nullptr) return absl::DataLossError("frame: its parameters are wrong");
    schunk->frame = MakeMemoryFrame(*schunk, cframe, snapshot, in_file).release();
    return schunk;
  }
  return absl::UnavailableError("file: it is edited again and again");
}

absl::StatusOr<SchunkPtr> OpenFile(const char* urlpath, int64_t offset, const blosc2_io& io) {
  if (io.id == BLOSC2_IO_FILESYSTEM_MMAP) {
    if (io.params == nullptr) return absl::InvalidArgumentError("file: no blosc2_stdio_mmap");
    const auto mode = ModeOf(*static_cast<const blosc2_stdio_mmap*>(io.params));
    if (mode == MmapMode::kCopyOnWrite) return OpenCopyOnWrite(urlpath, offset, io);
    if (mode != MmapMode::kRead && mode != MmapMode::kUpdate) {
      return absl::InvalidArgumentError("file: one that exists is mapped with r, r+ or c");
    }
  } else if (io.id != BLOSC2_IO_FILESYSTEM) {
    return OpenCallbackFrame(urlpath, offset, io);
  }
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<const void> others, KeepOthersOut(urlpath, io));
  CAIRN_ASSIGN_OR_RETURN(Frame frame, OpenFrame(urlpath, offset));
  const Snapshot snapshot = frame.snapshot();
  SchunkPtr schunk = MakeSchunk(snapshot, urlpath, &io);
  if (schunk == nullptr) return absl::DataLossError("frame: its parameters are wrong");
  schunk->frame = MakeFileFrame(*schunk, std::move(frame), offset).release();
  return schunk;
}

absl::StatusOr<SchunkPtr> Create(const blosc2_storage& storage) {
  SchunkPtr schunk = MakeSchunk(storage);
  if (schunk == nullptr) return absl::InvalidArgumentError("super-chunk: its parameters are wrong");
  const uint8_t io = schunk->storage->io->id;
  const bool callbacks = io != BLOSC2_IO_FILESYSTEM && io != BLOSC2_IO_FILESYSTEM_MMAP;
  if (storage.urlpath != nullptr) {
    CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<blosc2_frame_s> frame,
                           callbacks ? CreateCallbackFrame(*schunk) : CreateFileFrame(*schunk));
    schunk->frame = frame.release();
  } else if (storage.contiguous) {
    schunk->frame = MakeMemoryFrame(*schunk).release();
  }
  return schunk;
}

blosc2_schunk* PointerOrNull(absl::StatusOr<SchunkPtr> schunk) {
  if (schunk.ok()) return schunk->release();
  CodeOf(schunk.status());
  return nullptr;
}

void FreeStorage(blosc2_storage* storage) {
  if (storage == nullptr) return;
  std::free(storage->urlpath);
  std::free(storage->cparams);
  std::free(storage->dparams);
  std::free(storage->io);
  std::free(storage);
}

}  // namespace

}  // namespace cairn::blosc2_api

using cairn::blosc2_api::Failed;
using cairn::blosc2_api::PointerOrNull;

blosc2_schunk* blosc2_schunk_new(blosc2_storage* storage) {
  return PointerOrNull(
      cairn::blosc2_api::Create(storage != nullptr ? *storage : BLOSC2_STORAGE_DEFAULTS));
}

blosc2_schunk* blosc2_schunk_from_buffer(uint8_t* cframe, int64_t len, bool copy) {
  if (cframe == nullptr || len < 0) {
    Failed(BLOSC2_ERROR_NULL_POINTER, "frame: there is no buffer");
    return nullptr;
  }
  return PointerOrNull(
      cairn::blosc2_api::FromBuffer(cairn::blosc2_api::MutableBytesAt(cframe, len), copy));
}

blosc2_schunk* blosc2_schunk_open_offset_udio(const char* urlpath, int64_t offset,
                                              const blosc2_io* udio) {
  if (urlpath == nullptr || udio == nullptr) {
    Failed(BLOSC2_ERROR_NULL_POINTER, "super-chunk: there is no path");
    return nullptr;
  }
  return PointerOrNull(cairn::blosc2_api::OpenFile(urlpath, offset, *udio));
}

blosc2_schunk* blosc2_schunk_open_udio(const char* urlpath, const blosc2_io* udio) {
  return blosc2_schunk_open_offset_udio(urlpath, 0, udio);
}

blosc2_schunk* blosc2_schunk_open_offset(const char* urlpath, int64_t offset) {
  return blosc2_schunk_open_offset_udio(urlpath, offset, &BLOSC2_IO_DEFAULTS);
}

blosc2_schunk* blosc2_schunk_open(const char* urlpath) {
  return blosc2_schunk_open_offset(urlpath, 0);
}

int blosc2_schunk_free(blosc2_schunk* schunk) {
  // Files are complete before their super-chunk ends. A view's store belongs to another one.
  if (!schunk->view) {
    delete schunk->frame;
    for (int64_t i = 0; schunk->data != nullptr && i < schunk->nchunks; ++i) {
      std::free(schunk->data[i]);
    }
    std::free(static_cast<void*>(schunk->data));
  }
  int code = BLOSC2_ERROR_SUCCESS;
  if (schunk->storage != nullptr && !schunk->view) {
    const blosc2_io& io = *schunk->storage->io;
    // Only files of mode c are mapped, so the function finds the others closed.
    const bool is_mapped = io.id != BLOSC2_IO_FILESYSTEM_MMAP || cairn::blosc2_api::IsOpen(io);
    const blosc2_io_cb* const functions = blosc2_get_io_cb(io.id);
    if (functions != nullptr && functions->destroy(io.params) < 0 && is_mapped) code = 1;
  }
  if (schunk->cctx != nullptr) blosc2_free_ctx(schunk->cctx);
  if (schunk->dctx != nullptr) blosc2_free_ctx(schunk->dctx);
  std::free(schunk->blockshape);
  cairn::blosc2_api::FreeLayers(schunk->metalayers, schunk->nmetalayers);
  if (!schunk->view) cairn::blosc2_api::FreeLayers(schunk->vlmetalayers, schunk->nvlmetalayers);
  cairn::blosc2_api::FreeStorage(schunk->storage);
  std::free(schunk);
  return code;
}

void blosc2_schunk_avoid_cframe_free(blosc2_schunk* schunk, bool avoid_cframe_free) {
  if (schunk->frame != nullptr) schunk->frame->KeepCframe(avoid_cframe_free);
}

int blosc2_schunk_lock(blosc2_schunk* schunk) {
  if (schunk->frame == nullptr) return BLOSC2_ERROR_SUCCESS;
  return cairn::blosc2_api::CodeOf(schunk->frame->Begin());
}

int blosc2_schunk_unlock(blosc2_schunk* schunk) {
  if (schunk->frame == nullptr) return BLOSC2_ERROR_SUCCESS;
  return cairn::blosc2_api::CodeOf(schunk->frame->End());
}

int blosc2_schunk_refresh(blosc2_schunk* schunk) {
  if (schunk == nullptr) return Failed(BLOSC2_ERROR_NULL_POINTER, "super-chunk: there is none");
  return cairn::blosc2_api::SyncWithFile(*schunk);
}
