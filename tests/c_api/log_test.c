// Time-series logs: what a program in C writes, finds, sums up and follows.
#include <stdio.h>
#include <string.h>

#include "cairn/cairn_log.h"
#include "tests/c_api/check.h"

typedef struct reading {
  int64_t time;
  double temp;
  char room[8];
} reading;

enum { kReadings = 100 };

static const char kDtype[] = "[('time', '<M8[us]'), ('temp', '<f8'), ('room', '|S8')]";

// Every reading is a second after the one before. Its temperature is its number.
static reading reading_of(int64_t number) {
  reading made = {number * 1000000, (double)number, "hall"};
  if (number % 2 == 1) memcpy(made.room, "attic", 6);
  return made;
}

static void append(cairn_log_writer* writer, int64_t first, int64_t end) {
  for (int64_t i = first; i < end; ++i) {
    const reading one = reading_of(i);
    CHECK_OK(cairn_log_writer_append(writer, &one, sizeof one, &st));
  }
}

static cairn_log_writer* open_log_writer(cairn_log* log) {
  cairn_log_writer* writer = NULL;
  CHECK_OK(cairn_log_open_writer(log, NULL, &writer, &st));
  return writer;
}

static cairn_log_snapshot* newest_of(cairn_log* log) {
  cairn_log_snapshot* newest = NULL;
  CHECK_OK(cairn_log_refresh(log, &newest, &st));
  return newest;
}

static cairn_log_info log_info_of(const cairn_log_snapshot* snapshot) {
  cairn_log_info info = {.struct_size = sizeof info};
  CHECK_OK(cairn_log_snapshot_info(snapshot, &info, &st));
  return info;
}

static cairn_log* make_log(const char* path, const cairn_log_create_options* options) {
  cairn_log* log = NULL;
  remove(path);
  CHECK_OK(cairn_log_create(path, kDtype, options, &log, &st));
  return log;
}

// A log in chunks of 10 readings.
static cairn_log* make_readings(const char* path) {
  cairn_log_create_options options = CAIRN_LOG_CREATE_OPTIONS_INIT;
  cairn_log_writer* writer = NULL;
  cairn_log* log = NULL;
  options.chunksize = 10 * (int32_t)sizeof(reading);
  log = make_log(path, &options);
  writer = open_log_writer(log);
  append(writer, 0, kReadings);
  CHECK(cairn_log_writer_end_record(writer) == kReadings);
  CHECK_OK(cairn_log_writer_close(writer, &st));
  cairn_log_writer_free(writer);
  return log;
}

// Outlives its log.
static cairn_log_snapshot* readings(void) {
  cairn_log* log = make_readings("readings.b2frame");
  cairn_log_snapshot* snapshot = newest_of(log);
  cairn_log_free(log);
  return snapshot;
}

static void log_describes_its_records(void) {
  const char* const names[] = {"time", "temp", "room"};
  const cairn_log_field_type types[] = {CAIRN_LOG_FIELD_TIMESTAMP, CAIRN_LOG_FIELD_FLOAT,
                                        CAIRN_LOG_FIELD_BYTES};
  cairn_log_field field = {.struct_size = sizeof field};
  cairn_log_snapshot* snapshot = readings();
  const cairn_log_info info = log_info_of(snapshot);
  CHECK(info.first_record == 0 && info.end_record == kReadings);
  CHECK(info.record_size == sizeof(reading) && info.nfields == 3);
  CHECK(info.dtype != NULL && strcmp(info.dtype, kDtype) == 0);
  CHECK(info.time_field != NULL && strcmp(info.time_field, "time") == 0);
  for (int32_t i = 0; i < 3; ++i) {
    CHECK_OK(cairn_log_snapshot_get_field(snapshot, i, &field, &st));
    CHECK(strcmp(field.name, names[i]) == 0 && field.type == types[i]);
    CHECK(field.size == 8 && field.offset == 8 * i);
    CHECK(field.units_per_second == (i == 0 ? 1000000 : 0));
  }
  CHECK_CODE(CAIRN_OUT_OF_RANGE, cairn_log_snapshot_get_field(snapshot, 3, &field, &st));
  CHECK_CODE(CAIRN_OUT_OF_RANGE, cairn_log_snapshot_get_field(snapshot, -1, &field, &st));
  cairn_log_snapshot_free(snapshot);
}

static void records_are_found_by_time_and_read(void) {
  int64_t begin = -1;
  int64_t end = -1;
  int64_t number = -1;
  double temps[3] = {0};
  reading one;
  const reading expected = reading_of(42);
  cairn_log_snapshot* snapshot = readings();
  CHECK_OK(cairn_log_snapshot_times(snapshot, &begin, &end, &st));
  CHECK(begin == 0 && end == reading_of(kReadings - 1).time + 1);
  CHECK_OK(cairn_log_snapshot_find_time(snapshot, expected.time - 1, &number, &st));
  CHECK(number == 42);
  CHECK_OK(cairn_log_snapshot_find_time(snapshot, end, &number, &st));
  CHECK(number == kReadings);
  CHECK_OK(cairn_log_snapshot_last(snapshot, 5000000, &begin, &end, &st));
  CHECK(begin == reading_of(kReadings - 6).time && end > reading_of(kReadings - 1).time);
  CHECK_OK(cairn_log_snapshot_read_records(snapshot, 42, &one, sizeof one, &st));
  CHECK(memcmp(&one, &expected, sizeof one) == 0);
  CHECK_OK(cairn_log_snapshot_read_column(snapshot, "temp", 8, temps, sizeof temps, &st));
  CHECK(temps[0] == 8 && temps[1] == 9 && temps[2] == 10);

  CHECK_CODE(CAIRN_OUT_OF_RANGE, cairn_log_snapshot_read_records(snapshot, 100, &one, 24, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_log_snapshot_read_records(snapshot, 0, &one, 23, &st));
  CHECK_CODE(CAIRN_NOT_FOUND, cairn_log_snapshot_read_column(snapshot, "x", 0, temps, 8, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_log_snapshot_last(snapshot, -1, &begin, &end, &st));
  cairn_log_snapshot_free(snapshot);
}

static void records_from_the_future_are_counted(void) {
  reading future = reading_of(kReadings);
  int64_t count = -1;
  cairn_log* log = make_readings("future.b2frame");
  cairn_log_writer* writer = open_log_writer(log);
  cairn_log_snapshot* snapshot = NULL;
  future.time = INT64_C(1) << 60;
  CHECK_OK(cairn_log_writer_append(writer, &future, sizeof future, &st));
  CHECK_OK(cairn_log_writer_commit(writer, &st));
  CHECK_OK(cairn_log_writer_snapshot(writer, &snapshot, &st));
  CHECK_OK(cairn_log_snapshot_count_future(snapshot, &count, &st));
  CHECK(count == 1);
  cairn_log_snapshot_free(snapshot);
  cairn_log_writer_free(writer);
  cairn_log_free(log);
}

static void empty_log_has_no_times(void) {
  int64_t begin = -1;
  int64_t end = -1;
  cairn_log* log = make_log("empty.b2frame", NULL);
  cairn_log_snapshot* snapshot = NULL;
  CHECK_OK(cairn_log_newest(log, &snapshot, &st));
  CHECK_OK(cairn_log_snapshot_times(snapshot, &begin, &end, &st));
  CHECK(begin == 0 && end == 0);
  cairn_log_snapshot_free(snapshot);
  cairn_log_free(log);
}

static void query_returns_records_that_pass_all_filters(void) {
  const char* const fields[] = {"temp", "room"};
  const char* const filters[] = {"temp >= 11 and temp < 90", "room = 'hall'"};
  cairn_log_query_options options = CAIRN_LOG_QUERY_OPTIONS_INIT;
  cairn_log_cursor* cursor = NULL;
  cairn_log_batch* batch = NULL;
  cairn_span temps = {NULL, 0};
  cairn_span rooms = {NULL, 0};
  int64_t next = 20;
  cairn_log_snapshot* snapshot = readings();
  options.begin = reading_of(20).time;
  options.end = reading_of(95).time;
  options.fields = fields;
  options.nfields = 2;
  options.filters = filters;
  options.nfilters = 2;
  options.limit = 30;
  CHECK_OK(cairn_log_snapshot_query(snapshot, &options, &cursor, &st));
  cairn_log_snapshot_free(snapshot);
  while (cairn_log_cursor_next(cursor, &batch, &st) == CAIRN_OK && batch != NULL) {
    const int64_t size = cairn_log_batch_size(batch);
    const int64_t* records = cairn_log_batch_records(batch);
    CHECK(size > 0);
    CHECK_OK(cairn_log_batch_column(batch, "temp", &temps, &st));
    CHECK_OK(cairn_log_batch_column(batch, "room", &rooms, &st));
    CHECK(temps.size == (size_t)size * 8 && rooms.size == (size_t)size * 8);
    for (int64_t i = 0; i < size; ++i, next += 2) {
      CHECK(records[i] == next);
      CHECK(((const double*)temps.data)[i] == (double)next);
      CHECK(strcmp((const char*)rooms.data + 8 * i, "hall") == 0);
    }
    CHECK_CODE(CAIRN_NOT_FOUND, cairn_log_batch_column(batch, "time", &temps, &st));
    cairn_log_batch_free(batch);
  }
  CHECK(st.code == CAIRN_OK);
  CHECK(next == 20 + 2 * 30);
  cairn_log_cursor_free(cursor);
}

static void query_can_return_records_by_number(void) {
  cairn_log_query_options options = CAIRN_LOG_QUERY_OPTIONS_INIT;
  cairn_log* log = make_readings("late.b2frame");
  cairn_log_writer* writer = open_log_writer(log);
  cairn_log_snapshot* snapshot = NULL;
  append(writer, 0, 1);
  CHECK_OK(cairn_log_writer_close(writer, &st));
  cairn_log_writer_free(writer);
  snapshot = newest_of(log);
  options.end = reading_of(1).time;
  for (int32_t order = CAIRN_LOG_ORDER_TIME; order <= CAIRN_LOG_ORDER_RECORD; ++order) {
    cairn_log_cursor* cursor = NULL;
    cairn_log_batch* batch = NULL;
    int64_t last = -1;
    options.order = order;
    CHECK_OK(cairn_log_snapshot_query(snapshot, &options, &cursor, &st));
    while (cairn_log_cursor_next(cursor, &batch, &st) == CAIRN_OK && batch != NULL) {
      last = cairn_log_batch_records(batch)[cairn_log_batch_size(batch) - 1];
      cairn_log_batch_free(batch);
    }
    CHECK(last == kReadings);
    cairn_log_cursor_free(cursor);
  }
  cairn_log_snapshot_free(snapshot);
  cairn_log_free(log);
}

static void buckets_sum_up_records(void) {
  const char* const fields[] = {"temp"};
  const char* const filters[] = {"room = hall"};
  cairn_log_aggregate_options options = CAIRN_LOG_AGGREGATE_OPTIONS_INIT;
  cairn_log_bucket bucket = {.struct_size = sizeof bucket};
  cairn_log_summary temp = {.struct_size = sizeof temp};
  cairn_log_buckets* buckets = NULL;
  cairn_log_snapshot* snapshot = readings();
  options.begin = reading_of(10).time;
  options.end = reading_of(50).time;
  options.bucket = 20000000;
  options.origin = 10000000;
  options.fields = fields;
  options.nfields = 1;
  options.filters = filters;
  options.nfilters = 1;
  CHECK_OK(cairn_log_snapshot_aggregate(snapshot, &options, &buckets, &st));
  CHECK(cairn_log_buckets_count(buckets) == 2);
  CHECK_OK(cairn_log_buckets_get(buckets, 1, &bucket, &st));
  CHECK(bucket.begin == 30000000 && bucket.records == 10);
  CHECK_OK(cairn_log_buckets_get_field(buckets, 1, "temp", &temp, &st));
  CHECK(temp.count == 10 && temp.min == 30 && temp.max == 48 && temp.sum == 390);
  CHECK(temp.first == 30 && temp.last == 48 && temp.mean == 39);
  CHECK_CODE(CAIRN_NOT_FOUND, cairn_log_buckets_get_field(buckets, 1, "time", &temp, &st));
  CHECK_CODE(CAIRN_OUT_OF_RANGE, cairn_log_buckets_get_field(buckets, 2, "temp", &temp, &st));
  CHECK_CODE(CAIRN_OUT_OF_RANGE, cairn_log_buckets_get(buckets, 2, &bucket, &st));
  CHECK_CODE(CAIRN_OUT_OF_RANGE, cairn_log_buckets_get(buckets, -1, &bucket, &st));
  cairn_log_buckets_free(buckets);

  CHECK_OK(cairn_log_snapshot_aggregate(snapshot, NULL, &buckets, &st));
  CHECK(cairn_log_buckets_count(buckets) == 1);
  CHECK_OK(cairn_log_buckets_get_field(buckets, 0, "temp", &temp, &st));
  CHECK(temp.count == kReadings && temp.sum == 4950);
  CHECK_OK(cairn_log_buckets_get_field(buckets, 0, "time", &temp, &st));
  CHECK(temp.max == 99000000);
  CHECK_CODE(CAIRN_NOT_FOUND, cairn_log_buckets_get_field(buckets, 0, "room", &temp, &st));
  cairn_log_buckets_free(buckets);
  cairn_log_snapshot_free(snapshot);
}

static void retention_drops_old_records(void) {
  cairn_log_retention kept = {.struct_size = sizeof kept, .max_records = 25};
  cairn_log_retention stored = {.struct_size = sizeof stored};
  cairn_log* log = make_readings("kept.b2frame");
  cairn_log_writer* writer = open_log_writer(log);
  cairn_log_snapshot* snapshot = NULL;
  cairn_log_info info;
  reading one;
  CHECK_OK(cairn_log_writer_set_retention(writer, &kept, &st));
  CHECK_OK(cairn_log_writer_apply_retention(writer, &st));
  CHECK_OK(cairn_log_writer_snapshot(writer, &snapshot, &st));
  info = log_info_of(snapshot);
  CHECK(info.first_record == 70 && info.end_record == kReadings);
  CHECK_OK(cairn_log_snapshot_retention(snapshot, &stored, &st));
  CHECK(stored.max_age == 0 && stored.max_records == 25 && stored.max_bytes == 0);
  CHECK_CODE(CAIRN_OUT_OF_RANGE,
             cairn_log_snapshot_read_records(snapshot, 69, &one, sizeof one, &st));
  kept.max_age = -1;
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_log_writer_set_retention(writer, &kept, &st));
  cairn_log_snapshot_free(snapshot);
  cairn_log_writer_free(writer);
  cairn_log_free(log);
}

static bool exists(const char* path) {
  FILE* file = fopen(path, "rb");
  if (file != NULL) fclose(file);
  return file != NULL;
}

static void rotation_begins_files(void) {
  const cairn_log_retention kept = {.struct_size = sizeof kept, .max_age = INT64_C(1) << 60};
  cairn_log_rotation rotation = {.struct_size = sizeof rotation, .period = 10000000};
  cairn_log_rotation stored = {.struct_size = sizeof stored};
  cairn_log_retention stored_retention = {.struct_size = sizeof stored_retention};
  cairn_log_create_options options = CAIRN_LOG_CREATE_OPTIONS_INIT;
  cairn_log_writer* writer = NULL;
  cairn_log_snapshot* snapshot = NULL;
  cairn_log* log = NULL;
  options.rotation = &rotation;
  options.retention = &kept;
  log = make_log("rotated", &options);
  writer = open_log_writer(log);
  append(writer, 0, 5);
  CHECK_OK(cairn_log_writer_commit(writer, &st));
  CHECK(exists("rotated/log.000000.b2frame") && !exists("rotated/log.000001.b2frame"));
  append(writer, 10, 15);
  CHECK_OK(cairn_log_writer_commit(writer, &st));
  CHECK(exists("rotated/log.000001.b2frame"));
  rotation.period = 0;
  rotation.max_bytes = 1 << 20;
  CHECK_OK(cairn_log_writer_set_rotation(writer, &rotation, &st));
  CHECK_OK(cairn_log_writer_close(writer, &st));
  cairn_log_writer_free(writer);
  snapshot = newest_of(log);
  CHECK(log_info_of(snapshot).end_record == 10);
  CHECK_OK(cairn_log_snapshot_rotation(snapshot, &stored, &st));
  CHECK(stored.max_bytes == 1 << 20 && stored.period == 0);
  CHECK_OK(cairn_log_snapshot_retention(snapshot, &stored_retention, &st));
  CHECK(stored_retention.max_age == INT64_C(1) << 60);
  cairn_log_snapshot_free(snapshot);
  cairn_log_free(log);
}

static void follower_sees_commits_and_asks_for_limits(void) {
  const cairn_log_retention asked = {
      .struct_size = sizeof asked, .max_age = -1, .max_records = 1000, .max_bytes = -1};
  const cairn_log_rotation rotation = {.struct_size = sizeof rotation, .max_bytes = 1000};
  const cairn_log_retention wrong = {.struct_size = sizeof wrong, .max_age = -2};
  cairn_log_retention stored = {.struct_size = sizeof stored};
  cairn_log* log = make_readings("followed.b2frame");
  cairn_log_writer* writer = open_log_writer(log);
  cairn_log* follower = NULL;
  cairn_log_snapshot* seen = NULL;
  cairn_log_snapshot* newer = NULL;
  CHECK_OK(cairn_log_open("followed.b2frame", NULL, NULL, &follower, &st));
  CHECK_OK(cairn_log_newest(follower, &seen, &st));
  CHECK_OK(cairn_log_wait_for_commit(follower, seen, 1, &newer, &st));
  CHECK(cairn_log_snapshot_equal(seen, newer));
  cairn_log_snapshot_free(newer);
  CHECK_OK(cairn_log_request_limits(follower, &asked, NULL, &st));
  append(writer, kReadings, kReadings + 3);
  CHECK_OK(cairn_log_writer_commit(writer, &st));
  CHECK_OK(cairn_log_wait_for_commit(follower, seen, 60000, &newer, &st));
  CHECK(!cairn_log_snapshot_equal(seen, newer));
  CHECK(log_info_of(seen).end_record == kReadings);
  CHECK(log_info_of(newer).end_record == kReadings + 3);
  CHECK_OK(cairn_log_snapshot_retention(newer, &stored, &st));
  CHECK(stored.max_age == 0 && stored.max_records == 1000 && stored.max_bytes == 0);
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_log_request_limits(follower, &wrong, NULL, &st));
  CHECK_CODE(CAIRN_FAILED_PRECONDITION, cairn_log_request_limits(follower, NULL, &rotation, &st));
  cairn_log_snapshot_free(newer);
  cairn_log_snapshot_free(seen);
  cairn_log_free(follower);
  cairn_log_writer_free(writer);
  cairn_log_free(log);
}

static void upsert_replaces_records_of_the_same_key(void) {
  const char* const rooms[] = {"room"};
  const char* const temps[] = {"temp"};
  const char* const none[] = {"nothing"};
  const reading changed[] = {
      {5000000, 50, "attic"}, {5000000, 51, "cellar"}, {7000000, 7, "attic"}};
  cairn_log_upsert_report report = {.struct_size = sizeof report};
  cairn_log* log = make_readings("upserted.b2frame");
  cairn_log_writer* writer = open_log_writer(log);
  cairn_log_snapshot* snapshot = NULL;
  CHECK_OK(cairn_log_writer_upsert(writer, changed, sizeof changed, rooms, 1, &report, &st));
  CHECK(report.inserted == 1 && report.replaced == 1 && report.unchanged == 1);
  CHECK(report.removed == 1);
  CHECK_OK(cairn_log_writer_upsert(writer, changed, sizeof changed[0], NULL, 0, NULL, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT,
             cairn_log_writer_upsert(writer, changed, sizeof changed, temps, 1, &report, &st));
  CHECK_CODE(CAIRN_NOT_FOUND,
             cairn_log_writer_upsert(writer, changed, sizeof changed, none, 1, &report, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT,
             cairn_log_writer_upsert(writer, changed, 5, NULL, 0, &report, &st));
  snapshot = newest_of(log);
  CHECK(log_info_of(snapshot).end_record == kReadings + 2);
  cairn_log_snapshot_free(snapshot);
  cairn_log_writer_free(writer);
  cairn_log_free(log);
}

const test_case log_tests[] = {
    TEST_CASE(log_describes_its_records),
    TEST_CASE(records_are_found_by_time_and_read),
    TEST_CASE(records_from_the_future_are_counted),
    TEST_CASE(empty_log_has_no_times),
    TEST_CASE(query_returns_records_that_pass_all_filters),
    TEST_CASE(query_can_return_records_by_number),
    TEST_CASE(buckets_sum_up_records),
    TEST_CASE(retention_drops_old_records),
    TEST_CASE(rotation_begins_files),
    TEST_CASE(upsert_replaces_records_of_the_same_key),
    TEST_CASE(follower_sees_commits_and_asks_for_limits),
    {NULL, NULL},
};
