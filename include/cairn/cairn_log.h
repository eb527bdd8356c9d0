// Time-series logs for programs in C99: records with times in a frame. The calls are those of Log,
// LogSnapshot, LogCursor and LogWriter in cairn/log.h and cairn/log_writer.h. The rules of
// cairn/cairn.h hold here, too. See docs/log.md and docs/c-api.md.
//
// Times, spans and ages are counts of the unit of the log's time field; see cairn_log_field. Only
// names that end in _ms are milliseconds. A range of times includes its begin but not its end.
// INT64_MAX as the end means no limit.
//
// All calls may run at the same time on the same log, snapshot, batch, buckets and writer. A cursor
// belongs to one thread at a time. Snapshots, cursors and writers stay valid after their log is
// freed, and all of these after their cairn_files is freed.
#ifndef CAIRN_CAIRN_LOG_H_
#define CAIRN_CAIRN_LOG_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cairn/cairn.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Logs ----

// A log: one frame, or a directory of frames.
typedef struct cairn_log cairn_log;
// A committed state of a log, which never changes.
typedef struct cairn_log_snapshot cairn_log_snapshot;
// The only writer of a log.
typedef struct cairn_log_writer cairn_log_writer;

// How much a writer keeps. It drops the oldest records first, chunk by chunk or file by file, and
// keeps at most one chunk or file more than asked for. 0 means no limit.
typedef struct cairn_log_retention {
  size_t struct_size;
  int64_t max_age;      // age of the oldest record, counted from the newest time
  int64_t max_records;  // records
  int64_t max_bytes;    // stored bytes of all chunks
} cairn_log_retention;

// When a log of many files begins a new file: at the first limit that the current file reaches. 0
// means never.
typedef struct cairn_log_rotation {
  size_t struct_size;
  int64_t max_bytes;  // bytes of one file
  int64_t period;     // span of time; files begin at its multiples
} cairn_log_rotation;

// Describes a new log, except its records.
typedef struct cairn_log_create_options {
  size_t struct_size;
  // Name of the field with the time: a timestamp or an integer. NULL or "" means the first
  // timestamp. Without one, the records have no time.
  const char* time_field;
  cairn_codec codec;
  int32_t clevel;                        // as in cairn_compression_options
  int32_t chunksize;                     // decoded bytes of a chunk; 0 means that Cairn chooses
  const cairn_log_retention* retention;  // NULL: keeps everything
  // If a limit is set, the log is a directory of frames. NULL: the log is one file.
  const cairn_log_rotation* rotation;
  const cairn_files* files;  // as in cairn_open_options
} cairn_log_create_options;
#define CAIRN_LOG_CREATE_OPTIONS_INIT                                                              \
  {                                                                                                \
    .struct_size = sizeof(cairn_log_create_options), .time_field = NULL, .codec = CAIRN_CODEC_LZ4, \
    .clevel = 5, .chunksize = 0, .retention = NULL, .rotation = NULL, .files = NULL                \
  }

// Creates an empty log at `path` and opens it. `dtype` describes a record as NumPy writes it:
// "[('time', '<M8[us]'), ('temp', '<f4'), ('room', '|S8')]". Values are little-endian, and fields
// follow one another without gaps unless the dtype has gaps.
// Errors: as for cairn_frame_create, and
//   CAIRN_INVALID_ARGUMENT if `dtype` is not the dtype of a record, or has no field.
//   CAIRN_UNIMPLEMENTED if the dtype has a type that a log cannot hold.
//   CAIRN_NOT_FOUND if no field is called `time_field`.
//   CAIRN_ALREADY_EXISTS if something exists at `path`. A log of many files may use an empty
//     directory.
CAIRN_EXPORT cairn_code cairn_log_create(const char* path, const char* dtype,
                                         const cairn_log_create_options* options, cairn_log** log,
                                         cairn_status* status);
// Opens the log at `path`. `time_field` names the field with the time if another program made the
// log. NULL or "" means the field that the log names, or else the first timestamp.
// Errors: as for cairn_frame_open, and
//   CAIRN_FAILED_PRECONDITION if the frame is not a one-dimensional array with a dtype.
//   CAIRN_NOT_FOUND if no field is called `time_field`, or the directory holds no file of a log.
//   CAIRN_UNIMPLEMENTED if a newer Cairn made the log.
//   CAIRN_DATA_LOSS if a file of the log is missing between others.
CAIRN_EXPORT cairn_code cairn_log_open(const char* path, const cairn_open_options* options,
                                       const char* time_field, cairn_log** log,
                                       cairn_status* status);
CAIRN_EXPORT void cairn_log_free(cairn_log* log);
// Returns the newest state that this handle has seen.
CAIRN_EXPORT cairn_code cairn_log_newest(const cairn_log* log, cairn_log_snapshot** snapshot,
                                         cairn_status* status);
// Looks for newer commits, and for files that a rotation began or removed. Returns the newest
// state. Errors, also of waiting: as for opening.
CAIRN_EXPORT cairn_code cairn_log_refresh(cairn_log* log, cairn_log_snapshot** snapshot,
                                          cairn_status* status);
// Waits up to `timeout_ms` for a state that is not `seen`, which this handle returned. Returns the
// newest state in any case.
CAIRN_EXPORT cairn_code cairn_log_wait_for_commit(cairn_log* log, const cairn_log_snapshot* seen,
                                                  int64_t timeout_ms, cairn_log_snapshot** snapshot,
                                                  cairn_status* status);
// Asks the writer of the log, in any process, to take over these limits with its next commit. A
// writer that is opened later takes them over as well. -1, or NULL for all of them, leaves a limit
// as it is.
// Errors:
//   CAIRN_INVALID_ARGUMENT if a limit is less than -1.
//   CAIRN_FAILED_PRECONDITION if the log is one file and `rotation` would change a limit.
//   CAIRN_UNIMPLEMENTED if the log is in an object store.
//   CAIRN_PERMISSION_DENIED if this user may not write files next to the log, or if the writer
//   would
//     not trust a request of this user.
CAIRN_EXPORT cairn_code cairn_log_request_limits(cairn_log* log,
                                                 const cairn_log_retention* retention,
                                                 const cairn_log_rotation* rotation,
                                                 cairn_status* status);

// ---- Snapshots ----

CAIRN_EXPORT void cairn_log_snapshot_free(cairn_log_snapshot* snapshot);
// Returns true if both are the same state. Returns false if one of them is NULL.
CAIRN_EXPORT bool cairn_log_snapshot_equal(const cairn_log_snapshot* a,
                                           const cairn_log_snapshot* b);

// Facts about a state. The texts belong to the snapshot.
typedef struct cairn_log_info {
  size_t struct_size;
  // Numbers of the first record, and after that of the last. A number never changes. The records
  // before the first one were dropped.
  int64_t first_record;
  int64_t end_record;
  int32_t record_size;     // bytes
  int32_t nfields;         // fields of a record
  const char* dtype;       // of a record, as cairn_log_create takes it
  const char* time_field;  // name of the field with the time; NULL if the records have no time
} cairn_log_info;
CAIRN_EXPORT cairn_code cairn_log_snapshot_info(const cairn_log_snapshot* snapshot,
                                                cairn_log_info* info, cairn_status* status);
// Return the limits that the log stores.
CAIRN_EXPORT cairn_code cairn_log_snapshot_retention(const cairn_log_snapshot* snapshot,
                                                     cairn_log_retention* retention,
                                                     cairn_status* status);
CAIRN_EXPORT cairn_code cairn_log_snapshot_rotation(const cairn_log_snapshot* snapshot,
                                                    cairn_log_rotation* rotation,
                                                    cairn_status* status);

// The type of a field's values. All of them are little-endian.
typedef int32_t cairn_log_field_type;
enum {
  CAIRN_LOG_FIELD_BOOL = 0,   // one byte, 0 or 1
  CAIRN_LOG_FIELD_INT = 1,    // 1, 2, 4 or 8 bytes
  CAIRN_LOG_FIELD_UINT = 2,   // 1, 2, 4 or 8 bytes
  CAIRN_LOG_FIELD_FLOAT = 3,  // 2, 4 or 8 bytes
  // An int64_t count of units since 1970-01-01T00:00:00 UTC. INT64_MIN means no time.
  CAIRN_LOG_FIELD_TIMESTAMP = 4,
  CAIRN_LOG_FIELD_BYTES = 5  // zeros at the end do not count
};

typedef struct cairn_log_field {
  size_t struct_size;
  const char* name;  // belongs to the snapshot
  cairn_log_field_type type;
  int32_t size;              // bytes of a value
  int32_t offset;            // bytes from the start of the record
  int64_t units_per_second;  // unit of a timestamp: 1 to 1,000,000,000; 0 for other types
} cairn_log_field;
// Returns field `index` of a record. Errors: CAIRN_OUT_OF_RANGE if there is no such field.
CAIRN_EXPORT cairn_code cairn_log_snapshot_get_field(const cairn_log_snapshot* snapshot,
                                                     int32_t index, cairn_log_field* field,
                                                     cairn_status* status);

// Returns the range from the least to the greatest time. `end` is the greatest time plus one, or
// INT64_MAX if that does not fit. Sets both to 0 if there are no records.
// Errors: CAIRN_FAILED_PRECONDITION if the records have no time.
CAIRN_EXPORT cairn_code cairn_log_snapshot_times(const cairn_log_snapshot* snapshot, int64_t* begin,
                                                 int64_t* end, cairn_status* status);
// Returns the least number of a record of this time or later, or the end of the records. Records
// whose time lies after the clock of this machine count only if `time` does, too, or if all records
// are from the future.
// Errors: CAIRN_FAILED_PRECONDITION if the records have no time.
CAIRN_EXPORT cairn_code cairn_log_snapshot_find_time(const cairn_log_snapshot* snapshot,
                                                     int64_t time, int64_t* record,
                                                     cairn_status* status);
// Returns the range of times that begins `span` before the newest time. Records from the future
// count only if all records are from the future.
// Errors: CAIRN_FAILED_PRECONDITION if the records have no time; CAIRN_INVALID_ARGUMENT if `span`
// is less than 0.
CAIRN_EXPORT cairn_code cairn_log_snapshot_last(const cairn_log_snapshot* snapshot, int64_t span,
                                                int64_t* begin, int64_t* end, cairn_status* status);
// Counts the records whose timestamp lies after the clock of this machine.
// Errors: CAIRN_FAILED_PRECONDITION if the records have no time.
CAIRN_EXPORT cairn_code cairn_log_snapshot_count_future(const cairn_log_snapshot* snapshot,
                                                        int64_t* count, cairn_status* status);
// Reads the records from number `record` on that fill `dst`. A deleted record reads as its time
// without any values: NaN, no time, empty text, 0 and false. Queries leave deleted records out.
// Errors: CAIRN_OUT_OF_RANGE if the log does not hold all of these records, or has dropped some;
// CAIRN_INVALID_ARGUMENT if `size` is not a multiple of the record size.
CAIRN_EXPORT cairn_code cairn_log_snapshot_read_records(const cairn_log_snapshot* snapshot,
                                                        int64_t record, void* dst, size_t size,
                                                        cairn_status* status);
// Reads the values of one field from number `record` on that fill `dst`.
// Errors: as for cairn_log_snapshot_read_records, and CAIRN_NOT_FOUND if no field has this name.
CAIRN_EXPORT cairn_code cairn_log_snapshot_read_column(const cairn_log_snapshot* snapshot,
                                                       const char* field, int64_t record, void* dst,
                                                       size_t size, cairn_status* status);

// ---- Queries ----

typedef int32_t cairn_log_order;
enum {
  CAIRN_LOG_ORDER_TIME = 0,   // by time; records of the same time by number
  CAIRN_LOG_ORDER_RECORD = 1  // by number
};

// Says which records and fields a query returns.
typedef struct cairn_log_query_options {
  size_t struct_size;
  int64_t begin;  // range of times
  int64_t end;
  const char* const* fields;  // names of the fields to return
  size_t nfields;             // 0: all fields
  // Conditions, which must all hold: "temp > 20 and (room = 'hall' or not ok)". The grammar is that
  // of LogQuery::filters in cairn/log.h.
  const char* const* filters;
  size_t nfilters;
  cairn_log_order order;
  int64_t limit;  // records
} cairn_log_query_options;
#define CAIRN_LOG_QUERY_OPTIONS_INIT                                                             \
  {                                                                                              \
    .struct_size = sizeof(cairn_log_query_options), .begin = INT64_MIN, .end = INT64_MAX,        \
    .fields = NULL, .nfields = 0, .filters = NULL, .nfilters = 0, .order = CAIRN_LOG_ORDER_TIME, \
    .limit = INT64_MAX                                                                           \
  }

// Returns what a query finds, batch by batch.
typedef struct cairn_log_cursor cairn_log_cursor;
// Some of the records that a query found, as columns.
typedef struct cairn_log_batch cairn_log_batch;

// Finds the records that a query asks for. The cursor reads them.
// Errors:
//   CAIRN_NOT_FOUND if no field has a name that `fields` or a filter contains.
//   CAIRN_INVALID_ARGUMENT if a filter does not parse. The message then names the place in its
//   text. CAIRN_FAILED_PRECONDITION if the query limits the times and the records have no time.
CAIRN_EXPORT cairn_code cairn_log_snapshot_query(const cairn_log_snapshot* snapshot,
                                                 const cairn_log_query_options* options,
                                                 cairn_log_cursor** cursor, cairn_status* status);
// Returns the next batch, which holds at least one record. Sets *batch to NULL at the end.
CAIRN_EXPORT cairn_code cairn_log_cursor_next(cairn_log_cursor* cursor, cairn_log_batch** batch,
                                              cairn_status* status);
CAIRN_EXPORT void cairn_log_cursor_free(cairn_log_cursor* cursor);

// Returns the number of records in the batch, or 0 for NULL.
CAIRN_EXPORT int64_t cairn_log_batch_size(const cairn_log_batch* batch);
// Returns the numbers of the records, which live as long as the batch. Returns NULL for NULL.
CAIRN_EXPORT const int64_t* cairn_log_batch_records(const cairn_log_batch* batch);
// Returns the values of one field, as stored, one after another: size of the field times number of
// records. They are aligned for any number and live as long as the batch.
// Errors: CAIRN_NOT_FOUND if the query does not return a field with this name.
CAIRN_EXPORT cairn_code cairn_log_batch_column(const cairn_log_batch* batch, const char* field,
                                               cairn_span* column, cairn_status* status);
CAIRN_EXPORT void cairn_log_batch_free(cairn_log_batch* batch);

// ---- Sums ----

// Says which records an aggregation sums up, and how.
typedef struct cairn_log_aggregate_options {
  size_t struct_size;
  int64_t begin;  // range of times
  int64_t end;
  int64_t bucket;              // length of a bucket; 0 means one bucket of everything
  int64_t origin;              // bucket i begins at origin + i * bucket
  const char* const* fields;   // names of fields that do not hold bytes
  size_t nfields;              // 0: all of these fields
  const char* const* filters;  // as in cairn_log_query_options
  size_t nfilters;
} cairn_log_aggregate_options;
#define CAIRN_LOG_AGGREGATE_OPTIONS_INIT                                                      \
  {                                                                                           \
    .struct_size = sizeof(cairn_log_aggregate_options), .begin = INT64_MIN, .end = INT64_MAX, \
    .bucket = 0, .origin = 0, .fields = NULL, .nfields = 0, .filters = NULL, .nfilters = 0    \
  }

// Summaries of spans of time, in the order of time.
typedef struct cairn_log_buckets cairn_log_buckets;

// Sums up records in buckets of time. Leaves out buckets without a record.
// Errors:
//   CAIRN_FAILED_PRECONDITION if the records have no time.
//   CAIRN_NOT_FOUND if no field has a name that `fields` or a filter contains.
//   CAIRN_INVALID_ARGUMENT if `bucket` is less than 0, if a field of `fields` holds bytes, or if a
//     filter does not parse.
CAIRN_EXPORT cairn_code cairn_log_snapshot_aggregate(const cairn_log_snapshot* snapshot,
                                                     const cairn_log_aggregate_options* options,
                                                     cairn_log_buckets** buckets,
                                                     cairn_status* status);
// Returns the number of buckets, or 0 for NULL.
CAIRN_EXPORT int64_t cairn_log_buckets_count(const cairn_log_buckets* buckets);

typedef struct cairn_log_bucket {
  size_t struct_size;
  int64_t begin;    // time; one bucket of everything begins at its earliest time
  int64_t records;  // number of records
} cairn_log_bucket;
// Returns bucket `index`. Errors: CAIRN_OUT_OF_RANGE if there is no such bucket.
CAIRN_EXPORT cairn_code cairn_log_buckets_get(const cairn_log_buckets* buckets, int64_t index,
                                              cairn_log_bucket* bucket, cairn_status* status);

// Summary of the values of one field, without NaNs. Integers are exact up to 2^53. If there are no
// values, all numbers are 0.
typedef struct cairn_log_summary {
  size_t struct_size;
  int64_t count;  // values
  double min;
  double max;
  double sum;
  double first;  // first value by time; at the same time, by number
  double last;
  double mean;
} cairn_log_summary;
// Returns the summary of one field in bucket `index`.
// Errors: CAIRN_OUT_OF_RANGE if there is no such bucket; CAIRN_NOT_FOUND if the aggregation does
// not sum up a field with this name.
CAIRN_EXPORT cairn_code cairn_log_buckets_get_field(const cairn_log_buckets* buckets, int64_t index,
                                                    const char* field, cairn_log_summary* summary,
                                                    cairn_status* status);
CAIRN_EXPORT void cairn_log_buckets_free(cairn_log_buckets* buckets);

// ---- Writers ----

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

#endif  // CAIRN_CAIRN_LOG_H_
