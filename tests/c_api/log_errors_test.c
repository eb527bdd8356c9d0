// Time-series logs: what a program in C may get wrong.
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <time.h>

#include "cairn/cairn_log.h"
#include "tests/c_api/check.h"

typedef struct sample {
  int64_t time;
  double temp;
} sample;

static const char kSample[] = "[('time', '<M8[us]'), ('temp', '<f8')]";

static cairn_log* make_samples(const char* path) {
  cairn_log* log = NULL;
  remove(path);
  CHECK_OK(cairn_log_create(path, kSample, NULL, &log, &st));
  return log;
}

static cairn_log_writer* write_samples(cairn_log* log, const cairn_log_writer_options* options) {
  cairn_log_writer* writer = NULL;
  CHECK_OK(cairn_log_open_writer(log, options, &writer, &st));
  return writer;
}

static cairn_log_snapshot* samples_of(cairn_log* log) {
  cairn_log_snapshot* newest = NULL;
  CHECK_OK(cairn_log_refresh(log, &newest, &st));
  return newest;
}

static void log_is_refused(cairn_code code, const char* dtype,
                           const cairn_log_create_options* options) {
  cairn_log* log = (cairn_log*)&st;
  remove("refused.b2frame");
  CHECK_CODE(code, cairn_log_create("refused.b2frame", dtype, options, &log, &st));
  CHECK(log == NULL);
  CHECK_CODE(CAIRN_NOT_FOUND, cairn_log_open("refused.b2frame", NULL, NULL, &log, &st));
}

static void logs_that_cannot_be_are_refused(void) {
  cairn_log_create_options options = CAIRN_LOG_CREATE_OPTIONS_INIT;
  const cairn_log_retention negative = {.struct_size = sizeof negative, .max_records = -1};
  log_is_refused(CAIRN_INVALID_ARGUMENT, "[('time', ", NULL);
  log_is_refused(CAIRN_INVALID_ARGUMENT, "[('\xff', '<f4')]", NULL);
  log_is_refused(CAIRN_UNIMPLEMENTED, "", NULL);
  log_is_refused(CAIRN_UNIMPLEMENTED, "[]", NULL);
  log_is_refused(CAIRN_UNIMPLEMENTED, "garbage", NULL);
  log_is_refused(CAIRN_INVALID_ARGUMENT, "[('a', '|S65535'), ('b', '<i8')]", NULL);
  log_is_refused(CAIRN_UNIMPLEMENTED, "[('time', '<M8[us]'), ('at', '<c16')]", NULL);
  options.time_field = "when";
  log_is_refused(CAIRN_NOT_FOUND, kSample, &options);
  options.time_field = "temp";
  log_is_refused(CAIRN_INVALID_ARGUMENT, kSample, &options);
  options.time_field = NULL;
  options.codec = 256;
  log_is_refused(CAIRN_INVALID_ARGUMENT, kSample, &options);
  options.codec = CAIRN_CODEC_LZ4;
  options.retention = &negative;
  log_is_refused(CAIRN_INVALID_ARGUMENT, kSample, &options);
}

static void log_is_neither_made_twice_nor_opened_by_another_time(void) {
  cairn_log* log = make_samples("once.b2frame");
  cairn_log* other = NULL;
  CHECK_CODE(CAIRN_ALREADY_EXISTS, cairn_log_create("once.b2frame", kSample, NULL, &other, &st));
  CHECK_CODE(CAIRN_NOT_FOUND, cairn_log_open("once.b2frame", NULL, "when", &other, &st));
  CHECK_OK(cairn_log_open("once.b2frame", NULL, "time", &other, &st));
  cairn_log_free(other);
  cairn_log_free(log);
}

static void frame_without_records_is_not_a_log(void) {
  cairn_log* log = NULL;
  make_frame("numbers.b2frame", 10, 10);
  CHECK_CODE(CAIRN_FAILED_PRECONDITION, cairn_log_open("numbers.b2frame", NULL, NULL, &log, &st));
}

static void records_without_times_have_none(void) {
  cairn_log_query_options query = CAIRN_LOG_QUERY_OPTIONS_INIT;
  cairn_log_info info = {.struct_size = sizeof info};
  cairn_log* log = NULL;
  cairn_log_snapshot* snapshot = NULL;
  cairn_log_cursor* cursor = NULL;
  cairn_log_buckets* buckets = NULL;
  int64_t begin = -7;
  int64_t end = -7;
  remove("timeless.b2frame");
  CHECK_OK(cairn_log_create("timeless.b2frame", "[('temp', '<f8')]", NULL, &log, &st));
  snapshot = samples_of(log);
  CHECK_OK(cairn_log_snapshot_info(snapshot, &info, &st));
  CHECK(info.time_field == NULL);
  CHECK_CODE(CAIRN_FAILED_PRECONDITION, cairn_log_snapshot_times(snapshot, &begin, &end, &st));
  CHECK_CODE(CAIRN_FAILED_PRECONDITION, cairn_log_snapshot_find_time(snapshot, 0, &begin, &st));
  CHECK_CODE(CAIRN_FAILED_PRECONDITION, cairn_log_snapshot_last(snapshot, 1, &begin, &end, &st));
  CHECK_CODE(CAIRN_FAILED_PRECONDITION, cairn_log_snapshot_count_future(snapshot, &begin, &st));
  CHECK_CODE(CAIRN_FAILED_PRECONDITION,
             cairn_log_snapshot_aggregate(snapshot, NULL, &buckets, &st));
  query.begin = 0;
  CHECK_CODE(CAIRN_FAILED_PRECONDITION, cairn_log_snapshot_query(snapshot, &query, &cursor, &st));
  CHECK(begin == -7 && end == -7);
  cairn_log_snapshot_free(snapshot);
  cairn_log_free(log);
}

static void queries_that_make_no_sense_are_refused(void) {
  const char* const unknown[] = {"humidity"};
  const char* const broken[] = {"temp >"};
  const char* const missing[] = {NULL};
  const char* const of_unknown[] = {"humidity > 1"};
  cairn_log_query_options query = CAIRN_LOG_QUERY_OPTIONS_INIT;
  cairn_log_aggregate_options sums = CAIRN_LOG_AGGREGATE_OPTIONS_INIT;
  cairn_log_cursor* cursor = NULL;
  cairn_log_buckets* buckets = NULL;
  cairn_log* log = make_samples("asked.b2frame");
  cairn_log_snapshot* snapshot = samples_of(log);
  query.nfields = sums.nfields = 1;
  query.fields = sums.fields = unknown;
  CHECK_CODE(CAIRN_NOT_FOUND, cairn_log_snapshot_query(snapshot, &query, &cursor, &st));
  CHECK_CODE(CAIRN_NOT_FOUND, cairn_log_snapshot_aggregate(snapshot, &sums, &buckets, &st));
  query.fields = sums.fields = missing;
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_log_snapshot_query(snapshot, &query, &cursor, &st));
  CHECK_MESSAGE("fields is NULL");
  query.fields = sums.fields = NULL;
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_log_snapshot_aggregate(snapshot, &sums, &buckets, &st));
  query.nfields = sums.nfields = 0;
  query.nfilters = sums.nfilters = 1;
  query.filters = sums.filters = broken;
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_log_snapshot_query(snapshot, &query, &cursor, &st));
  CHECK_MESSAGE("temp >");
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_log_snapshot_aggregate(snapshot, &sums, &buckets, &st));
  query.filters = sums.filters = of_unknown;
  CHECK_CODE(CAIRN_NOT_FOUND, cairn_log_snapshot_query(snapshot, &query, &cursor, &st));
  CHECK_CODE(CAIRN_NOT_FOUND, cairn_log_snapshot_aggregate(snapshot, &sums, &buckets, &st));
  query.nfilters = sums.nfilters = 0;
  query.order = 2;
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_log_snapshot_query(snapshot, &query, &cursor, &st));
  sums.bucket = -1;
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_log_snapshot_aggregate(snapshot, &sums, &buckets, &st));
  CHECK(cursor == NULL && buckets == NULL);
  cairn_log_snapshot_free(snapshot);
  cairn_log_free(log);
}

static void closed_writer_of_a_log_refuses_calls(void) {
  const sample one = {1, 20.5};
  const cairn_log_retention kept = {.struct_size = sizeof kept, .max_records = 1};
  cairn_log_snapshot* snapshot = NULL;
  cairn_log* log = make_samples("closed.b2frame");
  cairn_log_writer* writer = write_samples(log, NULL);
  CHECK_OK(cairn_log_writer_append(writer, &one, sizeof one, &st));
  CHECK_OK(cairn_log_writer_close(writer, &st));
  CHECK_CODE(CAIRN_FAILED_PRECONDITION, cairn_log_writer_append(writer, &one, sizeof one, &st));
  CHECK_CODE(CAIRN_FAILED_PRECONDITION, cairn_log_writer_commit(writer, &st));
  CHECK_CODE(CAIRN_FAILED_PRECONDITION, cairn_log_writer_checkpoint(writer, &st));
  CHECK_CODE(CAIRN_FAILED_PRECONDITION, cairn_log_writer_set_retention(writer, &kept, &st));
  CHECK_CODE(CAIRN_FAILED_PRECONDITION, cairn_log_writer_apply_retention(writer, &st));
  CHECK_CODE(CAIRN_FAILED_PRECONDITION, cairn_log_writer_close(writer, &st));
  CHECK(cairn_log_writer_end_record(writer) == 1);
  CHECK_OK(cairn_log_writer_snapshot(writer, &snapshot, &st));
  cairn_log_snapshot_free(snapshot);
  cairn_log_writer_free(writer);
  cairn_log_free(log);
}

static void writer_takes_whole_records_only_and_is_alone(void) {
  const sample timeless = {INT64_MIN, 20.5};
  const cairn_log_rotation rotation = {.struct_size = sizeof rotation, .max_bytes = 1000};
  cairn_log_writer_options options = CAIRN_LOG_WRITER_OPTIONS_INIT;
  cairn_log* log = make_samples("alone.b2frame");
  cairn_log_writer* writer = write_samples(log, NULL);
  cairn_log_writer* second = NULL;
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_log_writer_append(writer, &timeless, 15, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT,
             cairn_log_writer_append(writer, &timeless, sizeof timeless, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_log_writer_append(writer, NULL, 16, &st));
  CHECK(cairn_log_writer_end_record(writer) == 0);
  CHECK_CODE(CAIRN_FAILED_PRECONDITION, cairn_log_writer_set_rotation(writer, &rotation, &st));
  CHECK_CODE(CAIRN_UNAVAILABLE, cairn_log_open_writer(log, &options, &second, &st));
  options.durability = 2;
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_log_open_writer(log, &options, &second, &st));
  CHECK_MESSAGE("durability");
  cairn_log_writer_free(writer);
  cairn_log_free(log);
}

static void writer_commits_as_its_options_say(void) {
  const struct timespec tenth = {0, 100000000};
  const sample samples[] = {{1, 20.5}, {2, 21}, {3, 22}};
  cairn_log_writer_options options = CAIRN_LOG_WRITER_OPTIONS_INIT;
  cairn_log_info info = {.struct_size = sizeof info};
  cairn_log* log = make_samples("records.b2frame");
  cairn_log_snapshot* snapshot = NULL;
  cairn_log_writer* writer = NULL;
  options.commit_records = 2;
  options.commit_interval_ms = INT64_MAX;
  writer = write_samples(log, &options);
  CHECK_OK(cairn_log_writer_append(writer, samples, sizeof samples[0], &st));
  // The interval is longer than any clock counts. Its thread must not take that for the past.
  nanosleep(&tenth, NULL);
  snapshot = samples_of(log);
  CHECK_OK(cairn_log_snapshot_info(snapshot, &info, &st));
  CHECK(info.end_record == 0);
  cairn_log_snapshot_free(snapshot);
  CHECK_OK(cairn_log_writer_append(writer, samples + 1, sizeof samples[1], &st));
  snapshot = samples_of(log);
  CHECK_OK(cairn_log_snapshot_info(snapshot, &info, &st));
  CHECK(info.end_record == 2);
  cairn_log_snapshot_free(snapshot);
  CHECK_OK(cairn_log_writer_append(writer, samples + 2, sizeof samples[2], &st));
  CHECK_OK(cairn_log_writer_checkpoint(writer, &st));
  snapshot = samples_of(log);
  CHECK_OK(cairn_log_snapshot_info(snapshot, &info, &st));
  CHECK(info.end_record == 3);
  cairn_log_snapshot_free(snapshot);
  cairn_log_writer_free(writer);
  cairn_log_free(log);
}

// Every struct that the caller gives is refused if no version has its size.
static void structs_of_logs_of_unknown_size_are_refused(void) {
  cairn_log_create_options create = CAIRN_LOG_CREATE_OPTIONS_INIT;
  cairn_log_query_options query = CAIRN_LOG_QUERY_OPTIONS_INIT;
  cairn_log_aggregate_options sums = CAIRN_LOG_AGGREGATE_OPTIONS_INIT;
  cairn_log_writer_options writing = CAIRN_LOG_WRITER_OPTIONS_INIT;
  const cairn_log_retention retention = {.struct_size = 1};
  const cairn_log_rotation rotation = {.struct_size = 1};
  cairn_log_retention old_retention = {.struct_size = 1};
  cairn_log_rotation old_rotation = {.struct_size = 1};
  cairn_log_info info = {.struct_size = 1};
  cairn_log_field field = {.struct_size = 1};
  cairn_log_bucket bucket = {.struct_size = 1};
  cairn_log_summary summary = {.struct_size = 1};
  const sample one = {1, 20.5};
  cairn_log* log = make_samples("sizes.b2frame");
  cairn_log_writer* writer = write_samples(log, NULL);
  cairn_log_snapshot* now = NULL;
  cairn_log* none = NULL;
  cairn_log_cursor* cursor = NULL;
  cairn_log_buckets* buckets = NULL;
  cairn_log_writer* second = NULL;
  CHECK_OK(cairn_log_writer_append(writer, &one, sizeof one, &st));
  CHECK_OK(cairn_log_writer_commit(writer, &st));
  now = samples_of(log);
  CHECK_OK(cairn_log_snapshot_aggregate(now, NULL, &buckets, &st));
  create.struct_size = query.struct_size = sums.struct_size = writing.struct_size = 1;
#define REFUSED(call)                       \
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, call); \
  CHECK_MESSAGE("struct_size 1 is not the size of a known version")
  REFUSED(cairn_log_create("new.b2frame", kSample, &create, &none, &st));
  REFUSED(cairn_log_open_writer(log, &writing, &second, &st));
  REFUSED(cairn_log_request_limits(log, &retention, NULL, &st));
  REFUSED(cairn_log_request_limits(log, NULL, &rotation, &st));
  REFUSED(cairn_log_writer_set_retention(writer, &retention, &st));
  REFUSED(cairn_log_writer_set_rotation(writer, &rotation, &st));
  REFUSED(cairn_log_snapshot_info(now, &info, &st));
  REFUSED(cairn_log_snapshot_get_field(now, 0, &field, &st));
  REFUSED(cairn_log_snapshot_retention(now, &old_retention, &st));
  REFUSED(cairn_log_snapshot_rotation(now, &old_rotation, &st));
  REFUSED(cairn_log_snapshot_query(now, &query, &cursor, &st));
  REFUSED(cairn_log_buckets_get(buckets, 0, &bucket, &st));
  REFUSED(cairn_log_buckets_get_field(buckets, 0, "temp", &summary, &st));
  cairn_log_buckets_free(buckets);
  REFUSED(cairn_log_snapshot_aggregate(now, &sums, &buckets, &st));
#undef REFUSED
  cairn_log_snapshot_free(now);
  cairn_log_writer_free(writer);
  cairn_log_free(log);
}

static void missing_handles_and_places_are_refused(void) {
  cairn_log* log = make_samples("handles.b2frame");
  cairn_log_snapshot* now = samples_of(log);
  cairn_log_snapshot* out = NULL;
  cairn_log_writer* writer = NULL;
  cairn_log_cursor* cursor = NULL;
  cairn_log_batch* batch = NULL;
  cairn_log_buckets* buckets = NULL;
  cairn_log_info info = {.struct_size = sizeof info};
  cairn_log_field field = {.struct_size = sizeof field};
  cairn_log_retention kept = {.struct_size = sizeof kept};
  cairn_log_rotation rotation = {.struct_size = sizeof rotation};
  cairn_log_bucket bucket = {.struct_size = sizeof bucket};
  cairn_log_summary summary = {.struct_size = sizeof summary};
  cairn_span column = {NULL, 0};
  sample one = {0, 0};
  int64_t number = 0;
#define REFUSED(call) CHECK_CODE(CAIRN_INVALID_ARGUMENT, call)
  cairn_log_free(log);
  REFUSED(cairn_log_create(NULL, kSample, NULL, &log, &st));
  REFUSED(cairn_log_create("x", NULL, NULL, &log, &st));
  REFUSED(cairn_log_create("x", kSample, NULL, NULL, &st));
  REFUSED(cairn_log_open(NULL, NULL, NULL, &log, &st));
  REFUSED(cairn_log_open("x", NULL, NULL, NULL, &st));
  REFUSED(cairn_log_newest(NULL, &out, &st));
  REFUSED(cairn_log_refresh(NULL, &out, &st));
  REFUSED(cairn_log_wait_for_commit(NULL, now, 0, &out, &st));
  REFUSED(cairn_log_request_limits(NULL, NULL, NULL, &st));
  REFUSED(cairn_log_open_writer(NULL, NULL, &writer, &st));
  REFUSED(cairn_log_snapshot_info(NULL, &info, &st));
  REFUSED(cairn_log_snapshot_info(now, NULL, &st));
  REFUSED(cairn_log_snapshot_get_field(NULL, 0, &field, &st));
  REFUSED(cairn_log_snapshot_get_field(now, 0, NULL, &st));
  REFUSED(cairn_log_snapshot_retention(NULL, &kept, &st));
  REFUSED(cairn_log_snapshot_retention(now, NULL, &st));
  REFUSED(cairn_log_snapshot_rotation(NULL, &rotation, &st));
  REFUSED(cairn_log_snapshot_rotation(now, NULL, &st));
  REFUSED(cairn_log_snapshot_times(NULL, &number, &number, &st));
  REFUSED(cairn_log_snapshot_times(now, NULL, &number, &st));
  REFUSED(cairn_log_snapshot_times(now, &number, NULL, &st));
  REFUSED(cairn_log_snapshot_find_time(NULL, 0, &number, &st));
  REFUSED(cairn_log_snapshot_find_time(now, 0, NULL, &st));
  REFUSED(cairn_log_snapshot_last(NULL, 0, &number, &number, &st));
  REFUSED(cairn_log_snapshot_last(now, 0, NULL, &number, &st));
  REFUSED(cairn_log_snapshot_last(now, 0, &number, NULL, &st));
  REFUSED(cairn_log_snapshot_count_future(NULL, &number, &st));
  REFUSED(cairn_log_snapshot_count_future(now, NULL, &st));
  REFUSED(cairn_log_snapshot_read_records(NULL, 0, &one, sizeof one, &st));
  REFUSED(cairn_log_snapshot_read_records(now, 0, NULL, sizeof one, &st));
  REFUSED(cairn_log_snapshot_read_column(NULL, "temp", 0, &one, 8, &st));
  REFUSED(cairn_log_snapshot_read_column(now, NULL, 0, &one, 8, &st));
  REFUSED(cairn_log_snapshot_read_column(now, "temp", 0, NULL, 8, &st));
  REFUSED(cairn_log_snapshot_query(NULL, NULL, &cursor, &st));
  REFUSED(cairn_log_snapshot_query(now, NULL, NULL, &st));
  REFUSED(cairn_log_cursor_next(NULL, &batch, &st));
  CHECK_OK(cairn_log_snapshot_query(now, NULL, &cursor, &st));
  REFUSED(cairn_log_cursor_next(cursor, NULL, &st));
  CHECK_OK(cairn_log_cursor_next(cursor, &batch, &st));
  CHECK(batch == NULL);
  REFUSED(cairn_log_batch_column(NULL, "temp", &column, &st));
  CHECK(cairn_log_batch_size(NULL) == 0 && cairn_log_batch_records(NULL) == NULL);
  REFUSED(cairn_log_snapshot_aggregate(NULL, NULL, &buckets, &st));
  REFUSED(cairn_log_snapshot_aggregate(now, NULL, NULL, &st));
  CHECK(cairn_log_buckets_count(NULL) == 0);
  REFUSED(cairn_log_buckets_get(NULL, 0, &bucket, &st));
  REFUSED(cairn_log_buckets_get_field(NULL, 0, "temp", &summary, &st));
  REFUSED(cairn_log_writer_append(NULL, &one, sizeof one, &st));
  REFUSED(cairn_log_writer_upsert(NULL, &one, sizeof one, NULL, 0, NULL, &st));
  REFUSED(cairn_log_writer_commit(NULL, &st));
  REFUSED(cairn_log_writer_checkpoint(NULL, &st));
  REFUSED(cairn_log_writer_set_retention(NULL, &kept, &st));
  REFUSED(cairn_log_writer_set_rotation(NULL, &rotation, &st));
  REFUSED(cairn_log_writer_apply_retention(NULL, &st));
  REFUSED(cairn_log_writer_snapshot(NULL, &out, &st));
  REFUSED(cairn_log_writer_close(NULL, &st));
#undef REFUSED
  CHECK(cairn_log_writer_end_record(NULL) == 0);
  CHECK(!cairn_log_snapshot_equal(NULL, now) && !cairn_log_snapshot_equal(now, NULL));
  cairn_log_cursor_free(cursor);
  cairn_log_snapshot_free(now);
  cairn_log_free(NULL);
  cairn_log_snapshot_free(NULL);
  cairn_log_cursor_free(NULL);
  cairn_log_batch_free(NULL);
  cairn_log_buckets_free(NULL);
  cairn_log_writer_free(NULL);
}

const test_case log_error_tests[] = {
    TEST_CASE(logs_that_cannot_be_are_refused),
    TEST_CASE(log_is_neither_made_twice_nor_opened_by_another_time),
    TEST_CASE(frame_without_records_is_not_a_log),
    TEST_CASE(records_without_times_have_none),
    TEST_CASE(queries_that_make_no_sense_are_refused),
    TEST_CASE(closed_writer_of_a_log_refuses_calls),
    TEST_CASE(writer_takes_whole_records_only_and_is_alone),
    TEST_CASE(writer_commits_as_its_options_say),
    TEST_CASE(structs_of_logs_of_unknown_size_are_refused),
    TEST_CASE(missing_handles_and_places_are_refused),
    {NULL, NULL},
};
