#include "tests/interop/peer_frame.h"

#include <algorithm>
#include <cstdlib>

#include <blosc2/blosc2-stdio.h>

namespace cairn::interop {
namespace {

uint8_t* Data(Bytes bytes) {
  // The library's parameters are not const, but it only reads.
  return const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(bytes.data()));
}

// Takes over what the library gave out.
Buffer Adopt(uint8_t* content, int32_t length) {
  const auto* first = reinterpret_cast<const std::byte*>(content);
  Buffer buffer(first, first + length);
  std::free(content);
  return buffer;
}

}  // namespace

std::optional<PeerFrame> PeerFrame::Own(blosc2_schunk* schunk) {
  if (schunk == nullptr) return std::nullopt;
  return PeerFrame(schunk);
}

std::optional<PeerFrame> PeerFrame::Open(const std::string& path) {
  return Own(blosc2_schunk_open(path.c_str()));
}

std::optional<PeerFrame> PeerFrame::OpenMapped(const std::string& path) {
  // The mapping belongs to the super-chunk, which frees it.
  auto* mapping = static_cast<blosc2_stdio_mmap*>(std::malloc(sizeof(blosc2_stdio_mmap)));
  *mapping = blosc2_get_blosc2_stdio_mmap_defaults();
  mapping->needs_free = true;
  blosc2_io io = blosc2_get_blosc2_io_defaults();
  io.id = BLOSC2_IO_FILESYSTEM_MMAP;
  io.name = "filesystem_mmap";
  io.params = mapping;
  return Own(blosc2_schunk_open_udio(path.c_str(), &io));
}

std::optional<PeerFrame> PeerFrame::OpenLocking(const std::string& path) {
  static blosc2_stdio_params params = {.locking = true};
  blosc2_io io = blosc2_get_blosc2_io_defaults();
  io.params = &params;
  return Own(blosc2_schunk_open_udio(path.c_str(), &io));
}

std::optional<PeerFrame> PeerFrame::OpenBuffer(Bytes cframe) {
  return Own(blosc2_schunk_from_buffer(Data(cframe), static_cast<int64_t>(cframe.size()), true));
}

std::optional<PeerFrame> PeerFrame::Create(const std::string& path,
                                           const CompressionOptions& compression,
                                           const Layers& metalayers, Layout layout) {
  blosc2_cparams cparams = PeerParams(compression);
  blosc2_dparams dparams = blosc2_get_blosc2_dparams_defaults();
  std::string urlpath = path;
  blosc2_storage storage = blosc2_get_blosc2_storage_defaults();
  storage.contiguous = layout == Layout::kContiguous;
  storage.urlpath = urlpath.data();
  storage.cparams = &cparams;
  storage.dparams = &dparams;
  std::optional<PeerFrame> frame = Own(blosc2_schunk_new(&storage));
  if (!frame.has_value()) return frame;
  for (const auto& [name, content] : metalayers) {
    if (blosc2_meta_add(frame->schunk_.get(), name.c_str(), Data(content), Length(content)) < 0) {
      return std::nullopt;
    }
  }
  return frame;
}

std::optional<std::vector<Buffer>> PeerFrame::ReadChunks() const {
  std::vector<Buffer> chunks;
  for (int64_t i = 0; i < schunk_->nchunks; ++i) {
    uint8_t* lazy = nullptr;
    bool needs_free = false;
    if (blosc2_schunk_get_lazychunk(schunk_.get(), i, &lazy, &needs_free) < 0) return std::nullopt;
    int32_t nbytes = 0;
    const int found = blosc2_cbuffer_sizes(lazy, &nbytes, nullptr, nullptr);
    const bool uninitialised = found >= 0 && (lazy[0x1F] >> 4 & 7) == BLOSC2_SPECIAL_UNINIT;
    if (needs_free) std::free(lazy);
    if (found < 0) return std::nullopt;
    Buffer chunk(static_cast<size_t>(nbytes));
    const int decoded =
        blosc2_schunk_decompress_chunk(schunk_.get(), i, chunk.data(), Length(chunk));
    if (decoded != nbytes && !uninitialised) return std::nullopt;
    chunks.push_back(std::move(chunk));
  }
  return chunks;
}

std::optional<Buffer> PeerFrame::ReadItems(int64_t start, int64_t count) const {
  Buffer items(static_cast<size_t>(count * schunk_->typesize));
  if (blosc2_schunk_get_slice_buffer(schunk_.get(), start, start + count, items.data()) < 0) {
    return std::nullopt;
  }
  return items;
}

std::optional<Layers> PeerFrame::metalayers() const {
  Layers layers;
  for (int i = 0; i < schunk_->nmetalayers; ++i) {
    const char* name = schunk_->metalayers[i]->name;
    uint8_t* content = nullptr;
    int32_t length = 0;
    if (blosc2_meta_get(schunk_.get(), name, &content, &length) < 0) return std::nullopt;
    layers[name] = Adopt(content, length);
  }
  return layers;
}

std::optional<Layers> PeerFrame::vlmetalayers() const {
  std::vector<char*> names(static_cast<size_t>(schunk_->nvlmetalayers));
  if (blosc2_vlmeta_get_names(schunk_.get(), names.data()) < 0) return std::nullopt;
  Layers layers;
  for (const char* name : names) {
    uint8_t* content = nullptr;
    int32_t length = 0;
    if (blosc2_vlmeta_get(schunk_.get(), name, &content, &length) < 0) return std::nullopt;
    layers[name] = Adopt(content, length);
  }
  return layers;
}

std::optional<Buffer> PeerFrame::Compress(Bytes data) const {
  blosc2_cparams* params = nullptr;
  if (blosc2_schunk_get_cparams(schunk_.get(), &params) < 0) return std::nullopt;
  // A context of its own, for one that stays remembers the block size of its first chunk.
  params->schunk = nullptr;
  const PeerContext context(blosc2_create_cctx(*params), blosc2_free_ctx);
  std::free(params);
  if (context == nullptr) return std::nullopt;
  Buffer chunk(data.size() + BLOSC2_MAX_OVERHEAD);
  const int size =
      blosc2_compress_ctx(context.get(), data.data(), Length(data), chunk.data(), Length(chunk));
  if (size <= 0) return std::nullopt;
  chunk.resize(static_cast<size_t>(size));
  return chunk;
}

bool PeerFrame::Append(Bytes data) {
  return blosc2_schunk_append_buffer(schunk_.get(), data.data(), Length(data)) > 0;
}

bool PeerFrame::Update(int64_t nchunk, Bytes data) {
  const auto chunk = Compress(data);
  return chunk.has_value() &&
         blosc2_schunk_update_chunk(schunk_.get(), nchunk, Data(*chunk), true) >= 0;
}

bool PeerFrame::Insert(int64_t nchunk, Bytes data) {
  const auto chunk = Compress(data);
  return chunk.has_value() &&
         blosc2_schunk_insert_chunk(schunk_.get(), nchunk, Data(*chunk), true) >= 0;
}

bool PeerFrame::Delete(int64_t nchunk) {
  return blosc2_schunk_delete_chunk(schunk_.get(), nchunk) >= 0;
}

bool PeerFrame::ReorderChunks(std::span<const int64_t> order) {
  std::vector<int64_t> copy(order.begin(), order.end());
  return blosc2_schunk_reorder_offsets(schunk_.get(), copy.data()) >= 0;
}

bool PeerFrame::SetVlmetalayer(const std::string& name, Bytes content) {
  blosc2_schunk* schunk = schunk_.get();
  const bool known = blosc2_vlmeta_exists(schunk, name.c_str()) >= 0;
  const auto set = known ? blosc2_vlmeta_update : blosc2_vlmeta_add;
  return set(schunk, name.c_str(), Data(content), Length(content), nullptr) >= 0;
}

bool PeerFrame::DeleteVlmetalayer(const std::string& name) {
  return blosc2_vlmeta_delete(schunk_.get(), name.c_str()) >= 0;
}

bool PeerFrame::UpdateMetalayer(const std::string& name, Bytes content) {
  return blosc2_meta_update(schunk_.get(), name.c_str(), Data(content), Length(content)) >= 0;
}

}  // namespace cairn::interop
