// The C API of logs: what writes them. Include cairn/cairn_log.h.
#ifndef CAIRN_C_LOG_WRITER_H_
#define CAIRN_C_LOG_WRITER_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cairn/c_log.h"

#ifdef __cplusplus
extern "C" {
#endif

// Says when a writer commits, and how.
typedef struct cairn_log_writer_options {
  size_t struct_size;
  // Number of records that are committed together: the append that reaches it commits. 0 means no
  // such number. A process that is killed loses only records that are not committed yet.
  int64_t commit_records;
  // Time after which a thread of the writer commits records, counted from the first of them. 0
  // means no such time.
  int64_t commit_interval_ms;
  // Failure that each commit survives. Checkpoint and close survive a power cut in any case.
  cairn_durability durability;
  // Holds back records that are less than this much older than the newest one, and commits them in
  // the order of time.
  int64_t reorder_window;
  // Maximum bytes of records in memory. An append that exceeds it commits all records.
  int64_t max_buffered_bytes;
  int64_t wait_ms;                               // how long opening waits for another writer
  const cairn_compression_options* compression;  // of new chunks; NULL: as the log says
} cairn_log_writer_options;
#define CAIRN_LOG_WRITER_OPTIONS_INIT                                                              \
  {                                                                                                \
    .struct_size = sizeof(cairn_log_writer_options), .commit_records = 0, .commit_interval_ms = 0, \
    .durability = CAIRN_DURABILITY_PROCESS, .reorder_window = 0,                                   \
    .max_buffered_bytes = INT64_C(16) << 20, .wait_ms = 0, .compression = NULL                     \
  }

// Opens the only writer of the log.
// Errors: as for cairn_frame_open_writer, and
//   CAIRN_UNAVAILABLE if another writer holds the log for longer than `wait_ms`.
//   CAIRN_RESOURCE_EXHAUSTED if `commit_interval_ms` needs a thread and the system gives none.
CAIRN_EXPORT cairn_code cairn_log_open_writer(cairn_log* log,
                                              const cairn_log_writer_options* options,
                                              cairn_log_writer** writer, cairn_status* status);

// Errors of all calls that change the log:
//   CAIRN_RESOURCE_EXHAUSTED if the disk is full. The records stay in memory, and the next commit
//     takes them.
//   The error of an earlier commit that failed otherwise: open the log again.
//   CAIRN_FAILED_PRECONDITION after close, and in a forked child.

// Takes whole records. Commits if the options say so. The records of one commit are sorted by time.
// Errors, after which no record is taken:
//   CAIRN_INVALID_ARGUMENT if `size` is not a multiple of the record size, or a record has no time.
//   CAIRN_UNAVAILABLE if the disk is full, and more records wait than `max_buffered_bytes`.
CAIRN_EXPORT cairn_code cairn_log_writer_append(cairn_log_writer* writer, const void* src,
                                                size_t size, cairn_status* status);

// Says what an upsert did with each record that it was given. Records that a later one of the same
// call replaces are in none of these numbers.
typedef struct cairn_log_upsert_report {
  size_t struct_size;
  int64_t inserted;   // records whose key the log did not hold
  int64_t replaced;   // records that replaced one or more of their key
  int64_t unchanged;  // records that the log held already, with the same bytes
  int64_t removed;    // records of the log that were deleted, which may be more than `replaced`
} cairn_log_upsert_report;

// Commits all records, and then these whole records in one commit: each replaces the records of the
// log that have its time and its values of the `nkey` fields of `key`. If `key` is NULL these are
// all fields of texts. If only `nkey` is 0, times alone tell records apart. The last of several
// records with the same key stays. In a log of many files, records that belong into different files
// need a commit for each file. `report` may be NULL.
// Errors, after which the call can be repeated:
//   CAIRN_INVALID_ARGUMENT as for append, and if a field of the key has floats.
//   CAIRN_NOT_FOUND if no field has a name that the key contains.
//   CAIRN_FAILED_PRECONDITION also if the records have no time.
//   CAIRN_RESOURCE_EXHAUSTED if the disk is full, or if one file would have more than 1,000,000
//     ranges of deleted records. These records do not wait in memory then.
CAIRN_EXPORT cairn_code cairn_log_writer_upsert(cairn_log_writer* writer, const void* src,
                                                size_t size, const char* const* key, size_t nkey,
                                                cairn_log_upsert_report* report,
                                                cairn_status* status);
// Returns the code that a text has in the records of a field of texts. A text that has none gets
// the next one, which the next commit stores together with its records. The log keeps every text
// for ever. A code that no commit of this writer stored gets another text from the next writer.
// Errors:
//   CAIRN_NOT_FOUND if no field has this name.
//   CAIRN_INVALID_ARGUMENT if the field holds no texts, or if the text is longer than 65,535 bytes
//     or is not UTF-8.
//   CAIRN_RESOURCE_EXHAUSTED if the texts of all fields would take more than 16 MiB.
CAIRN_EXPORT cairn_code cairn_log_writer_code_of(cairn_log_writer* writer, const char* field,
                                                 const char* text, uint32_t* code,
                                                 cairn_status* status);
// Commits all records, deletes those that are chosen, durably, and sets *deleted to how many there
// were. Records keep their numbers. Costs a rewrite of each chunk that holds such a record.
// Errors, after which some of the records may be deleted, and the call can be repeated:
//   CAIRN_NOT_FOUND, CAIRN_INVALID_ARGUMENT, CAIRN_FAILED_PRECONDITION as for
//     cairn_log_snapshot_query.
//   CAIRN_UNAVAILABLE if another writer holds an older file of the log for a second.
CAIRN_EXPORT cairn_code cairn_log_writer_delete(cairn_log_writer* writer,
                                                const cairn_log_selection* which, int64_t* deleted,
                                                cairn_status* status);
// Commits all records and adds a field after the others, durably: "temp:f4", "host:text",
// "seen:timestamp[ms]", "room:bytes[8]". Records that are taken from now on have it, and are as
// much longer. A log of one file is written again.
// Errors, after which nothing has changed:
//   CAIRN_ALREADY_EXISTS if the log has a field of this name.
//   CAIRN_INVALID_ARGUMENT if `field` does not have this form, if its name is not UTF-8, or if the
//     record would be too long.
//   CAIRN_UNIMPLEMENTED if there is no such type, or if the log is one file and its frame is sparse
//     or in an object store.
//   CAIRN_FAILED_PRECONDITION if the field is a timestamp and the records have no time.
CAIRN_EXPORT cairn_code cairn_log_writer_add_field(cairn_log_writer* writer, const char* field,
                                                   cairn_status* status);
// Commits all records, including those that the window holds back.
CAIRN_EXPORT cairn_code cairn_log_writer_commit(cairn_log_writer* writer, cairn_status* status);
// Commits all records durably, and leaves frames in which any Blosc2 library sees everything.
CAIRN_EXPORT cairn_code cairn_log_writer_checkpoint(cairn_log_writer* writer, cairn_status* status);
// Changes what the log keeps, with the next commit.
// Errors: CAIRN_INVALID_ARGUMENT if a limit is less than 0.
CAIRN_EXPORT cairn_code cairn_log_writer_set_retention(cairn_log_writer* writer,
                                                       const cairn_log_retention* retention,
                                                       cairn_status* status);
// Changes when the log begins a new file, with the next commit.
// Errors: CAIRN_INVALID_ARGUMENT if a limit is less than 0; CAIRN_FAILED_PRECONDITION if the log is
// one file.
CAIRN_EXPORT cairn_code cairn_log_writer_set_rotation(cairn_log_writer* writer,
                                                      const cairn_log_rotation* rotation,
                                                      cairn_status* status);
// Commits all records and drops everything that the retention allows to drop. A commit by itself
// drops only a bounded part of it.
CAIRN_EXPORT cairn_code cairn_log_writer_apply_retention(cairn_log_writer* writer,
                                                         cairn_status* status);
// Returns the number after those of all records taken, committed or not. Returns 0 for NULL.
CAIRN_EXPORT int64_t cairn_log_writer_end_record(const cairn_log_writer* writer);
// Returns the newest commit.
CAIRN_EXPORT cairn_code cairn_log_writer_snapshot(const cairn_log_writer* writer,
                                                  cairn_log_snapshot** snapshot,
                                                  cairn_status* status);
// Commits all records durably and releases the log, so that another writer may write it.
CAIRN_EXPORT cairn_code cairn_log_writer_close(cairn_log_writer* writer, cairn_status* status);
// Drops records that are not committed.
CAIRN_EXPORT void cairn_log_writer_free(cairn_log_writer* writer);

#ifdef __cplusplus
}
#endif

#endif  // CAIRN_C_LOG_WRITER_H_
