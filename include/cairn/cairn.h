// The C API, in C99: what programs in C and bindings of other languages need of the C++ API. A call
// promises and costs what the C++ call of the same name does; the C++ headers say more.
//
// Results. A call that can fail returns a code, which is CAIRN_OK (0) for success, and fills
// `status`, its last parameter, which may be NULL. If a call fails, the handle that it would have
// returned is NULL, the content of `dst` is unspecified, and other outputs are unchanged.
//
// Errors that many calls return; each comment adds its own, and docs/c-api.md lists them by call:
//   CAIRN_INVALID_ARGUMENT if an argument is wrong, or NULL and may not be, or if a file is not a
//     Blosc2 frame.
//   CAIRN_DATA_LOSS if a frame or a chunk that the call reads is damaged.
//   CAIRN_UNIMPLEMENTED if this build lacks a codec, a filter or a version that the call needs.
//   CAIRN_RESOURCE_EXHAUSTED if a read would pass a limit, or if the disk is full.
//   CAIRN_PERMISSION_DENIED or CAIRN_INTERNAL if the operating system refuses or fails.
//   CAIRN_UNAVAILABLE or CAIRN_DEADLINE_EXCEEDED if an object store gives no answer in time.
//
// Handles are opaque. cairn_X_free frees a handle and accepts NULL. It waits for no call: make sure
// that no other thread still uses the handle. Snapshots, bytes and writers stay valid after their
// frame is freed, and all handles after their cairn_files is freed. What uses an executor or a
// registry must not outlive it.
//
// Threads. All calls may run at the same time on the same handle, unless it is a writer. A writer
// belongs to one thread at a time, except for cairn_writer_sync. A registry must be filled before
// it is shared. Options are only read. There is no global state.
//
// Memory. Items and bytes are read into `dst` of `size` bytes, which the caller owns. They are
// written from `src`, which no call keeps. No call converts items to another byte order. Strings
// are UTF-8 or what the file system takes, and end with a zero byte. They belong to the handle or
// call that returned them.
//
// Structs that may grow begin with struct_size. Initialise options by their macro, and other
// structs by `{.struct_size = sizeof(TYPE)}`. The library reads and writes only the fields that the
// program was compiled with, and refuses unknown sizes. NULL options mean the defaults.
//
// Counts, positions and sizes in files are int64_t, and sizes in memory are size_t. Times are in
// milliseconds. -1 means unknown or absent, if the comment of a field says so.
//
// Callbacks get the `context` that was given with them. They run in the thread of the call, unless
// their comment says otherwise. They must neither throw nor jump out of the call.
#ifndef CAIRN_CAIRN_H_
#define CAIRN_CAIRN_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cairn/version.h"

#define CAIRN_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

// ---- Results ----

// Enumerations are int32_t, so that the library can refuse a value that this header does not know.
typedef int32_t cairn_code;
enum {
  CAIRN_OK = 0,
  CAIRN_CANCELLED = 1,  // a callback returned false
  CAIRN_UNKNOWN = 2,
  CAIRN_INVALID_ARGUMENT = 3,  // the arguments are wrong, or the file is not a Blosc2 frame
  CAIRN_DEADLINE_EXCEEDED = 4,
  CAIRN_NOT_FOUND = 5,       // no such file or metadata
  CAIRN_ALREADY_EXISTS = 6,  // something has the name already
  CAIRN_PERMISSION_DENIED = 7,
  CAIRN_RESOURCE_EXHAUSTED = 8,   // the disk or a buffer is full, or a limit would be passed
  CAIRN_FAILED_PRECONDITION = 9,  // the frame or writer is not in a state for the call
  CAIRN_ABORTED = 10,
  CAIRN_OUT_OF_RANGE = 11,   // no such item, chunk or byte
  CAIRN_UNIMPLEMENTED = 12,  // valid, but this build lacks the codec, filter or version
  CAIRN_INTERNAL = 13,
  CAIRN_UNAVAILABLE = 14,  // another writer holds the frame: try again
  CAIRN_DATA_LOSS = 15,    // the bytes are damaged
  CAIRN_UNAUTHENTICATED = 16
};

// Bytes of a message and its zero byte. Longer ones are cut between characters and end in "...".
#define CAIRN_MESSAGE_SIZE 908
#define CAIRN_SECTION_SIZE 44  // bytes of a section, likewise
#define CAIRN_MAX_NUMBERS 8

// The result of a call. It may be anywhere, such as on the stack. After success all of it is empty.
typedef struct cairn_status {
  cairn_code code;
  char message[CAIRN_MESSAGE_SIZE];  // names the file, the section or chunk, and the numbers
  // The first section ("chunk", "frame header", "trailer", ...) or argument that the message names,
  // and its first numbers. For "chunk" the first number is that of the chunk.
  char section[CAIRN_SECTION_SIZE];
  int32_t nnumbers;
  int64_t numbers[CAIRN_MAX_NUMBERS];
} cairn_status;

// Returns a static name such as "DATA_LOSS", or "UNKNOWN" if the number is not a code.
CAIRN_EXPORT const char* cairn_code_name(cairn_code code);

// Returns the version of the running library, such as "0.1.0", as a static string. The macros
// CAIRN_VERSION_MAJOR and so on give the version of the header.
CAIRN_EXPORT const char* cairn_version(void);

// ---- Numbers of the format ----

#define CAIRN_MAX_CHUNK_NBYTES 2147483615  // most bytes in one chunk
#define CAIRN_MAX_FILTERS 6
#define CAIRN_MAX_NDIM 16  // most dimensions of an array

// Codecs. Ids 160 to 255 of codecs and filters belong to programs; see cairn_registry.
typedef int32_t cairn_codec;
enum {
  CAIRN_CODEC_BLOSCLZ = 0,
  CAIRN_CODEC_LZ4 = 1,
  CAIRN_CODEC_LZ4HC = 2,
  CAIRN_CODEC_ZLIB = 4,
  CAIRN_CODEC_ZSTD = 5,
  // Codecs for blocks of n-dimensional arrays. ZFP loses bits, and needs a build with libzfp.
  CAIRN_CODEC_NDLZ = 32,           // meta: side of a cell, 4 or 8
  CAIRN_CODEC_ZFP_ACCURACY = 33,   // meta: an int8_t, the exponent to base 10 of the largest error
  CAIRN_CODEC_ZFP_PRECISION = 34,  // meta: bit planes
  CAIRN_CODEC_ZFP_RATE = 35        // meta: per cent of the size
};

typedef int32_t cairn_filter;
enum {
  CAIRN_FILTER_NONE = 0,
  CAIRN_FILTER_SHUFFLE = 1,
  CAIRN_FILTER_BITSHUFFLE = 2,
  CAIRN_FILTER_DELTA = 3,
  CAIRN_FILTER_TRUNC_PREC = 4,        // meta: mantissa bits kept (> 0) or cleared (< 0), as int8_t
  CAIRN_FILTER_NDCELL = 32,           // only decoded, inside arrays
  CAIRN_FILTER_NDMEAN = 33,           // only decoded, inside arrays
  CAIRN_FILTER_BYTEDELTA_BUGGY = 34,  // only decoded
  CAIRN_FILTER_BYTEDELTA = 35,        // meta: byte channels; 0 means the typesize
  CAIRN_FILTER_INT_TRUNC = 36         // meta: bits kept (> 0) or cleared (<= 0), as int8_t
};

// The value of a chunk that stores no data.
typedef int32_t cairn_special;
enum {
  CAIRN_SPECIAL_NONE = 0,
  CAIRN_SPECIAL_ZEROS = 1,
  CAIRN_SPECIAL_NANS = 2,
  CAIRN_SPECIAL_REPEAT = 3,
  CAIRN_SPECIAL_UNINIT = 4
};

// Says how a block is compressed: as one stream, or as one stream per byte position of its items.
typedef int32_t cairn_split_mode;
enum {
  CAIRN_SPLIT_ALWAYS = 1,
  CAIRN_SPLIT_NEVER = 2,
  CAIRN_SPLIT_AUTO = 3,
  CAIRN_SPLIT_FORWARD_COMPAT = 4
};

typedef int32_t cairn_fingerprint;
enum {
  CAIRN_FINGERPRINT_NONE = 0,
  CAIRN_FINGERPRINT_32BIT = 1,
  CAIRN_FINGERPRINT_64BIT = 2,
  CAIRN_FINGERPRINT_128BIT = 3
};

typedef int32_t cairn_layout;
enum {
  CAIRN_LAYOUT_SAME = -1,       // only for a copy: the layout of the frame
  CAIRN_LAYOUT_CONTIGUOUS = 0,  // one file
  CAIRN_LAYOUT_SPARSE = 1       // a directory with a file for each chunk
};

// The age of a frame's format. All formats except the current one are read-only.
typedef int32_t cairn_era;
enum {
  CAIRN_ERA_PACKED_2015 = 0,
  CAIRN_ERA_FRAME_2019 = 1,
  CAIRN_ERA_BETA = 2,
  CAIRN_ERA_CURRENT = 3  // 2.0.0 rc1 and later
};

typedef int32_t cairn_chunk_format;
enum {
  CAIRN_CHUNK_BLOSC2 = 0,
  CAIRN_CHUNK_BLOSC1 = 1  // C-Blosc 1.x reads it; at most one of shuffle and bitshuffle
};

// Says when the fingerprint of a chunk is checked against its bytes.
typedef int32_t cairn_verify_policy;
enum {
  CAIRN_VERIFY_FIRST_TOUCH = 0,  // at the first read of the chunk through one frame handle
  CAIRN_VERIFY_ALWAYS = 1,       // at every read
  CAIRN_VERIFY_NEVER = 2
};

typedef int32_t cairn_verify_depth;
enum {
  CAIRN_DEPTH_STRUCTURE = 0,     // header, trailer, index and the header of each chunk
  CAIRN_DEPTH_FINGERPRINTS = 1,  // also every stored byte against its fingerprint
  CAIRN_DEPTH_CONTENTS = 2       // also that every chunk and vlmetalayer decodes
};

// The failure that a commit survives.
typedef int32_t cairn_durability;
enum {
  CAIRN_DURABILITY_PROCESS = 0,  // the process is killed
  CAIRN_DURABILITY_MACHINE = 1   // the power is cut
};

// ---- Small structs, which will not grow ----

typedef struct cairn_filter_stage {
  cairn_filter filter;
  int32_t meta;  // 0 to 255
} cairn_filter_stage;

// A part of each of many items, such as a field of records, and the place for these parts.
typedef struct cairn_field {
  int32_t offset;  // bytes from the start of the item
  int32_t size;    // bytes
  void* dst;       // `size` bytes for each item
} cairn_field;

typedef struct cairn_metalayer {
  const char* name;
  const void* content;
  size_t size;
} cairn_metalayer;

typedef struct cairn_span {
  const void* data;
  size_t size;
} cairn_span;

// Called with the chunks or bytes done so far. Returns false to stop the call: CAIRN_CANCELLED.
typedef bool (*cairn_progress)(void* context, int64_t done);

// ---- Bytes that the library owns ----

// Immutable bytes: a compressed chunk in place in the map, which they keep, or a copy in memory.
typedef struct cairn_bytes cairn_bytes;
// Return the data, which live as long as the handle, and their size. Return NULL and 0 for NULL.
CAIRN_EXPORT const void* cairn_bytes_data(const cairn_bytes* bytes);
CAIRN_EXPORT size_t cairn_bytes_size(const cairn_bytes* bytes);
CAIRN_EXPORT void cairn_bytes_free(cairn_bytes* bytes);

// ---- Threads and plug-ins ----

// Threads that code the blocks of a chunk at the same time, instead of the calling thread alone.
typedef struct cairn_executor cairn_executor;
// Makes a pool of `threads` threads, including the caller. 0 means one per core, the maximum.
CAIRN_EXPORT cairn_code cairn_executor_make(int32_t threads, cairn_executor** executor,
                                            cairn_status* status);
CAIRN_EXPORT void cairn_executor_free(cairn_executor* executor);

// The parameters of a call to a plug-in.
typedef struct cairn_plugin_call {
  size_t struct_size;
  int32_t typesize;           // as in the chunk header: 1 to 255
  int32_t clevel;             // 1 to 9, for compression only
  int32_t meta;               // parameter byte of the codec or of the filter's slot
  const int32_t* blockshape;  // for codecs: items of a block in each dimension of an array
  int32_t ndim;               // 0: not an array
} cairn_plugin_call;

// A codec, called by several threads at once. If it returns an error, so does the call that codes.
typedef struct cairn_codec_plugin {
  size_t struct_size;
  // Sets *cbytes to the compressed size, or to 0 if the result would not fit into dst.
  cairn_code (*compress)(void* context, const cairn_plugin_call* call, const void* src,
                         size_t src_size, void* dst, size_t size, size_t* cbytes);
  // Fills dst completely.
  cairn_code (*decompress)(void* context, const cairn_plugin_call* call, const void* src,
                           size_t src_size, void* dst, size_t size);
  void* context;
} cairn_codec_plugin;

// A filter over one block of `size` bytes. src and dst do not overlap. It is called as a codec is.
typedef struct cairn_filter_plugin {
  size_t struct_size;
  cairn_code (*forward)(void* context, const cairn_plugin_call* call, const void* src, void* dst,
                        size_t size);
  cairn_code (*backward)(void* context, const cairn_plugin_call* call, const void* src, void* dst,
                         size_t size);
  void* context;
} cairn_filter_plugin;

// The codecs and filters of a program.
typedef struct cairn_registry cairn_registry;
CAIRN_EXPORT cairn_code cairn_registry_make(cairn_registry** registry, cairn_status* status);
// Add a plug-in under an id from 160 to 255. Errors: CAIRN_ALREADY_EXISTS if the id is taken.
CAIRN_EXPORT cairn_code cairn_registry_add_codec(cairn_registry* registry, int32_t id,
                                                 const cairn_codec_plugin* codec,
                                                 cairn_status* status);
CAIRN_EXPORT cairn_code cairn_registry_add_filter(cairn_registry* registry, int32_t id,
                                                  const cairn_filter_plugin* filter,
                                                  cairn_status* status);
CAIRN_EXPORT void cairn_registry_free(cairn_registry* registry);

// ---- Chunks without a frame ----

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

// Return the largest size of a chunk of nbytes, and of a chunk of nblocks variable blocks.
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

// ---- Frames ----

// A file system. cairn_uri_files_open (cairn/cairn_s3.h) makes one that leads to object stores.
typedef struct cairn_files cairn_files;
CAIRN_EXPORT void cairn_files_free(cairn_files* files);

typedef struct cairn_frame cairn_frame;
typedef struct cairn_snapshot cairn_snapshot;
typedef struct cairn_writer cairn_writer;

typedef struct cairn_open_options {
  size_t struct_size;
  int64_t offset;     // bytes before the frame in the file; read-only if not 0
  bool use_mmap;      // without a map every read copies, and a file that is cut gives no SIGBUS
  bool durable_only;  // shows only commits that no power cut can take back; read-only
  cairn_verify_policy verify;
  const uint64_t* generation;   // opens this generation, read-only; NULL: the newest
  int64_t max_chunk_nbytes;     // limit for an untrusted file: decoded bytes of one chunk
  int64_t max_metadata_nbytes;  // limit: decoded bytes of one vlmetalayer
  int64_t max_nchunks;          // limit: chunks of the frame
  int64_t max_decode_memory;    // limit: bytes that one call allocates to decode
  int32_t max_mapped_files;     // files of a sparse frame that are mapped at the same time
  const cairn_registry* registry;
  const cairn_executor* executor;
  const cairn_files* files;  // file system of the path; NULL: the operating system's
  int64_t cache_memory;      // bytes of decoded blocks that may stay for the next read
} cairn_open_options;
#define CAIRN_OPEN_OPTIONS_INIT                                                           \
  {                                                                                       \
    .struct_size = sizeof(cairn_open_options), .offset = 0, .use_mmap = true,             \
    .durable_only = false, .verify = CAIRN_VERIFY_FIRST_TOUCH, .generation = NULL,        \
    .max_chunk_nbytes = CAIRN_MAX_CHUNK_NBYTES, .max_metadata_nbytes = INT64_C(64) << 20, \
    .max_nchunks = INT64_C(1) << 28, .max_decode_memory = INT64_C(256) << 20,             \
    .max_mapped_files = 256, .registry = NULL, .executor = NULL, .files = NULL,           \
    .cache_memory = INT64_C(8) << 20                                                      \
  }

// The shape of an n-dimensional array, in items. The slowest dimension comes first.
typedef struct cairn_array_info {
  size_t struct_size;
  int32_t ndim;
  int64_t shape[CAIRN_MAX_NDIM];
  int32_t chunkshape[CAIRN_MAX_NDIM];  // all 0: Cairn chooses when it makes the array
  int32_t blockshape[CAIRN_MAX_NDIM];  // all 0: as above
  const char* dtype;                   // NumPy's name, such as "<f4"; NULL or "": Cairn chooses
  int32_t dtype_format;
} cairn_array_info;

typedef struct cairn_create_options {
  size_t struct_size;
  const cairn_compression_options* compression;  // NULL: the defaults
  int32_t chunksize;                             // bytes; 0 makes one chunk of each append
  cairn_layout layout;
  const cairn_array_info* array;  // makes an array of zeros; NULL: not an array
  const cairn_metalayer* metalayers;
  size_t nmetalayers;  // at most 16
  cairn_fingerprint fingerprint;
  bool overwrite;            // replaces a file or sparse frame of that name
  const cairn_files* files;  // as in cairn_open_options
} cairn_create_options;
#define CAIRN_CREATE_OPTIONS_INIT                                                           \
  {                                                                                         \
    .struct_size = sizeof(cairn_create_options), .compression = NULL, .chunksize = 1 << 20, \
    .layout = CAIRN_LAYOUT_CONTIGUOUS, .array = NULL, .metalayers = NULL, .nmetalayers = 0, \
    .fingerprint = CAIRN_FINGERPRINT_64BIT, .overwrite = false, .files = NULL               \
  }

// Opens a file, or the directory of a sparse frame.
// Errors: CAIRN_NOT_FOUND if nothing exists at `path` or the generation is no longer kept;
// CAIRN_INVALID_ARGUMENT if it is not a Blosc2 frame; CAIRN_UNAVAILABLE if it is being replaced.
CAIRN_EXPORT cairn_code cairn_frame_open(const char* path, const cairn_open_options* options,
                                         cairn_frame** frame, cairn_status* status);
// Opens bytes, read-only. They must outlive, unchanged, the frame, its snapshots and their bytes.
CAIRN_EXPORT cairn_code cairn_frame_open_buffer(const void* data, size_t data_size,
                                                const cairn_open_options* options,
                                                cairn_frame** frame, cairn_status* status);
// Makes an empty frame.
// Errors: CAIRN_ALREADY_EXISTS if something exists at `path` and `overwrite` is false;
// CAIRN_FAILED_PRECONDITION if what is there cannot be replaced; CAIRN_UNAVAILABLE if it is in use.
CAIRN_EXPORT cairn_code cairn_frame_create(const char* path, const cairn_create_options* options,
                                           cairn_frame** frame, cairn_status* status);
CAIRN_EXPORT cairn_code cairn_frame_create_in_memory(const cairn_create_options* options,
                                                     cairn_frame** frame, cairn_status* status);
// Begins a frame that appears at `path`, complete, at the first commit or close. Errors: as above.
CAIRN_EXPORT cairn_code cairn_frame_build(const char* path, const cairn_create_options* options,
                                          cairn_writer** writer, cairn_status* status);
CAIRN_EXPORT void cairn_frame_free(cairn_frame* frame);
// Returns the newest state that this handle has seen.
CAIRN_EXPORT cairn_code cairn_frame_snapshot(const cairn_frame* frame, cairn_snapshot** snapshot,
                                             cairn_status* status);
// Looks for newer commits and returns the newest state. Errors, also of waiting: as for opening.
CAIRN_EXPORT cairn_code cairn_frame_refresh(cairn_frame* frame, cairn_snapshot** snapshot,
                                            cairn_status* status);
// Waits for a commit of any process after `seen`. Returns a snapshot equal to it after the timeout.
CAIRN_EXPORT cairn_code cairn_frame_wait_for_commit(cairn_frame* frame, const cairn_snapshot* seen,
                                                    int64_t timeout_ms, cairn_snapshot** snapshot,
                                                    cairn_status* status);
// Returns the newest state that this handle has seen, as the bytes of one contiguous frame.
CAIRN_EXPORT cairn_code cairn_frame_to_buffer(const cairn_frame* frame, cairn_bytes** buffer,
                                              cairn_status* status);

// A state that can still be opened; see cairn_open_options.generation.
typedef struct cairn_generation_info {
  size_t struct_size;
  uint64_t generation;
  bool checkpoint;  // false: a commit of the journal, which only Cairn reads
  int64_t nchunks;
  int64_t nbytes;
  int64_t end;  // end of its last byte in the file
} cairn_generation_info;

typedef struct cairn_history_options {
  size_t struct_size;
  const uint64_t* before;  // only generations before this one; NULL: all
  int64_t limit;           // most generations; the newest are taken
} cairn_history_options;
#define CAIRN_HISTORY_OPTIONS_INIT \
  { .struct_size = sizeof(cairn_history_options), .before = NULL, .limit = INT64_MAX }

// Calls `each` for every generation, oldest first. If `each` returns false, the list ends with
// CAIRN_OK. Errors: CAIRN_UNAVAILABLE if other processes keep dropping generations.
CAIRN_EXPORT cairn_code cairn_frame_history(const cairn_frame* frame,
                                            const cairn_history_options* options,
                                            bool (*each)(void* context,
                                                         const cairn_generation_info* info),
                                            void* context, cairn_status* status);

// A reader that holds an old generation and keeps its space in use.
typedef struct cairn_generation_holder {
  size_t struct_size;
  uint64_t generation;
  int64_t pid;              // 0: unknown
  int64_t running_seconds;  // time since the process began; -1: unknown
} cairn_generation_holder;

// Calls `each` for every reader of a generation before the last checkpoint, as history does.
CAIRN_EXPORT cairn_code cairn_frame_old_readers(const cairn_frame* frame,
                                                bool (*each)(void* context,
                                                             const cairn_generation_holder* holder),
                                                void* context, cairn_status* status);

typedef struct cairn_compact_options {
  size_t struct_size;
  int64_t wait_ms;          // time to wait for a writer, before CAIRN_UNAVAILABLE
  cairn_progress progress;  // NULL: none
  void* context;
  const cairn_executor* executor;
} cairn_compact_options;
#define CAIRN_COMPACT_OPTIONS_INIT                                                                 \
  {                                                                                                \
    .struct_size = sizeof(cairn_compact_options), .wait_ms = 0, .progress = NULL, .context = NULL, \
    .executor = NULL                                                                               \
  }

typedef struct cairn_compact_report {
  size_t struct_size;
  int64_t size_before;  // bytes of all files of the frame
  int64_t size_after;
} cairn_compact_report;

// Writes the newest state again, without dead bytes. `report` may be NULL.
// Errors: CAIRN_UNAVAILABLE if a writer holds the frame for longer than wait_ms; CAIRN_CANCELLED if
// `progress` returns false; CAIRN_FAILED_PRECONDITION as for cairn_frame_open_writer.
CAIRN_EXPORT cairn_code cairn_frame_compact(cairn_frame* frame,
                                            const cairn_compact_options* options,
                                            cairn_compact_report* report, cairn_status* status);

typedef struct cairn_copy_options {
  size_t struct_size;
  const cairn_snapshot* since;  // writes an increment: what is new since it; NULL: everything
  cairn_layout layout;
  bool overwrite;           // replaces a file or sparse frame of that name
  cairn_progress progress;  // NULL: none
  void* context;
} cairn_copy_options;
#define CAIRN_COPY_OPTIONS_INIT                                                            \
  {                                                                                        \
    .struct_size = sizeof(cairn_copy_options), .since = NULL, .layout = CAIRN_LAYOUT_SAME, \
    .overwrite = false, .progress = NULL, .context = NULL                                  \
  }

// Copies the newest state, and does not disturb a writer. Returns that state in `copied`, which may
// be NULL. Errors: as for cairn_frame_create; CAIRN_CANCELLED if `progress` returns false;
// CAIRN_FAILED_PRECONDITION also if no increment leads from `since` to that state.
CAIRN_EXPORT cairn_code cairn_frame_copy_to(cairn_frame* frame, const char* path,
                                            const cairn_copy_options* options,
                                            cairn_snapshot** copied, cairn_status* status);

// ---- Snapshots: everything that reads ----

CAIRN_EXPORT void cairn_snapshot_free(cairn_snapshot* snapshot);
// Returns true if both are the same state of one frame handle. Snapshots from before and after a
// refresh are equal if nothing is new. Returns false for NULL.
CAIRN_EXPORT bool cairn_snapshot_equal(const cairn_snapshot* a, const cairn_snapshot* b);

// Describes a state of a frame. Sizes are bytes.
typedef struct cairn_frame_info {
  size_t struct_size;
  cairn_layout layout;
  cairn_era era;
  int32_t format_version;
  int64_t nchunks;       // pending items count as the last chunk
  int64_t nitems;        // complete items; for an array, the items of its shape
  int64_t nbytes;        // decoded bytes, with the padding of an array
  int64_t cbytes;        // bytes of stored chunks
  int64_t frame_size;    // bytes from header to trailer
  int64_t journal_size;  // bytes of the commits after the last checkpoint, which only Cairn reads
  int64_t header_len;
  int64_t dead_bytes;  // -1: unknown
  int32_t typesize;
  int32_t chunksize;  // -1: variable, or unknown before the first chunk
  bool variable_chunks;
  int32_t blocksize;  // 0: chosen for each chunk
  cairn_codec codec;  // from here to `filters`: defaults for new chunks
  int32_t codec_meta;
  int32_t clevel;
  cairn_split_mode split_mode;
  bool use_dict;
  bool vlblocks;  // blocks differ in size
  int32_t nfilters;
  cairn_filter_stage filters[CAIRN_MAX_FILTERS];
  cairn_fingerprint fingerprint;
  bool sealed;               // fingerprints cover every live byte
  bool trailer_damaged;      // chunks are read unchecked; read-only
  bool journal_damaged;      // later commits cannot be read; read-only
  int64_t stranded_commits;  // number of these commits
  uint64_t generation;       // 0 if Cairn never wrote the frame
} cairn_frame_info;

CAIRN_EXPORT cairn_code cairn_snapshot_info(const cairn_snapshot* snapshot, cairn_frame_info* info,
                                            cairn_status* status);
// Returns the shape of an array. Errors: CAIRN_FAILED_PRECONDITION if the frame is not an array.
CAIRN_EXPORT cairn_code cairn_snapshot_array(const cairn_snapshot* snapshot,
                                             cairn_array_info* array, cairn_status* status);
// Returns options that make an empty frame like this one. Their pointers belong to the snapshot.
CAIRN_EXPORT cairn_code cairn_snapshot_create_options(const cairn_snapshot* snapshot,
                                                      cairn_create_options* options,
                                                      cairn_status* status);

// Return the metadata. A count is 0 for NULL. A name belongs to the snapshot; it is NULL if there
// is no such number. Errors: CAIRN_NOT_FOUND if nothing has the name.
CAIRN_EXPORT size_t cairn_snapshot_metalayer_count(const cairn_snapshot* snapshot);
CAIRN_EXPORT const char* cairn_snapshot_metalayer_name(const cairn_snapshot* snapshot,
                                                       size_t number);
CAIRN_EXPORT cairn_code cairn_snapshot_get_metalayer(const cairn_snapshot* snapshot,
                                                     const char* name, cairn_bytes** content,
                                                     cairn_status* status);
CAIRN_EXPORT size_t cairn_snapshot_vlmetalayer_count(const cairn_snapshot* snapshot);
CAIRN_EXPORT const char* cairn_snapshot_vlmetalayer_name(const cairn_snapshot* snapshot,
                                                         size_t number);
CAIRN_EXPORT cairn_code cairn_snapshot_get_vlmetalayer(const cairn_snapshot* snapshot,
                                                       const char* name, cairn_bytes** content,
                                                       cairn_status* status);

// An entry of the index, which says where a chunk is stored.
typedef struct cairn_chunk_entry {
  size_t struct_size;
  int64_t index;          // number of the chunk
  int64_t offset;         // position of the stored chunk in a contiguous frame; -1: none
  int64_t file;           // number of the chunk's file in a sparse frame; -1: none
  cairn_special special;  // value that the index holds
  bool has_fingerprint;
  uint64_t fingerprint;  // XXH3-64 of the stored bytes
  int32_t cbytes;        // stored bytes; -1: only the chunk's own header says
} cairn_chunk_entry;

// Returns where a chunk is stored.
// Errors of this call and the reads below: CAIRN_OUT_OF_RANGE if a chunk, an item, a byte or a part
// of a box does not exist; CAIRN_FAILED_PRECONDITION if the frame holds a recipe instead of data.
CAIRN_EXPORT cairn_code cairn_snapshot_get_entry(const cairn_snapshot* snapshot, int64_t nchunk,
                                                 cairn_chunk_entry* entry, cairn_status* status);
// Returns a compressed chunk, in place if the frame is mapped.
CAIRN_EXPORT cairn_code cairn_snapshot_get_chunk(const cairn_snapshot* snapshot, int64_t nchunk,
                                                 cairn_bytes** chunk, cairn_status* status);
// Returns the decoded size of a chunk in bytes.
CAIRN_EXPORT cairn_code cairn_snapshot_chunk_nbytes(const cairn_snapshot* snapshot, int64_t nchunk,
                                                    int32_t* nbytes, cairn_status* status);
// Decodes one chunk. `size` must be its decoded size.
CAIRN_EXPORT cairn_code cairn_snapshot_read_chunk(const cairn_snapshot* snapshot, int64_t nchunk,
                                                  void* dst, size_t size, cairn_status* status);
// Reads the items from number `start` on that fill dst. `size` must be a multiple of the typesize.
// Here and below, the items of an array are numbered in C order.
CAIRN_EXPORT cairn_code cairn_snapshot_read_items(const cairn_snapshot* snapshot, int64_t start,
                                                  void* dst, size_t size, cairn_status* status);
// Reads single items, in any order and with repeats. `size` must be nitems times the typesize.
CAIRN_EXPORT cairn_code cairn_snapshot_read_items_at(const cairn_snapshot* snapshot,
                                                     const int64_t* items, size_t nitems, void* dst,
                                                     size_t size, cairn_status* status);
// Reads fields of `nitems` items from number `start` on, each into an array of its own. If blocks
// are split, decodes only these fields.
CAIRN_EXPORT cairn_code cairn_snapshot_read_fields(const cairn_snapshot* snapshot, int64_t start,
                                                   int64_t nitems, const cairn_field* fields,
                                                   size_t nfields, cairn_status* status);
// Reads bytes of the decoded data from `begin` on, whatever the typesize. The items of an array are
// in storage order there, with padding.
CAIRN_EXPORT cairn_code cairn_snapshot_read_bytes(const cairn_snapshot* snapshot, int64_t begin,
                                                  void* dst, size_t size, cairn_status* status);
// Reads a box of an array, its items in C order. `start` and `shape` have ndim numbers.
// Errors: CAIRN_FAILED_PRECONDITION also if the frame is not an array.
CAIRN_EXPORT cairn_code cairn_snapshot_read_box(const cairn_snapshot* snapshot,
                                                const int64_t* start, const int64_t* shape,
                                                int32_t ndim, void* dst, size_t size,
                                                cairn_status* status);

// Damage in bytes [begin, end) of the frame, or of the chunk's own file in a sparse frame.
typedef struct cairn_finding {
  size_t struct_size;
  int64_t begin;
  int64_t end;
  const char* section;  // "header", "index", "chunk 17", …
  const char* reason;
} cairn_finding;

typedef struct cairn_verify_options {
  size_t struct_size;
  cairn_verify_depth depth;
  cairn_progress progress;  // NULL: none; gets the number of chunks
  // Called after the check for each of the first 1,000 findings.
  void (*on_finding)(void* context, const cairn_finding* finding);
  // Called after the check for each note. A note is not damage, but for example a missing seal.
  void (*on_note)(void* context, const char* note);
  void* context;  // for all three
} cairn_verify_options;
#define CAIRN_VERIFY_OPTIONS_INIT                                                                 \
  {                                                                                               \
    .struct_size = sizeof(cairn_verify_options), .depth = CAIRN_DEPTH_CONTENTS, .progress = NULL, \
    .on_finding = NULL, .on_note = NULL, .context = NULL                                          \
  }

typedef struct cairn_verify_report {
  size_t struct_size;
  int64_t nchunks;     // chunks that were checked
  int64_t bytes_read;  // stored bytes
  int64_t nfindings;   // 0: no damage
  bool sealed;
} cairn_verify_report;

// Checks the frame and continues past damage, which is reported and is not an error of the call.
// Errors: CAIRN_CANCELLED if `progress` returns false.
CAIRN_EXPORT cairn_code cairn_snapshot_verify(const cairn_snapshot* snapshot,
                                              const cairn_verify_options* options,
                                              cairn_verify_report* report, cairn_status* status);
// Returns a hash of the content, which is equal for a frame and its copies.
CAIRN_EXPORT cairn_code cairn_snapshot_content_hash(const cairn_snapshot* snapshot, uint64_t* hash,
                                                    cairn_status* status);

// Names the contents that an increment leads from and to.
typedef struct cairn_increment_info {
  size_t struct_size;
  uint64_t base_hash;
  uint64_t result_hash;
  uint64_t base_generation;
  uint64_t result_generation;
} cairn_increment_info;

// Describes an increment. Errors: CAIRN_FAILED_PRECONDITION if the frame is not an increment.
CAIRN_EXPORT cairn_code cairn_snapshot_increment_info(const cairn_snapshot* snapshot,
                                                      cairn_increment_info* info,
                                                      cairn_status* status);

// ---- The writer ----

typedef struct cairn_writer_options {
  size_t struct_size;
  const cairn_compression_options* compression;  // for new chunks; NULL: as the header says
  const cairn_registry* registry;                // for new chunks
  int32_t chunksize;                             // bytes, for a frame without a chunksize
  bool make_lock_file;                           // for C-Blosc2's locking protocol
  int64_t wait_ms;            // time to wait for another writer, before CAIRN_UNAVAILABLE
  uint64_t keep_generations;  // number of generations to keep before the newest
  int64_t max_file_size;      // bytes; 0: no limit
  const cairn_executor* executor;
  int64_t staged_memory;  // bytes of updated chunks that stay decoded until the commit
} cairn_writer_options;
#define CAIRN_WRITER_OPTIONS_INIT                                                       \
  {                                                                                     \
    .struct_size = sizeof(cairn_writer_options), .compression = NULL, .registry = NULL, \
    .chunksize = 1 << 20, .make_lock_file = false, .wait_ms = 0, .keep_generations = 0, \
    .max_file_size = 0, .executor = NULL, .staged_memory = INT64_C(8) << 20             \
  }

// Opens the only writer of the frame.
// Errors: CAIRN_UNAVAILABLE if another writer holds the frame for longer than wait_ms;
// CAIRN_FAILED_PRECONDITION if the frame is read-only or lies inside a larger file or buffer.
CAIRN_EXPORT cairn_code cairn_frame_open_writer(cairn_frame* frame,
                                                const cairn_writer_options* options,
                                                cairn_writer** writer, cairn_status* status);
// Frees the writer. Drops staged edits, unless the writer was closed.
CAIRN_EXPORT void cairn_writer_free(cairn_writer* writer);

// Appends items. Edits are staged, so no reader sees them before a commit. Edits take complete
// items; only this call keeps the bytes of an incomplete item for the next append.
// Errors of all calls of a writer: CAIRN_FAILED_PRECONDITION if the writer is closed, is suspended
// or has failed, in a forked child, or if an array does not allow the edit; CAIRN_OUT_OF_RANGE if a
// chunk, an item, an axis, a slice or a part of a box does not exist.
CAIRN_EXPORT cairn_code cairn_writer_append(cairn_writer* writer, const void* src, size_t size,
                                            cairn_status* status);
CAIRN_EXPORT cairn_code cairn_writer_append_compressed(cairn_writer* writer, const void* chunk,
                                                       size_t chunk_size, cairn_status* status);
// Appends items of one value. `value` is NULL, or for CAIRN_SPECIAL_REPEAT the bytes of one item.
CAIRN_EXPORT cairn_code cairn_writer_append_special(cairn_writer* writer, cairn_special special,
                                                    int64_t nitems, const void* value,
                                                    size_t value_size, cairn_status* status);
// Inserts a chunk, which gets number nchunk. If that is the number of chunks, appends it.
CAIRN_EXPORT cairn_code cairn_writer_insert_chunk(cairn_writer* writer, int64_t nchunk,
                                                  const void* src, size_t size,
                                                  cairn_status* status);
CAIRN_EXPORT cairn_code cairn_writer_update_chunk(cairn_writer* writer, int64_t nchunk,
                                                  const void* src, size_t size,
                                                  cairn_status* status);
CAIRN_EXPORT cairn_code cairn_writer_insert_compressed(cairn_writer* writer, int64_t nchunk,
                                                       const void* chunk, size_t chunk_size,
                                                       cairn_status* status);
CAIRN_EXPORT cairn_code cairn_writer_update_compressed(cairn_writer* writer, int64_t nchunk,
                                                       const void* chunk, size_t chunk_size,
                                                       cairn_status* status);
CAIRN_EXPORT cairn_code cairn_writer_delete_chunks(cairn_writer* writer, int64_t first,
                                                   int64_t count, cairn_status* status);
// Reorders all chunks: chunk order[i] becomes chunk i.
CAIRN_EXPORT cairn_code cairn_writer_reorder_chunks(cairn_writer* writer, const int64_t* order,
                                                    size_t nchunks, cairn_status* status);
// Overwrites items from number `start` on, across chunk borders.
CAIRN_EXPORT cairn_code cairn_writer_write_items(cairn_writer* writer, int64_t start,
                                                 const void* src, size_t size,
                                                 cairn_status* status);
// Decodes one chunk as it is staged. `size` must be its decoded size.
CAIRN_EXPORT cairn_code cairn_writer_read_chunk(cairn_writer* writer, int64_t nchunk, void* dst,
                                                size_t size, cairn_status* status);
// Overwrites a box of an array with items in C order.
CAIRN_EXPORT cairn_code cairn_writer_write_box(cairn_writer* writer, const int64_t* start,
                                               const int64_t* shape, int32_t ndim, const void* src,
                                               size_t size, cairn_status* status);
// Grows or shrinks an array. New items are zeros.
CAIRN_EXPORT cairn_code cairn_writer_resize_array(cairn_writer* writer, const int64_t* shape,
                                                  int32_t ndim, cairn_status* status);
// Grows an array along an axis by complete slices in C order.
CAIRN_EXPORT cairn_code cairn_writer_append_slices(cairn_writer* writer, int32_t axis,
                                                   const void* src, size_t size,
                                                   cairn_status* status);
// Removes slices along an axis. They must be whole chunks or the last slices.
CAIRN_EXPORT cairn_code cairn_writer_delete_slices(cairn_writer* writer, int32_t axis,
                                                   int64_t start, int64_t count,
                                                   cairn_status* status);
// Replaces the content of a metalayer by content of the same size.
// Errors of the calls with names: CAIRN_NOT_FOUND if nothing to replace or delete has the name.
CAIRN_EXPORT cairn_code cairn_writer_set_metalayer(cairn_writer* writer, const char* name,
                                                   const void* src, size_t size,
                                                   cairn_status* status);
// Adds or replaces a vlmetalayer.
CAIRN_EXPORT cairn_code cairn_writer_set_vlmetalayer(cairn_writer* writer, const char* name,
                                                     const void* src, size_t size,
                                                     cairn_status* status);
CAIRN_EXPORT cairn_code cairn_writer_delete_vlmetalayer(cairn_writer* writer, const char* name,
                                                        cairn_status* status);
// Stages the changes of an increment; see cairn_copy_options.since.
// Errors: CAIRN_FAILED_PRECONDITION also if the frame does not have the content that it applies to.
CAIRN_EXPORT cairn_code cairn_writer_apply_increment(cairn_writer* writer,
                                                     const cairn_snapshot* increment,
                                                     cairn_status* status);
// Returns the committed state with the staged edits on top.
CAIRN_EXPORT cairn_code cairn_writer_staged_snapshot(cairn_writer* writer,
                                                     cairn_snapshot** snapshot,
                                                     cairn_status* status);
// Makes all staged edits visible and as durable as asked, or none of them. `committed` may be NULL.
// Errors: CAIRN_ABORTED in an object store if another writer committed a conflicting edit, or if
// the edits are too old; those of cairn_frame_create in the first commit of a new frame.
CAIRN_EXPORT cairn_code cairn_writer_commit(cairn_writer* writer, cairn_durability durability,
                                            cairn_snapshot** committed, cairn_status* status);
// Waits until a commit of this writer survives a power cut. May run in several threads, and during
// all other calls except cairn_writer_free. Threads that wait share one sync.
CAIRN_EXPORT cairn_code cairn_writer_sync(const cairn_writer* writer,
                                          const cairn_snapshot* committed, cairn_status* status);
// Commits durably, and leaves a frame in which every Blosc2 library reads everything.
CAIRN_EXPORT cairn_code cairn_writer_checkpoint(cairn_writer* writer, cairn_status* status);
// Commits durably, and also writes a checkpoint if that is cheap, as close does.
CAIRN_EXPORT cairn_code cairn_writer_flush(cairn_writer* writer, cairn_status* status);
// Drops the staged edits.
CAIRN_EXPORT cairn_code cairn_writer_rollback(cairn_writer* writer, cairn_status* status);

typedef struct cairn_reclaim_options {
  size_t struct_size;
  uint64_t keep_generations;  // number of generations to keep before the newest
} cairn_reclaim_options;
#define CAIRN_RECLAIM_OPTIONS_INIT \
  { .struct_size = sizeof(cairn_reclaim_options), .keep_generations = 0 }

typedef struct cairn_reclaim_report {
  size_t struct_size;
  int64_t freed;               // bytes of disk space
  bool blocked;                // an older generation is still read; see cairn_frame_old_readers
  uint64_t oldest_generation;  // oldest generation that can still be opened
} cairn_reclaim_report;

// Gives free space back to the file system. `report` may be NULL.
// Errors: CAIRN_FAILED_PRECONDITION also if edits are staged; CAIRN_UNIMPLEMENTED if the frame is
// in memory or not sealed, or if the file system has no holes.
CAIRN_EXPORT cairn_code cairn_writer_reclaim(cairn_writer* writer,
                                             const cairn_reclaim_options* options,
                                             cairn_reclaim_report* report, cairn_status* status);

// Lets other writers in until resume. Errors: CAIRN_FAILED_PRECONDITION also if edits are staged.
CAIRN_EXPORT cairn_code cairn_writer_suspend(cairn_writer* writer, cairn_status* status);
// Takes the frame again and continues with what is committed now.
// Errors: CAIRN_UNAVAILABLE if another writer holds the frame for longer than wait_ms.
CAIRN_EXPORT cairn_code cairn_writer_resume(cairn_writer* writer, int64_t wait_ms,
                                            cairn_status* status);
// Sets *has_waiters to true if another writer waits for the frame.
CAIRN_EXPORT cairn_code cairn_writer_has_waiters(const cairn_writer* writer, bool* has_waiters,
                                                 cairn_status* status);
// Commits durably and releases the frame. Every later call fails, and the handle must still be
// freed. After CAIRN_RESOURCE_EXHAUSTED the writer is still open.
CAIRN_EXPORT cairn_code cairn_writer_close(cairn_writer* writer, cairn_status* status);

// ---- Repair ----

typedef struct cairn_recover_options {
  size_t struct_size;
  bool dry_run;        // changes nothing
  bool drop_stranded;  // cuts off commits that cannot be read
} cairn_recover_options;
#define CAIRN_RECOVER_OPTIONS_INIT \
  { .struct_size = sizeof(cairn_recover_options), .dry_run = false, .drop_stranded = false }

typedef struct cairn_recovery_report {
  size_t struct_size;
  bool header_restored;
  uint64_t checkpoint_generation;  // generation of the checkpoint that the header describes
  uint64_t generation;             // generation of the newest commit
  int64_t commits;                 // commits of the journal that are now in a checkpoint
  int64_t stranded_commits;        // commits that were cut off
  int64_t cut;                     // bytes cut off that were never committed
  int64_t size_before;             // bytes of the file
  int64_t size_after;
  // End of a missing checkpoint that the header led to, or 0. If newer, its commits are lost.
  int64_t missing_checkpoint_end;
} cairn_recovery_report;

// Leaves a frame whose newest commit is a checkpoint, with nothing after it. `report` may be NULL.
// Errors: CAIRN_NOT_FOUND if nothing exists at `path`; CAIRN_UNAVAILABLE if a writer holds a frame
// that needs repair; CAIRN_DATA_LOSS if commits would be lost, or if only cairn_salvage can help.
CAIRN_EXPORT cairn_code cairn_recover(const char* path, const cairn_recover_options* options,
                                      cairn_recovery_report* report, cairn_status* status);

typedef struct cairn_salvage_options {
  size_t struct_size;
  const cairn_open_options* open;  // says how chunks are decoded; NULL: the defaults
  cairn_progress progress;         // NULL: none; gets the number of bytes
  // Called afterwards for bytes [begin, end) of the file that could not be saved.
  void (*on_lost)(void* context, int64_t begin, int64_t end, const char* reason);
  void* context;  // for both
} cairn_salvage_options;
#define CAIRN_SALVAGE_OPTIONS_INIT                                                                 \
  {                                                                                                \
    .struct_size = sizeof(cairn_salvage_options), .open = NULL, .progress = NULL, .on_lost = NULL, \
    .context = NULL                                                                                \
  }

typedef struct cairn_salvage_report {
  size_t struct_size;
  int64_t chunks;  // chunks that were saved
  int64_t nbytes;  // decoded bytes
  int64_t nlost;   // ranges of bytes that were lost
} cairn_salvage_report;

// Makes a frame at `to` of what is intact in the file `from`. Damaged chunks become holes, which
// cannot be read. `report` may be NULL. Errors: CAIRN_NOT_FOUND if no file or intact chunk exists;
// CAIRN_ALREADY_EXISTS if something exists at `to`; CAIRN_CANCELLED if `progress` returns false.
CAIRN_EXPORT cairn_code cairn_salvage(const char* from, const char* to,
                                      const cairn_salvage_options* options,
                                      cairn_salvage_report* report, cairn_status* status);

#ifdef __cplusplus
}
#endif

#endif  // CAIRN_CAIRN_H_
