// The public functions of cairn/chunk.h.
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "cairn/chunk.h"
#include "engine/base/status.h"
#include "engine/chunk/decoder.h"
#include "engine/chunk/encoder.h"
#include "engine/chunk/header.h"
#include "engine/chunk/hooked_decoder.h"
#include "engine/codec/stream_codec.h"

namespace cairn {

namespace {

Codec CodecOf(numbers::Coding coding) {
  switch (coding) {
    case numbers::Coding::kPco:
      return Codec::kPco;
    case numbers::Coding::kBitpack:
      return Codec::kBitpack;
    case numbers::Coding::kZstd:
    case numbers::Coding::kShuffledZstd:
      return Codec::kZstd;
    case numbers::Coding::kLz4:
    case numbers::Coding::kShuffledLz4:
      return Codec::kLz4;
  }
  return Codec::kZstd;
}

}  // namespace

absl::StatusOr<ChunkInfo> InspectChunk(Bytes chunk) {
  CAIRN_ASSIGN_OR_RETURN(const chunk::Header header, chunk::ParseHeader(chunk));
  ChunkInfo info;
  info.version = header.version;
  info.extended = header.extended;
  info.header_size = static_cast<int32_t>(header.size());
  info.typesize = header.typesize;
  info.nbytes = header.nbytes;
  info.cbytes = header.cbytes;
  info.blocksize = header.vlblocks ? 0 : header.blocksize;
  info.nblocks = header.nblocks();
  // A chunk without blocks needs no codec, so an unknown codec is not an error there.
  const absl::StatusOr<Codec> codec = chunk::CodecOf(header);
  if (header.has_blocks()) CAIRN_RETURN_IF_ERROR(codec.status());
  info.codec = codec.ok() ? *codec : static_cast<Codec>(header.codec_id);
  info.codec_meta = header.codec_meta;
  info.filters = header.filters;
  info.special = header.special;
  info.memcpyed = header.memcpyed;
  info.split = !header.unsplit;
  info.vlblocks = header.vlblocks;
  info.has_dict = header.has_dict;
  return info;
}

struct ChunkCompressor::State {
  chunk::WorkspacePool pool;
  std::optional<chunk::Encoder> encoder;  // works in `pool`
};

ChunkCompressor::ChunkCompressor(std::unique_ptr<State> state) : state_(std::move(state)) {}
ChunkCompressor::ChunkCompressor(ChunkCompressor&&) noexcept = default;
ChunkCompressor& ChunkCompressor::operator=(ChunkCompressor&&) noexcept = default;
ChunkCompressor::~ChunkCompressor() = default;

absl::StatusOr<ChunkCompressor> ChunkCompressor::Make(const CompressionOptions& options) {
  auto state = std::make_unique<State>();
  CAIRN_ASSIGN_OR_RETURN(state->encoder, chunk::Encoder::Make(options, &state->pool));
  return ChunkCompressor(std::move(state));
}

absl::StatusOr<size_t> ChunkCompressor::Compress(Bytes src, MutableBytes dst) const {
  return state_->encoder->Encode(src, dst);
}

absl::StatusOr<size_t> CompressChunk(Bytes src, const CompressionOptions& options,
                                     MutableBytes dst) {
  CAIRN_ASSIGN_OR_RETURN(const ChunkCompressor compressor, ChunkCompressor::Make(options));
  return compressor.Compress(src, dst);
}

absl::StatusOr<size_t> CompressVlBlocks(std::span<const Bytes> blocks,
                                        const CompressionOptions& options, MutableBytes dst) {
  chunk::WorkspacePool pool;
  CAIRN_ASSIGN_OR_RETURN(const chunk::Encoder encoder, chunk::Encoder::Make(options, &pool));
  return encoder.EncodeVlBlocks(blocks, dst);
}

absl::StatusOr<std::vector<std::byte>> MakeSpecialChunk(SpecialValue special, int32_t nbytes,
                                                        Bytes value,
                                                        const CompressionOptions& options) {
  chunk::WorkspacePool pool;
  CAIRN_ASSIGN_OR_RETURN(const chunk::Encoder encoder, chunk::Encoder::Make(options, &pool));
  return encoder.EncodeSpecial(special, nbytes, value);
}

struct ChunkDecompressor::State {
  DecompressionOptions options;
  chunk::WorkspacePool pool;
  chunk::DecodeContext context;

  absl::Status DecodeRange(const chunk::Decoder& decoder, int64_t begin, MutableBytes dst) const {
    const BlockHook* const hook = options.after_filters.get();
    if (hook == nullptr || decoder.header().vlblocks) return decoder.DecodeRange(begin, dst);
    return chunk::DecodeThroughHook(decoder, context, *hook, begin, dst);
  }
};

ChunkDecompressor::ChunkDecompressor(const DecompressionOptions& options)
    : state_(std::make_unique<State>()) {
  state_->options = options;
  state_->context = {.registry = state_->options.registry.get(),
                     .executor = state_->options.executor.get(),
                     .pool = &state_->pool,
                     .frame_typesize = state_->options.typesize,
                     .blockshape = state_->options.blockshape};
}
ChunkDecompressor::ChunkDecompressor(ChunkDecompressor&&) noexcept = default;
ChunkDecompressor& ChunkDecompressor::operator=(ChunkDecompressor&&) noexcept = default;
ChunkDecompressor::~ChunkDecompressor() = default;

absl::Status ChunkDecompressor::Decompress(Bytes chunk, MutableBytes dst) const {
  chunk::Decoder decoder;
  CAIRN_RETURN_IF_ERROR(decoder.Open(chunk, state_->context));
  if (state_->options.after_filters == nullptr || std::ssize(dst) != decoder.nbytes()) {
    return decoder.Decode(dst);
  }
  return state_->DecodeRange(decoder, 0, dst);
}

absl::Status ChunkDecompressor::DecompressItems(Bytes chunk, int64_t start,
                                                MutableBytes dst) const {
  chunk::Decoder decoder;
  CAIRN_RETURN_IF_ERROR(decoder.Open(chunk, state_->context));
  const int64_t typesize = decoder.header().typesize;
  if (static_cast<int64_t>(dst.size()) % typesize != 0) {
    return InvalidArgument("a buffer of %d bytes does not hold complete items of %d", dst.size(),
                           typesize);
  }
  if (start < 0 || start > decoder.nbytes()) {
    return OutOfRange("item %d of a chunk of %d", start, decoder.nbytes() / typesize);
  }
  return state_->DecodeRange(decoder, start * typesize, dst);
}

absl::Status DecompressChunk(Bytes chunk, MutableBytes dst, const DecompressionOptions& options) {
  return ChunkDecompressor(options).Decompress(chunk, dst);
}

absl::Status DecompressItems(Bytes chunk, int64_t start, MutableBytes dst,
                             const DecompressionOptions& options) {
  return ChunkDecompressor(options).DecompressItems(chunk, start, dst);
}

absl::StatusOr<std::vector<int32_t>> BlockSizes(Bytes chunk) {
  chunk::WorkspacePool pool;
  chunk::Decoder decoder;
  CAIRN_RETURN_IF_ERROR(decoder.Open(chunk, {.pool = &pool, .blockshape = {}}));
  std::vector<int32_t> sizes;
  for (int64_t i = 0; i < decoder.nblocks(); ++i) {
    CAIRN_ASSIGN_OR_RETURN(const chunk::BlockPlace place, decoder.PlaceOf(i));
    sizes.push_back(place.nbytes);
  }
  return sizes;
}

absl::StatusOr<std::vector<CodedColumn>> CodedColumns(Bytes chunk) {
  chunk::WorkspacePool pool;
  chunk::Decoder decoder;
  CAIRN_RETURN_IF_ERROR(decoder.Open(chunk, {.pool = &pool, .blockshape = {}}));
  CAIRN_ASSIGN_OR_RETURN(const std::vector<numbers::Column> columns, chunk::ReadColumns(decoder));
  std::vector<CodedColumn> coded;
  int32_t offset = 0;
  for (const numbers::Column& column : columns) {
    const auto kind =
        static_cast<uint8_t>(column.is_bytes ? 0 : 1 + static_cast<int>(column.type.kind));
    coded.push_back({.offset = offset,
                     .column = {.kind = kind,
                                .size = column.type.size,
                                .count = static_cast<int32_t>(column.count)},
                     .codec = CodecOf(column.coding),
                     .shuffled = numbers::IsShuffled(column.coding)});
    offset += static_cast<int32_t>(column.width());
  }
  return coded;
}

}  // namespace cairn
