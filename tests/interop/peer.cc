#include "tests/interop/peer.h"

#include <cstdlib>

namespace cairn::interop {
namespace {

std::optional<Buffer> Cut(Buffer buffer, int64_t size) {
  if (size <= 0) return std::nullopt;
  buffer.resize(static_cast<size_t>(size));
  return buffer;
}

}  // namespace

blosc2_cparams PeerParams(const CompressionOptions& options) {
  blosc2_cparams params = blosc2_get_blosc2_cparams_defaults();
  params.compcode = static_cast<uint8_t>(options.codec);
  params.compcode_meta = options.codec_meta;
  params.clevel = static_cast<uint8_t>(options.clevel);
  params.use_dict = options.use_dict ? 1 : 0;
  params.typesize = options.typesize;
  params.nthreads = 1;
  params.blocksize = options.blocksize;
  params.splitmode = static_cast<int32_t>(options.split_mode);
  const size_t first = BLOSC2_MAX_FILTERS - options.filters.size();
  for (size_t i = 0; i < BLOSC2_MAX_FILTERS; ++i) {
    const FilterStage stage = i < first ? FilterStage{} : options.filters[i - first];
    params.filters[i] = static_cast<uint8_t>(stage.filter);
    params.filters_meta[i] = stage.meta;
  }
  return params;
}

PeerContext PeerEncoder(const CompressionOptions& options) {
  return {blosc2_create_cctx(PeerParams(options)), blosc2_free_ctx};
}

PeerContext PeerDecoder() {
  return {blosc2_create_dctx(blosc2_get_blosc2_dparams_defaults()), blosc2_free_ctx};
}

std::optional<Buffer> PeerCompress(Bytes src, const CompressionOptions& options) {
  const PeerContext context = PeerEncoder(options);
  if (context == nullptr) return std::nullopt;
  Buffer chunk(src.size() + BLOSC2_MAX_OVERHEAD);
  const int size =
      blosc2_compress_ctx(context.get(), src.data(), Length(src), chunk.data(), Length(chunk));
  return Cut(std::move(chunk), size);
}

std::optional<Buffer> PeerDecompress(Bytes chunk, size_t nbytes) {
  const PeerContext context = PeerDecoder();
  Buffer decoded(nbytes);
  // Room for one byte more: a null destination is refused even where nothing is to be written.
  decoded.reserve(nbytes + 1);
  const int size = blosc2_decompress_ctx(context.get(), chunk.data(), Length(chunk), decoded.data(),
                                         Length(decoded));
  if (size < 0 || static_cast<size_t>(size) != nbytes) return std::nullopt;
  return decoded;
}

std::optional<Buffer> PeerGetItems(Bytes chunk, int start, int nitems, int32_t typesize) {
  const PeerContext context = PeerDecoder();
  Buffer items(static_cast<size_t>(nitems) * static_cast<size_t>(typesize));
  const int size = blosc2_getitem_ctx(context.get(), chunk.data(), Length(chunk), start, nitems,
                                      items.data(), Length(items));
  if (size < 0 || static_cast<size_t>(size) != items.size()) return std::nullopt;
  return items;
}

std::optional<Buffer> PeerCompressVlBlocks(std::span<const Buffer> blocks,
                                           const CompressionOptions& options) {
  const PeerContext context = PeerEncoder(options);
  if (context == nullptr) return std::nullopt;
  std::vector<const void*> starts;
  std::vector<int32_t> sizes;
  size_t room = 64 * 1024;
  for (const Buffer& block : blocks) {
    starts.push_back(block.data());
    sizes.push_back(Length(block));
    room += block.size() + 64;
  }
  Buffer chunk(room);
  const int size =
      blosc2_vlcompress_ctx(context.get(), starts.data(), sizes.data(),
                            static_cast<int32_t>(blocks.size()), chunk.data(), Length(chunk));
  return Cut(std::move(chunk), size);
}

std::optional<std::vector<Buffer>> PeerDecompressVlBlocks(Bytes chunk) {
  int32_t nblocks = 0;
  if (blosc2_vlchunk_get_nblocks(chunk.data(), Length(chunk), &nblocks) < 0) return std::nullopt;
  std::vector<void*> starts(static_cast<size_t>(nblocks));
  std::vector<int32_t> sizes(starts.size());
  const PeerContext context = PeerDecoder();
  const int decoded = blosc2_vldecompress_ctx(context.get(), chunk.data(), Length(chunk),
                                              starts.data(), sizes.data(), nblocks);
  if (decoded != nblocks) return std::nullopt;
  std::vector<Buffer> blocks;
  for (size_t i = 0; i < starts.size(); ++i) {
    const auto* first = static_cast<const std::byte*>(starts[i]);
    blocks.emplace_back(first, first + sizes[i]);
    std::free(starts[i]);
  }
  return blocks;
}

std::optional<Buffer> PeerSpecialChunk(SpecialValue special, int32_t nbytes, Bytes value,
                                       const CompressionOptions& options) {
  const blosc2_cparams params = PeerParams(options);
  Buffer chunk(BLOSC_EXTENDED_HEADER_LENGTH + value.size());
  void* out = chunk.data();
  int size = -1;
  switch (special) {
    case SpecialValue::kZeros:
      size = blosc2_chunk_zeros(params, nbytes, out, Length(chunk));
      break;
    case SpecialValue::kNans:
      size = blosc2_chunk_nans(params, nbytes, out, Length(chunk));
      break;
    case SpecialValue::kRepeat:
      size = blosc2_chunk_repeatval(params, nbytes, out, Length(chunk), value.data());
      break;
    case SpecialValue::kUninit:
      size = blosc2_chunk_uninit(params, nbytes, out, Length(chunk));
      break;
    case SpecialValue::kNone:
      break;
  }
  return Cut(std::move(chunk), size);
}

}  // namespace cairn::interop
