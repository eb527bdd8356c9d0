#include "cairn/chunk.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/cairn.h"
#include "cairn/types.h"
#include "engine/base/status.h"
#include "engine/c_api/handles.h"
#include "engine/c_api/options.h"
#include "engine/c_api/result.h"
#include "engine/c_api/versioned_struct.h"

using cairn::Bytes;
using cairn::MutableBytes;
using cairn::c_api::CheckStruct;
using cairn::c_api::Return;
using cairn::c_api::ReturnHandle;
using cairn::c_api::ReturnValue;
using cairn::c_api::ToBytes;
using cairn::c_api::ToCpp;
using cairn::c_api::ToMutableBytes;
using cairn::c_api::ToSpan;
using cairn::c_api::WriteStruct;

namespace cairn::c_api {
namespace {

cairn_chunk_info ToC(const ChunkInfo& info) {
  cairn_chunk_info result = {};
  result.version = info.version;
  result.header_size = info.header_size;
  result.typesize = info.typesize;
  result.nbytes = info.nbytes;
  result.cbytes = info.cbytes;
  result.blocksize = info.blocksize;
  result.nblocks = info.nblocks;
  result.codec = static_cast<cairn_codec>(info.codec);
  result.codec_meta = info.codec_meta;
  FromCpp(info.filters, result.filters);
  result.special = static_cast<cairn_special>(info.special);
  result.memcpyed = info.memcpyed;
  result.split = info.split;
  result.vlblocks = info.vlblocks;
  result.has_dict = info.has_dict;
  return result;
}

}  // namespace
}  // namespace cairn::c_api

size_t cairn_chunk_max_size(size_t nbytes) { return cairn::MaxCompressedSize(nbytes); }

size_t cairn_chunk_max_vlblocks_size(size_t nbytes, size_t nblocks) {
  return cairn::MaxVlCompressedSize(nbytes, nblocks);
}

cairn_code cairn_chunk_inspect(const void* chunk, size_t chunk_size, cairn_chunk_info* info,
                               cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_RETURN_IF_ERROR(CheckStruct(info, "info"));
    CAIRN_ASSIGN_OR_RETURN(const Bytes bytes, ToBytes(chunk, chunk_size, "chunk"));
    CAIRN_ASSIGN_OR_RETURN(const cairn::ChunkInfo found, cairn::InspectChunk(bytes));
    WriteStruct(cairn::c_api::ToC(found), info);
    return absl::OkStatus();
  });
}

cairn_code cairn_chunk_compress(const void* src, size_t src_size,
                                const cairn_compression_options* options, void* dst, size_t size,
                                size_t* cbytes, cairn_status* status) {
  return ReturnValue(cbytes, status, [&]() -> absl::StatusOr<size_t> {
    CAIRN_REQUIRE(cbytes);
    CAIRN_ASSIGN_OR_RETURN(const Bytes from, ToBytes(src, src_size, "src"));
    CAIRN_ASSIGN_OR_RETURN(const MutableBytes to, ToMutableBytes(dst, size));
    CAIRN_ASSIGN_OR_RETURN(const cairn::CompressionOptions converted, ToCpp(options));
    return cairn::CompressChunk(from, converted, to);
  });
}

cairn_code cairn_chunk_compress_vlblocks(const cairn_span* blocks, size_t nblocks,
                                         const cairn_compression_options* options, void* dst,
                                         size_t size, size_t* cbytes, cairn_status* status) {
  return ReturnValue(cbytes, status, [&]() -> absl::StatusOr<size_t> {
    CAIRN_REQUIRE(cbytes);
    CAIRN_ASSIGN_OR_RETURN(const std::span<const cairn_span> given,
                           ToSpan(blocks, static_cast<int64_t>(nblocks), "blocks"));
    std::vector<Bytes> from;
    for (const cairn_span& block : given) {
      CAIRN_ASSIGN_OR_RETURN(const Bytes bytes, ToBytes(block.data, block.size, "block"));
      from.push_back(bytes);
    }
    CAIRN_ASSIGN_OR_RETURN(const MutableBytes to, ToMutableBytes(dst, size));
    CAIRN_ASSIGN_OR_RETURN(const cairn::CompressionOptions converted, ToCpp(options));
    return cairn::CompressVlBlocks(from, converted, to);
  });
}

cairn_code cairn_chunk_make_special(cairn_special special, int32_t nbytes, const void* value,
                                    size_t value_size, const cairn_compression_options* options,
                                    cairn_bytes** chunk, cairn_status* status) {
  return ReturnHandle(chunk, "chunk", status, [&]() -> absl::StatusOr<cairn::Chunk> {
    CAIRN_ASSIGN_OR_RETURN(const cairn::SpecialValue kind, cairn::c_api::ToSpecial(special));
    CAIRN_ASSIGN_OR_RETURN(const Bytes bytes, ToBytes(value, value_size, "value"));
    CAIRN_ASSIGN_OR_RETURN(const cairn::CompressionOptions converted, ToCpp(options));
    CAIRN_ASSIGN_OR_RETURN(std::vector<std::byte> made,
                           cairn::MakeSpecialChunk(kind, nbytes, bytes, converted));
    return cairn::c_api::OwnBytes(std::move(made));
  });
}

cairn_code cairn_chunk_decompress(const void* chunk, size_t chunk_size,
                                  const cairn_decompression_options* options, void* dst,
                                  size_t size, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_ASSIGN_OR_RETURN(const Bytes from, ToBytes(chunk, chunk_size, "chunk"));
    CAIRN_ASSIGN_OR_RETURN(const MutableBytes to, ToMutableBytes(dst, size));
    CAIRN_ASSIGN_OR_RETURN(const cairn::DecompressionOptions converted, ToCpp(options));
    return cairn::DecompressChunk(from, to, converted);
  });
}

cairn_code cairn_chunk_decompress_items(const void* chunk, size_t chunk_size, int64_t start,
                                        const cairn_decompression_options* options, void* dst,
                                        size_t size, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_ASSIGN_OR_RETURN(const Bytes from, ToBytes(chunk, chunk_size, "chunk"));
    CAIRN_ASSIGN_OR_RETURN(const MutableBytes to, ToMutableBytes(dst, size));
    CAIRN_ASSIGN_OR_RETURN(const cairn::DecompressionOptions converted, ToCpp(options));
    return cairn::DecompressItems(from, start, to, converted);
  });
}

cairn_code cairn_chunk_block_sizes(const void* chunk, size_t chunk_size, int32_t* sizes,
                                   size_t capacity, size_t* nblocks, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(nblocks);
    if (capacity > 0) CAIRN_REQUIRE(sizes);
    CAIRN_ASSIGN_OR_RETURN(const Bytes bytes, ToBytes(chunk, chunk_size, "chunk"));
    CAIRN_ASSIGN_OR_RETURN(const std::vector<int32_t> found, cairn::BlockSizes(bytes));
    std::copy_n(found.begin(), std::min(capacity, found.size()), sizes);
    *nblocks = found.size();
    return absl::OkStatus();
  });
}

cairn_code cairn_compressor_make(const cairn_compression_options* options,
                                 cairn_compressor** compressor, cairn_status* status) {
  return ReturnHandle(
      compressor, "compressor", status, [&]() -> absl::StatusOr<cairn::ChunkCompressor> {
        CAIRN_ASSIGN_OR_RETURN(const cairn::CompressionOptions converted, ToCpp(options));
        return cairn::ChunkCompressor::Make(converted);
      });
}

cairn_code cairn_compressor_compress(const cairn_compressor* compressor, const void* src,
                                     size_t src_size, void* dst, size_t size, size_t* cbytes,
                                     cairn_status* status) {
  return ReturnValue(cbytes, status, [&]() -> absl::StatusOr<size_t> {
    CAIRN_REQUIRE(compressor);
    CAIRN_REQUIRE(cbytes);
    CAIRN_ASSIGN_OR_RETURN(const Bytes from, ToBytes(src, src_size, "src"));
    CAIRN_ASSIGN_OR_RETURN(const MutableBytes to, ToMutableBytes(dst, size));
    return compressor->compressor.Compress(from, to);
  });
}

void cairn_compressor_free(cairn_compressor* compressor) { delete compressor; }

cairn_code cairn_decompressor_make(const cairn_decompression_options* options,
                                   cairn_decompressor** decompressor, cairn_status* status) {
  return ReturnHandle(
      decompressor, "decompressor", status, [&]() -> absl::StatusOr<cairn::ChunkDecompressor> {
        CAIRN_ASSIGN_OR_RETURN(const cairn::DecompressionOptions converted, ToCpp(options));
        return cairn::ChunkDecompressor(converted);
      });
}

cairn_code cairn_decompressor_decompress(const cairn_decompressor* decompressor, const void* chunk,
                                         size_t chunk_size, void* dst, size_t size,
                                         cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(decompressor);
    CAIRN_ASSIGN_OR_RETURN(const Bytes from, ToBytes(chunk, chunk_size, "chunk"));
    CAIRN_ASSIGN_OR_RETURN(const MutableBytes to, ToMutableBytes(dst, size));
    return decompressor->decompressor.Decompress(from, to);
  });
}

cairn_code cairn_decompressor_decompress_items(const cairn_decompressor* decompressor,
                                               const void* chunk, size_t chunk_size, int64_t start,
                                               void* dst, size_t size, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(decompressor);
    CAIRN_ASSIGN_OR_RETURN(const Bytes from, ToBytes(chunk, chunk_size, "chunk"));
    CAIRN_ASSIGN_OR_RETURN(const MutableBytes to, ToMutableBytes(dst, size));
    return decompressor->decompressor.DecompressItems(from, start, to);
  });
}

void cairn_decompressor_free(cairn_decompressor* decompressor) { delete decompressor; }
