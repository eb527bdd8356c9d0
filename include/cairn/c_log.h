// The C API of logs: logs, and their states. Include cairn/cairn_log.h.
#ifndef CAIRN_C_LOG_H_
#define CAIRN_C_LOG_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cairn/cairn.h"

#ifdef __cplusplus
extern "C" {
#endif

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
  // Names of fields of the type u4 that hold texts; see CAIRN_LOG_FIELD_TEXT.
  const char* const* texts;
  size_t ntexts;
} cairn_log_create_options;
#define CAIRN_LOG_CREATE_OPTIONS_INIT                                                              \
  {                                                                                                \
    .struct_size = sizeof(cairn_log_create_options), .time_field = NULL, .codec = CAIRN_CODEC_LZ4, \
    .clevel = 5, .chunksize = 0, .retention = NULL, .rotation = NULL, .files = NULL,               \
    .texts = NULL, .ntexts = 0                                                                     \
  }

// Creates an empty log at `path` and opens it. `dtype` describes a record as NumPy writes it:
// "[('time', '<M8[us]'), ('temp', '<f4'), ('room', '|S8')]". Values are little-endian, and fields
// follow one another without gaps unless the dtype has gaps.
// Errors: as for cairn_frame_create, and
//   CAIRN_INVALID_ARGUMENT if `dtype` does not have the form of a record, if a name is not UTF-8,
//   or
//     if no field of the type u4 has a name that `texts` contains.
//   CAIRN_UNIMPLEMENTED if the dtype has no field, or a type that a log cannot hold. A word that is
//     no type counts as one.
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
// state. After another process has added a field to a log of one file, new records are seen up to
// a second later. A handle that is not refreshed keeps files open that retention has dropped, and
// the disk does not get their space back. Errors, also of waiting: as for opening.
CAIRN_EXPORT cairn_code cairn_log_refresh(cairn_log* log, cairn_log_snapshot** snapshot,
                                          cairn_status* status);
// Waits up to `timeout_ms` for a state that is not `seen`, which this handle returned. Returns the
// newest state in any case. A writer that is opened makes a new state, too.
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
//     would not trust a request of this user.
CAIRN_EXPORT cairn_code cairn_log_request_limits(cairn_log* log,
                                                 const cairn_log_retention* retention,
                                                 const cairn_log_rotation* rotation,
                                                 cairn_status* status);

// Says which records to delete: those of these times for which all conditions hold.
typedef struct cairn_log_selection {
  size_t struct_size;
  int64_t begin;  // range of times
  int64_t end;
  const char* const* filters;  // as in cairn_log_query_options
  size_t nfilters;
} cairn_log_selection;
#define CAIRN_LOG_SELECTION_INIT                                                      \
  {                                                                                   \
    .struct_size = sizeof(cairn_log_selection), .begin = INT64_MIN, .end = INT64_MAX, \
    .filters = NULL, .nfilters = 0                                                    \
  }

// Deletes records, whoever writes the log, except those that are committed after the call. If the
// log has a writer, in any process, leaves it a request, which it carries out with its next commit,
// and waits up to `wait_ms` for that. Sets *deleted to the number of records, with those of other
// calls at the same time.
// Errors: as for cairn_log_writer_delete, and
//   CAIRN_UNAVAILABLE if no writer has carried out the request in time. The message says whether
//     the request stays: then the next commit carries it out.
//   CAIRN_ABORTED if the writer could not delete all of the records. The request is gone then.
//   CAIRN_UNIMPLEMENTED if the log is in an object store and has a writer.
//   CAIRN_PERMISSION_DENIED as for cairn_log_request_limits.
CAIRN_EXPORT cairn_code cairn_log_delete(cairn_log* log, const cairn_log_selection* which,
                                         int64_t wait_ms, int64_t* deleted, cairn_status* status);

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
  CAIRN_LOG_FIELD_BYTES = 5,  // zeros at the end do not count
  // A uint32_t code of a text, which cairn_log_snapshot_text and cairn_log_batch_text return, and
  // cairn_log_writer_code_of gives to a text. Code 0 is the empty text.
  CAIRN_LOG_FIELD_TEXT = 6
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
// Returns the number of the first record that has a value of this field. Records before it are
// older than the field; they read as NaN, no time, empty text, 0 or false.
// Errors: CAIRN_NOT_FOUND if no field has this name.
CAIRN_EXPORT cairn_code cairn_log_snapshot_first_with_value(const cairn_log_snapshot* snapshot,
                                                            const char* field, int64_t* record,
                                                            cairn_status* status);
// Returns the text of a code, which lives as long as the snapshot.
// Errors: CAIRN_NOT_FOUND if no field has this name; CAIRN_INVALID_ARGUMENT if it holds no texts;
// CAIRN_OUT_OF_RANGE if no text has this code.
CAIRN_EXPORT cairn_code cairn_log_snapshot_text(const cairn_log_snapshot* snapshot,
                                                const char* field, uint32_t code, const char** text,
                                                cairn_status* status);

#ifdef __cplusplus
}
#endif

#endif  // CAIRN_C_LOG_H_
