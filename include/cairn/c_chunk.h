// The C API: chunks without a frame. Include cairn/cairn.h.
#ifndef CAIRN_C_CHUNK_H_
#define CAIRN_C_CHUNK_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cairn/c_plugin.h"
#include "cairn/c_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Says how items become chunks.
typedef struct cairn_compression_options {
  size_t struct_size;
  cairn_codec codec;
  int32_t clevel;     // 0 stores the bytes as they are, 1 is fastest, 9 is smallest
  int32_t typesize;   // bytes of an item
  int32_t blocksize;  // bytes of a block; 0 means that Cairn chooses
  cairn_split_mode split_mode;
  int32_t codec_meta;  // parameter byte of NDLZ, of ZFP, or of a registered codec
  bool use_dict;       // trains a dictionary for each chunk; for LZ4, LZ4HC and zstd only
  cairn_chunk_format format;
  int32_t nfilters;
  cairn_filter_stage filters[CAIRN_MAX_FILTERS];  // in the order in which they are applied
  const cairn_registry* registry;                 // NULL: none
  const cairn_executor* executor;                 // NULL: the calling thread
  // Items of a block in each dimension, for codecs that need them. They are the block size, too. A
  // frame uses those of its array instead.
  const int32_t* blockshape;
  int32_t ndim;
} cairn_compression_options;
#define CAIRN_COMPRESSION_OPTIONS_INIT                                                        \
  {                                                                                           \
    .struct_size = sizeof(cairn_compression_options), .codec = CAIRN_CODEC_LZ4, .clevel = 5,  \
    .typesize = 1, .blocksize = 0, .split_mode = CAIRN_SPLIT_FORWARD_COMPAT, .codec_meta = 0, \
    .use_dict = false, .format = CAIRN_CHUNK_BLOSC2, .nfilters = 1,                           \
    .filters = {{CAIRN_FILTER_SHUFFLE, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}},           \
    .registry = NULL, .executor = NULL, .blockshape = NULL, .ndim = 0                         \
  }

typedef struct cairn_decompression_options {
  size_t struct_size;
  const cairn_registry* registry;
  const cairn_executor* executor;
  // The blockshape of the chunk, which does not store it. ZFP, NDCELL and NDMEAN need it.
  const int32_t* blockshape;
  int32_t ndim;
} cairn_decompression_options;
#define CAIRN_DECOMPRESSION_OPTIONS_INIT                                                    \
  {                                                                                         \
    .struct_size = sizeof(cairn_decompression_options), .registry = NULL, .executor = NULL, \
    .blockshape = NULL, .ndim = 0                                                           \
  }

// The content of a chunk header.
typedef struct cairn_chunk_info {
  size_t struct_size;
  int32_t version;      // 1, 2: Blosc1; 3, 4: pre-releases of Blosc2; 5; 6: vlblocks
  int32_t header_size;  // 32 or 16 bytes
  int32_t typesize;
  int32_t nbytes;     // decoded bytes
  int32_t cbytes;     // bytes of the chunk, including the header
  int32_t blocksize;  // decoded bytes of a block; 0 if blocks vary
  int32_t nblocks;
  cairn_codec codec;
  int32_t codec_meta;
  cairn_filter_stage filters[CAIRN_MAX_FILTERS];  // slots of the header, some of them none
  cairn_special special;
  bool memcpyed;  // the payload is stored as it is
  bool split;
  bool vlblocks;
  bool has_dict;
} cairn_chunk_info;

// Return the largest size of a chunk of nbytes, and of a chunk of nblocks variable blocks: SIZE_MAX
// if it would be more than that.
CAIRN_EXPORT size_t cairn_chunk_max_size(size_t nbytes);
CAIRN_EXPORT size_t cairn_chunk_max_vlblocks_size(size_t nbytes, size_t nblocks);

// Parses and checks the header of a chunk. `chunk` may be longer than the chunk.
CAIRN_EXPORT cairn_code cairn_chunk_inspect(const void* chunk, size_t chunk_size,
                                            cairn_chunk_info* info, cairn_status* status);
// Compresses src into dst and sets *cbytes to the size of the chunk.
// Errors: CAIRN_RESOURCE_EXHAUSTED if dst is too small, which cairn_chunk_max_size bytes never are.
CAIRN_EXPORT cairn_code cairn_chunk_compress(const void* src, size_t src_size,
                                             const cairn_compression_options* options, void* dst,
                                             size_t size, size_t* cbytes, cairn_status* status);
// Makes one chunk of exactly the given blocks, none of them empty. Errors: as above.
CAIRN_EXPORT cairn_code cairn_chunk_compress_vlblocks(const cairn_span* blocks, size_t nblocks,
                                                      const cairn_compression_options* options,
                                                      void* dst, size_t size, size_t* cbytes,
                                                      cairn_status* status);
// Makes a chunk of one value without data. `value` is NULL, except for CAIRN_SPECIAL_REPEAT.
CAIRN_EXPORT cairn_code cairn_chunk_make_special(cairn_special special, int32_t nbytes,
                                                 const void* value, size_t value_size,
                                                 const cairn_compression_options* options,
                                                 cairn_bytes** chunk, cairn_status* status);
// Decodes a whole chunk. `size` must be its nbytes.
CAIRN_EXPORT cairn_code cairn_chunk_decompress(const void* chunk, size_t chunk_size,
                                               const cairn_decompression_options* options,
                                               void* dst, size_t size, cairn_status* status);
// Decodes the items from number `start` on that fill dst. Decodes only the blocks that hold them.
// Errors: CAIRN_OUT_OF_RANGE if the chunk does not have all of these items.
CAIRN_EXPORT cairn_code cairn_chunk_decompress_items(const void* chunk, size_t chunk_size,
                                                     int64_t start,
                                                     const cairn_decompression_options* options,
                                                     void* dst, size_t size, cairn_status* status);
// Writes the decoded sizes of the first `capacity` blocks, and sets *nblocks to the number of all
// blocks. Plain copies and special values have no blocks.
CAIRN_EXPORT cairn_code cairn_chunk_block_sizes(const void* chunk, size_t chunk_size,
                                                int32_t* sizes, size_t capacity, size_t* nblocks,
                                                cairn_status* status);

// Compresses many chunks, as cairn_chunk_compress does one. Keeps its memory from call to call.
typedef struct cairn_compressor cairn_compressor;
CAIRN_EXPORT cairn_code cairn_compressor_make(const cairn_compression_options* options,
                                              cairn_compressor** compressor, cairn_status* status);
CAIRN_EXPORT cairn_code cairn_compressor_compress(const cairn_compressor* compressor,
                                                  const void* src, size_t src_size, void* dst,
                                                  size_t size, size_t* cbytes,
                                                  cairn_status* status);
CAIRN_EXPORT void cairn_compressor_free(cairn_compressor* compressor);

// Decompresses many chunks, as cairn_chunk_decompress and cairn_chunk_decompress_items do one.
typedef struct cairn_decompressor cairn_decompressor;
CAIRN_EXPORT cairn_code cairn_decompressor_make(const cairn_decompression_options* options,
                                                cairn_decompressor** decompressor,
                                                cairn_status* status);
CAIRN_EXPORT cairn_code cairn_decompressor_decompress(const cairn_decompressor* decompressor,
                                                      const void* chunk, size_t chunk_size,
                                                      void* dst, size_t size, cairn_status* status);
CAIRN_EXPORT cairn_code cairn_decompressor_decompress_items(const cairn_decompressor* decompressor,
                                                            const void* chunk, size_t chunk_size,
                                                            int64_t start, void* dst, size_t size,
                                                            cairn_status* status);
CAIRN_EXPORT void cairn_decompressor_free(cairn_decompressor* decompressor);

#ifdef __cplusplus
}
#endif

#endif  // CAIRN_C_CHUNK_H_
