// The C API of logs: what finds records and sums them up. Include cairn/cairn_log.h.
#ifndef CAIRN_C_LOG_QUERY_H_
#define CAIRN_C_LOG_QUERY_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cairn/c_log.h"

#ifdef __cplusplus
extern "C" {
#endif

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
// Returns the text of record `index` of the batch, which lives as long as the batch.
// Errors: as for cairn_log_batch_column; CAIRN_INVALID_ARGUMENT if the field holds no texts;
// CAIRN_OUT_OF_RANGE if the batch has no such record.
CAIRN_EXPORT cairn_code cairn_log_batch_text(const cairn_log_batch* batch, const char* field,
                                             int64_t index, const char** text,
                                             cairn_status* status);
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

#ifdef __cplusplus
}
#endif

#endif  // CAIRN_C_LOG_QUERY_H_
