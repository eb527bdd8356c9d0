// The C API: results, numbers of the format, small structs and bytes. Include cairn/cairn.h.
#ifndef CAIRN_C_TYPES_H_
#define CAIRN_C_TYPES_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
  CAIRN_CODEC_ZFP_RATE = 35,       // meta: per cent of the size
  // Codecs for numbers. meta: 1 unsigned, 2 signed, 3 float, 0 not known
  CAIRN_CODEC_PCO = 227,      // takes less space
  CAIRN_CODEC_BITPACK = 228,  // is faster
  CAIRN_CODEC_AUTO = 229      // chooses one for each column; takes bytes, too
};

typedef int32_t cairn_filter;
enum {
  CAIRN_FILTER_NONE = 0,
  CAIRN_FILTER_SHUFFLE = 1,
  CAIRN_FILTER_BITSHUFFLE = 2,
  CAIRN_FILTER_DELTA = 3,
  CAIRN_FILTER_TRUNC_PREC = 4,        // meta: mantissa bits kept (> 0) or cleared (< 0), as int8_t
  CAIRN_FILTER_NDCELL = 32,           // of arrays; meta: side of a cell
  CAIRN_FILTER_NDMEAN = 33,           // of arrays of floats, loses bits; meta: side of a cell
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

#ifdef __cplusplus
}
#endif

#endif  // CAIRN_C_TYPES_H_
