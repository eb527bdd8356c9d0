// The C API: the writer. Include cairn/cairn.h.
#ifndef CAIRN_C_WRITER_H_
#define CAIRN_C_WRITER_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cairn/c_chunk.h"
#include "cairn/c_frame.h"
#include "cairn/c_plugin.h"
#include "cairn/c_types.h"

#ifdef __cplusplus
extern "C" {
#endif

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
  // Durability that opening and resuming give the commits that the frame already holds.
  cairn_durability opening;
} cairn_writer_options;
#define CAIRN_WRITER_OPTIONS_INIT                                                       \
  {                                                                                     \
    .struct_size = sizeof(cairn_writer_options), .compression = NULL, .registry = NULL, \
    .chunksize = 1 << 20, .make_lock_file = false, .wait_ms = 0, .keep_generations = 0, \
    .max_file_size = 0, .executor = NULL, .staged_memory = INT64_C(8) << 20,            \
    .opening = CAIRN_DURABILITY_MACHINE                                                 \
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
  // Called afterwards for each reader of an older generation, as cairn_frame_old_readers does.
  void (*on_holder)(void* context, const cairn_generation_holder* holder);
  void* context;
} cairn_reclaim_options;
#define CAIRN_RECLAIM_OPTIONS_INIT                                                          \
  {                                                                                         \
    .struct_size = sizeof(cairn_reclaim_options), .keep_generations = 0, .on_holder = NULL, \
    .context = NULL                                                                         \
  }

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

#ifdef __cplusplus
}
#endif

#endif  // CAIRN_C_WRITER_H_
