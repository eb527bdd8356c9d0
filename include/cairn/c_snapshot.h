// The C API: snapshots, which do everything that reads. Include cairn/cairn.h.
#ifndef CAIRN_C_SNAPSHOT_H_
#define CAIRN_C_SNAPSHOT_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cairn/c_frame.h"
#include "cairn/c_types.h"

#ifdef __cplusplus
extern "C" {
#endif

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
  // Kind of object from which python-blosc2 computes the data, such as "LazyExpr". Reads of data
  // then return CAIRN_FAILED_PRECONDITION. Empty if the chunks hold the data. Belongs to the
  // snapshot.
  const char* recipe;
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

typedef struct cairn_copy_options {
  size_t struct_size;
  const cairn_snapshot* since;  // writes an increment: what is new since it; NULL: everything
  cairn_layout layout;
  bool overwrite;           // replaces a file or sparse frame of that name
  cairn_progress progress;  // NULL: none
  void* context;
  const cairn_files* files;  // file system of the copy; NULL: the operating system's
} cairn_copy_options;
#define CAIRN_COPY_OPTIONS_INIT                                                            \
  {                                                                                        \
    .struct_size = sizeof(cairn_copy_options), .since = NULL, .layout = CAIRN_LAYOUT_SAME, \
    .overwrite = false, .progress = NULL, .context = NULL, .files = NULL                   \
  }

// Copies the state to a new frame at `path`, and does not disturb a writer. Errors: as for
// cairn_frame_create; CAIRN_CANCELLED if `progress` returns false; CAIRN_FAILED_PRECONDITION also
// if no increment leads from `since` to this state, if `path` is the frame of one of them, or if
// one of them has staged edits.
CAIRN_EXPORT cairn_code cairn_snapshot_copy_to(const cairn_snapshot* snapshot, const char* path,
                                               const cairn_copy_options* options,
                                               cairn_status* status);
// Returns the state as the bytes of one contiguous frame, which cairn_frame_open_buffer opens.
// Errors: CAIRN_FAILED_PRECONDITION if the state has staged edits.
CAIRN_EXPORT cairn_code cairn_snapshot_to_buffer(const cairn_snapshot* snapshot,
                                                 cairn_bytes** buffer, cairn_status* status);

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

#ifdef __cplusplus
}
#endif

#endif  // CAIRN_C_SNAPSHOT_H_
