#include "engine/blosc2_api/schunks/schunk.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cairn/frame_info.h"
#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/blosc2_api/files/frame_store.h"
#include "engine/blosc2_api/process/codes.h"

namespace cairn::blosc2_api {

namespace {

// Returns a copy in memory that C programs free. They expect no failure here.
template <typename T>
T* CopyOf(const T& value) {
  auto* const copy = static_cast<T*>(std::malloc(sizeof(T)));
  *copy = value;
  return copy;
}

blosc2_storage* CopyStorage(const blosc2_storage& storage) {
  blosc2_storage* const copy = CopyOf(storage);
  copy->cparams = CopyOf(storage.cparams != nullptr ? *storage.cparams : BLOSC2_CPARAMS_DEFAULTS);
  copy->dparams = CopyOf(storage.dparams != nullptr ? *storage.dparams : BLOSC2_DPARAMS_DEFAULTS);
  copy->io = CopyOf(storage.io != nullptr ? *storage.io : BLOSC2_IO_DEFAULTS);
  if (storage.urlpath != nullptr) copy->urlpath = strdup(storage.urlpath);
  return copy;
}

// Takes the parameters of the storage over, and makes contexts of them. Returns false if they are
// wrong.
bool TakeParameters(blosc2_schunk& schunk) {
  blosc2_cparams& cparams = *schunk.storage->cparams;
  blosc2_dparams& dparams = *schunk.storage->dparams;
  std::ranges::copy(cparams.filters, schunk.filters);
  std::ranges::copy(cparams.filters_meta, schunk.filters_meta);
  schunk.compcode = cparams.compcode;
  schunk.compcode_meta = cparams.compcode_meta;
  schunk.clevel = cparams.clevel;
  schunk.splitmode = static_cast<uint8_t>(cparams.splitmode);
  UseDict(schunk) = static_cast<uint8_t>(cparams.use_dict);
  schunk.typesize = cparams.typesize;
  schunk.blocksize = cparams.blocksize;
  schunk.chunksize = -1;
  schunk.tuner_params = cparams.tuner_params;
  schunk.tuner_id = cparams.tuner_id;
  cparams.schunk = &schunk;
  dparams.schunk = &schunk;
  schunk.cctx = blosc2_create_cctx(cparams);
  schunk.dctx = blosc2_create_dctx(dparams);
  return schunk.cctx != nullptr && schunk.dctx != nullptr;
}

blosc2_metalayer* MakeLayer(const char* name, Bytes content) {
  auto* const layer = static_cast<blosc2_metalayer*>(std::malloc(sizeof(blosc2_metalayer)));
  layer->name = strdup(name);
  layer->content = static_cast<uint8_t*>(std::malloc(std::max<size_t>(content.size(), 1)));
  layer->content_len = static_cast<int32_t>(content.size());
  CopyBytes(content, MutableBytesAt(layer->content, layer->content_len));
  return layer;
}

blosc2_cparams ParametersOf(const FrameInfo& info) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.compcode = static_cast<uint8_t>(info.codec);
  cparams.compcode_meta = info.codec_meta;
  cparams.clevel = static_cast<uint8_t>(info.clevel);
  cparams.use_dict = info.use_dict ? 1 : 0;
  cparams.typesize = info.typesize;
  cparams.blocksize = info.blocksize.value_or(0);
  cparams.splitmode = static_cast<int32_t>(info.split_mode);
  std::ranges::fill(cparams.filters, uint8_t{0});
  const size_t first = BLOSC2_MAX_FILTERS - std::min<size_t>(info.filters.size(), 6);
  for (size_t i = 0; i < info.filters.size() && first + i < BLOSC2_MAX_FILTERS; ++i) {
    cparams.filters[first + i] = static_cast<uint8_t>(info.filters[i].filter);
    cparams.filters_meta[first + i] = info.filters[i].meta;
  }
  return cparams;
}

// Returns the field `chunksize` of the frame's super-chunk.
int32_t ChunksizeOf(const Snapshot& snapshot) {
  const FrameInfo& info = snapshot.info();
  return info.variable_chunks ? 0 : info.chunksize.value_or(-1);
}

// The layers of a frame, which Snapshot gives by names.
using Layers = std::vector<Metalayer>;

// Returns true if a super-chunk has these layers. They stay where they are then, since programs
// keep pointers to them and pass their names.
bool AreSame(std::span<blosc2_metalayer* const> present, const Layers& layers) {
  return std::ranges::equal(present, layers, [](const blosc2_metalayer* one, const Metalayer& two) {
    return one->name == two.name && AreEqual(BytesAt(one->content, one->content_len), two.content);
  });
}

absl::StatusOr<Layers> VlmetalayersOf(const Snapshot& snapshot) {
  Layers layers;
  for (const std::string& name : snapshot.vlmetalayers()) {
    CAIRN_ASSIGN_OR_RETURN(std::vector<std::byte> content, snapshot.GetVlmetalayer(name));
    layers.push_back({.name = name, .content = std::move(content)});
  }
  return layers;
}

// Takes the counters and the layers of a frame over.
int TakeContent(blosc2_schunk& schunk, const Snapshot& snapshot) {
  const FrameInfo& info = snapshot.info();
  schunk.chunksize = ChunksizeOf(snapshot);
  schunk.nchunks = info.nchunks;
  schunk.nbytes = info.nbytes;
  schunk.cbytes = info.cbytes;
  Flags2(schunk) = info.vlblocks ? kVlBlocks : 0;
  if (!AreSame({schunk.metalayers, schunk.nmetalayers}, snapshot.metalayers())) {
    FreeLayers(schunk.metalayers, std::exchange(schunk.nmetalayers, uint16_t{0}));
    for (const Metalayer& layer : snapshot.metalayers()) {
      const int code = AddMetalayer(schunk, layer.name.c_str(), layer.content);
      if (code < 0) return code;
    }
  }
  const absl::StatusOr<Layers> vlmetalayers = VlmetalayersOf(snapshot);
  if (!vlmetalayers.ok()) return CodeOf(vlmetalayers.status());
  const auto count = static_cast<size_t>(schunk.nvlmetalayers);
  if (AreSame({schunk.vlmetalayers, count}, *vlmetalayers)) return BLOSC2_ERROR_SUCCESS;
  FreeLayers(schunk.vlmetalayers, std::exchange(schunk.nvlmetalayers, int16_t{0}));
  for (const Metalayer& layer : *vlmetalayers) {
    const int code = AddVlmetalayer(schunk, layer.name.c_str(), layer.content);
    if (code < 0) return code;
  }
  return BLOSC2_ERROR_SUCCESS;
}

}  // namespace

void FreeLayers(blosc2_metalayer** layers, int count) {
  for (int i = 0; i < count; ++i) {
    std::free(layers[i]->name);
    std::free(layers[i]->content);
    std::free(layers[i]);
    layers[i] = nullptr;
  }
}

SchunkPtr MakeSchunk(const blosc2_storage& storage) {
  SchunkPtr schunk(static_cast<blosc2_schunk*>(std::calloc(1, sizeof(SchunkMemory))));
  if (schunk == nullptr) return nullptr;
  schunk->storage = CopyStorage(storage);
  if (TakeParameters(*schunk)) return schunk;
  Failed(BLOSC2_ERROR_NULL_POINTER, "super-chunk: its parameters are wrong");
  return nullptr;
}

SchunkPtr MakeSchunk(const Snapshot& snapshot, const char* urlpath, const blosc2_io* io) {
  const FrameInfo& info = snapshot.info();
  blosc2_cparams cparams = ParametersOf(info);
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  std::string path = urlpath != nullptr ? urlpath : "";
  blosc2_io used_io = io != nullptr ? *io : BLOSC2_IO_DEFAULTS;
  storage.contiguous = info.layout == Layout::kContiguous;
  storage.urlpath = urlpath != nullptr ? path.data() : nullptr;
  storage.cparams = &cparams;
  storage.dparams = &dparams;
  storage.io = &used_io;
  SchunkPtr schunk = MakeSchunk(storage);
  if (schunk == nullptr) return nullptr;
  if (TakeContent(*schunk, snapshot) < 0) return nullptr;
  return schunk;
}

void ShareContent(blosc2_schunk& view) {
  const blosc2_schunk& owner = OwnerOf(view);
  view.data = owner.data;
  view.data_len = owner.data_len;
  view.nvlmetalayers = owner.nvlmetalayers;
  std::copy_n(owner.vlmetalayers, owner.nvlmetalayers, view.vlmetalayers);
}

int TakeChange(blosc2_schunk& schunk, const FrameChange& change) {
  if (schunk.view) {
    const int code = TakeChange(OwnerOf(schunk), change);
    ShareContent(schunk);
    return code;
  }
  const int32_t chunksize = schunk.chunksize;
  const int code = TakeContent(schunk, change.now);
  // The program may have set the field, which holds until others change that of the file.
  if (ChunksizeOf(change.before) == schunk.chunksize) schunk.chunksize = chunksize;
  ++ChangeTick(schunk);
  return code;
}

int SyncWithFile(blosc2_schunk& schunk, const FieldsLock& lock,
                 std::optional<PinnedState>* pinned) {
  // The store of a view is that of its owner, and tells changes only once.
  if (schunk.view) {
    const int code = SyncWithFile(OwnerOf(schunk), lock, pinned);
    if (IsOnDisk(schunk)) ShareContent(schunk);  // under the lock, which memory has not
    return code;
  }
  if (schunk.frame == nullptr || !schunk.frame->on_disk()) return 0;
  std::optional<FrameChange> news;
  absl::StatusOr<std::optional<PinnedState>> now = schunk.frame->Pin(&news);
  if (!now.ok()) return CodeOf(now.status());
  if (pinned != nullptr) *pinned = *std::move(now);
  if (!news.has_value()) return 0;
  const int code = TakeChange(schunk, *news);
  return code < 0 ? code : 1;
}

EditBatch::EditBatch(blosc2_schunk& schunk) : frame_(schunk.frame) {
  if (frame_ == nullptr) return;
  code_ = CodeOf(frame_->Begin());
  if (code_ < 0) {
    frame_ = nullptr;
  } else {
    code_ = std::min(SyncWithFile(schunk), int{BLOSC2_ERROR_SUCCESS});
  }
}
EditBatch::~EditBatch() { End(); }

int EditBatch::End() {
  blosc2_frame_s* const frame = std::exchange(frame_, nullptr);
  return frame == nullptr ? int{BLOSC2_ERROR_SUCCESS} : CodeOf(frame->End());
}

int AddMetalayer(blosc2_schunk& schunk, const char* name, Bytes content) {
  if (schunk.nmetalayers >= BLOSC2_MAX_METALAYERS) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "metalayer: there are 16 already");
  }
  schunk.metalayers[schunk.nmetalayers] = MakeLayer(name, content);
  return schunk.nmetalayers++;
}

int AddVlmetalayer(blosc2_schunk& schunk, const char* name, Bytes content) {
  if (schunk.nvlmetalayers >= BLOSC2_MAX_VLMETALAYERS) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "vlmetalayer: there are 8192 already");
  }
  schunk.vlmetalayers[schunk.nvlmetalayers] = MakeLayer(name, content);
  return schunk.nvlmetalayers++;
}

}  // namespace cairn::blosc2_api
