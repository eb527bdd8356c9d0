// The C API: frames, how they are opened, made, compacted and copied. Include cairn/cairn.h.
#ifndef CAIRN_C_FRAME_H_
#define CAIRN_C_FRAME_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cairn/c_chunk.h"
#include "cairn/c_plugin.h"
#include "cairn/c_types.h"

#ifdef __cplusplus
extern "C" {
#endif

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
  int32_t chunksize;  // bytes; 0: a chunk for each append; -1: as the first chunk
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

#ifdef __cplusplus
}
#endif

#endif  // CAIRN_C_FRAME_H_
