// Time-series logs: what a program in C deletes, adds to the records, and stores as texts.
#include <stdio.h>
#include <string.h>

#include "cairn/cairn_log.h"
#include "tests/c_api/check.h"

// The code of a text is its number in the log.
typedef struct visit {
  int64_t time;
  uint32_t host;
  float load;
} visit;

enum { kVisits = 60 };

static const char kVisit[] = "[('time', '<M8[ms]'), ('host', '<u4'), ('load', '<f4')]";
static const char* const kHosts[] = {"alpha", "b\xc3\xa4ta", "gamma"};

static cairn_log* make_visits(const char* path) {
  const char* const texts[] = {"host"};
  cairn_log_create_options options = CAIRN_LOG_CREATE_OPTIONS_INIT;
  cairn_log_writer* writer = NULL;
  cairn_log* log = NULL;
  remove(path);
  options.texts = texts;
  options.ntexts = 1;
  CHECK_OK(cairn_log_create(path, kVisit, &options, &log, &st));
  CHECK_OK(cairn_log_open_writer(log, NULL, &writer, &st));
  for (int64_t i = 0; i < kVisits; ++i) {
    visit one = {i, 0, (float)i};
    CHECK_OK(cairn_log_writer_code_of(writer, "host", kHosts[i % 3], &one.host, &st));
    CHECK(one.host == 1 + (uint32_t)(i % 3));
    CHECK_OK(cairn_log_writer_append(writer, &one, sizeof one, &st));
  }
  CHECK_OK(cairn_log_writer_close(writer, &st));
  cairn_log_writer_free(writer);
  return log;
}

static cairn_log_snapshot* state_of(cairn_log* log) {
  cairn_log_snapshot* newest = NULL;
  CHECK_OK(cairn_log_refresh(log, &newest, &st));
  return newest;
}

// Counts the records that fulfil a condition, and checks the text of each.
static int64_t count_visits(cairn_log* log, const char* condition) {
  const char* const filters[] = {condition};
  cairn_log_query_options options = CAIRN_LOG_QUERY_OPTIONS_INIT;
  cairn_log_snapshot* snapshot = state_of(log);
  cairn_log_cursor* cursor = NULL;
  cairn_log_batch* batch = NULL;
  int64_t count = 0;
  options.filters = filters;
  options.nfilters = 1;
  CHECK_OK(cairn_log_snapshot_query(snapshot, &options, &cursor, &st));
  cairn_log_snapshot_free(snapshot);
  while (cairn_log_cursor_next(cursor, &batch, &st) == CAIRN_OK && batch != NULL) {
    const int64_t size = cairn_log_batch_size(batch);
    const int64_t* numbers = cairn_log_batch_records(batch);
    for (int64_t i = 0; i < size; ++i) {
      const char* text = NULL;
      CHECK_OK(cairn_log_batch_text(batch, "host", i, &text, &st));
      CHECK(strcmp(text, numbers[i] < kVisits ? kHosts[numbers[i] % 3] : "") == 0);
    }
    count += size;
    cairn_log_batch_free(batch);
  }
  CHECK(st.code == CAIRN_OK);
  cairn_log_cursor_free(cursor);
  return count;
}

static void texts_are_stored_once_and_read_back(void) {
  const char* text = NULL;
  uint32_t code = 9;
  cairn_log_field field = {.struct_size = sizeof field};
  cairn_log_query_options options = CAIRN_LOG_QUERY_OPTIONS_INIT;
  cairn_log_cursor* cursor = NULL;
  cairn_log_batch* batch = NULL;
  cairn_log_writer* writer = NULL;
  cairn_log* log = make_visits("texts.b2frame");
  cairn_log_snapshot* snapshot = state_of(log);
  CHECK_OK(cairn_log_snapshot_get_field(snapshot, 1, &field, &st));
  CHECK(field.type == CAIRN_LOG_FIELD_TEXT && field.size == 4);
  CHECK_OK(cairn_log_snapshot_text(snapshot, "host", 2, &text, &st));
  CHECK(strcmp(text, kHosts[1]) == 0);
  CHECK_OK(cairn_log_snapshot_text(snapshot, "host", 0, &text, &st));
  CHECK(strcmp(text, "") == 0);
  CHECK_CODE(CAIRN_OUT_OF_RANGE, cairn_log_snapshot_text(snapshot, "host", 4, &text, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_log_snapshot_text(snapshot, "load", 0, &text, &st));
  CHECK_CODE(CAIRN_NOT_FOUND, cairn_log_snapshot_text(snapshot, "room", 0, &text, &st));
  CHECK(count_visits(log, "host = 'gamma'") == kVisits / 3);

  CHECK_OK(cairn_log_snapshot_query(snapshot, &options, &cursor, &st));
  CHECK_OK(cairn_log_cursor_next(cursor, &batch, &st));
  CHECK_CODE(CAIRN_OUT_OF_RANGE, cairn_log_batch_text(batch, "host", kVisits, &text, &st));
  CHECK_CODE(CAIRN_OUT_OF_RANGE, cairn_log_batch_text(batch, "host", -1, &text, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_log_batch_text(batch, "load", 0, &text, &st));
  CHECK_CODE(CAIRN_NOT_FOUND, cairn_log_batch_text(batch, "room", 0, &text, &st));
  cairn_log_batch_free(batch);
  cairn_log_cursor_free(cursor);

  CHECK_OK(cairn_log_open_writer(log, NULL, &writer, &st));
  CHECK_OK(cairn_log_writer_code_of(writer, "host", "", &code, &st));
  CHECK(code == 0);
  CHECK_CODE(CAIRN_NOT_FOUND, cairn_log_writer_code_of(writer, "room", "x", &code, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_log_writer_code_of(writer, "load", "x", &code, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_log_writer_code_of(writer, "host", "\xff", &code, &st));
  CHECK(code == 0);
  cairn_log_writer_free(writer);
  cairn_log_snapshot_free(snapshot);
  cairn_log_free(log);
}

static void fields_of_texts_must_be_codes(void) {
  const char* const wrong[] = {"load"};
  const char* const unknown[] = {"room"};
  cairn_log_create_options options = CAIRN_LOG_CREATE_OPTIONS_INIT;
  cairn_log* log = NULL;
  remove("wrong.b2frame");
  options.texts = wrong;
  options.ntexts = 1;
  CHECK_CODE(CAIRN_INVALID_ARGUMENT,
             cairn_log_create("wrong.b2frame", kVisit, &options, &log, &st));
  CHECK_MESSAGE("load");
  options.texts = unknown;
  CHECK_CODE(CAIRN_INVALID_ARGUMENT,
             cairn_log_create("wrong.b2frame", kVisit, &options, &log, &st));
  options.texts = NULL;
  CHECK_CODE(CAIRN_INVALID_ARGUMENT,
             cairn_log_create("wrong.b2frame", kVisit, &options, &log, &st));
  CHECK(log == NULL);
}

static void program_of_before_texts_makes_a_log_without_them(void) {
  cairn_log_field field = {.struct_size = sizeof field};
  cairn_log_create_options options = CAIRN_LOG_CREATE_OPTIONS_INIT;
  cairn_log_snapshot* snapshot = NULL;
  cairn_log* log = NULL;
  remove("before.b2frame");
  options.struct_size = offsetof(cairn_log_create_options, texts);
  options.ntexts = 99;
  CHECK_OK(cairn_log_create("before.b2frame", kVisit, &options, &log, &st));
  snapshot = state_of(log);
  CHECK_OK(cairn_log_snapshot_get_field(snapshot, 1, &field, &st));
  CHECK(field.type == CAIRN_LOG_FIELD_UINT);
  cairn_log_snapshot_free(snapshot);
  cairn_log_free(log);
}

static void chosen_records_are_deleted(void) {
  const char* const filters[] = {"host = 'alpha'", "load < 30"};
  const char* const broken[] = {"load >"};
  cairn_log_selection which = CAIRN_LOG_SELECTION_INIT;
  cairn_log_info info = {.struct_size = sizeof info};
  int64_t deleted = -1;
  cairn_log_writer* writer = NULL;
  cairn_log_snapshot* snapshot = NULL;
  cairn_log* log = make_visits("deleted.b2frame");
  which.begin = 6;
  which.filters = filters;
  which.nfilters = 2;
  CHECK_OK(cairn_log_delete(log, &which, 0, &deleted, &st));
  CHECK(deleted == 8);
  CHECK(count_visits(log, "host = 'alpha'") == kVisits / 3 - 8);

  CHECK_OK(cairn_log_open_writer(log, NULL, &writer, &st));
  which.filters = NULL;
  which.nfilters = 0;
  which.end = 12;
  CHECK_OK(cairn_log_writer_delete(writer, &which, &deleted, &st));
  CHECK(deleted == 4);
  CHECK(count_visits(log, "load >= 0") == kVisits - 12);
  which.filters = broken;
  which.nfilters = 1;
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_log_writer_delete(writer, &which, &deleted, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_log_delete(log, &which, 0, &deleted, &st));
  which.struct_size = 1;
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_log_writer_delete(writer, &which, &deleted, &st));
  CHECK(deleted == 4);
  snapshot = state_of(log);
  CHECK_OK(cairn_log_snapshot_info(snapshot, &info, &st));
  CHECK(info.end_record == kVisits);
  cairn_log_snapshot_free(snapshot);
  cairn_log_writer_free(writer);
  cairn_log_free(log);
}

static void writer_that_runs_carries_a_delete_out(void) {
  cairn_log_selection which = CAIRN_LOG_SELECTION_INIT;
  int64_t deleted = -1;
  cairn_log_writer* writer = NULL;
  cairn_log* other = NULL;
  cairn_log* log = make_visits("asked.b2frame");
  CHECK_OK(cairn_log_open_writer(log, NULL, &writer, &st));
  CHECK_OK(cairn_log_open("asked.b2frame", NULL, NULL, &other, &st));
  which.end = 10;
  CHECK_CODE(CAIRN_UNAVAILABLE, cairn_log_delete(other, &which, 1, &deleted, &st));
  CHECK(deleted == -1);
  CHECK(count_visits(other, "load >= 0") == kVisits);
  CHECK_OK(cairn_log_writer_commit(writer, &st));
  CHECK(count_visits(other, "load >= 0") == kVisits - 10);
  cairn_log_free(other);
  cairn_log_writer_free(writer);
  cairn_log_free(log);
}

static void added_field_has_values_from_then_on(void) {
  const struct {
    visit before;
    double area;
  } longer = {{kVisits, 0, 1}, 2.5};
  double areas[2] = {0, 0};
  int64_t number = -1;
  cairn_log_info info = {.struct_size = sizeof info};
  cairn_log_writer* writer = NULL;
  cairn_log_snapshot* snapshot = NULL;
  cairn_log* log = make_visits("added.b2frame");
  CHECK_OK(cairn_log_open_writer(log, NULL, &writer, &st));
  CHECK_OK(cairn_log_writer_add_field(writer, "area:f8", &st));
  CHECK_CODE(CAIRN_ALREADY_EXISTS, cairn_log_writer_add_field(writer, "area:f8", &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_log_writer_add_field(writer, "volume", &st));
  CHECK_CODE(CAIRN_UNIMPLEMENTED, cairn_log_writer_add_field(writer, "volume:c16", &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT,
             cairn_log_writer_append(writer, &longer.before, sizeof longer.before, &st));
  CHECK_OK(cairn_log_writer_append(writer, &longer, sizeof longer, &st));
  CHECK_OK(cairn_log_writer_close(writer, &st));
  cairn_log_writer_free(writer);
  snapshot = state_of(log);
  CHECK_OK(cairn_log_snapshot_info(snapshot, &info, &st));
  CHECK(info.nfields == 4 && info.record_size == sizeof longer);
  CHECK_OK(cairn_log_snapshot_first_with_value(snapshot, "area", &number, &st));
  CHECK(number == kVisits);
  CHECK_OK(cairn_log_snapshot_first_with_value(snapshot, "load", &number, &st));
  CHECK(number == 0);
  CHECK_CODE(CAIRN_NOT_FOUND, cairn_log_snapshot_first_with_value(snapshot, "x", &number, &st));
  CHECK_OK(cairn_log_snapshot_read_column(snapshot, "area", kVisits - 1, areas, sizeof areas, &st));
  CHECK(areas[0] != areas[0] && areas[1] == 2.5);
  CHECK(count_visits(log, "area > 0") == 1);
  cairn_log_snapshot_free(snapshot);
  cairn_log_free(log);
}

static void edits_without_handles_are_refused(void) {
  const cairn_log_selection which = CAIRN_LOG_SELECTION_INIT;
  const char* text = NULL;
  int64_t number = 0;
  uint32_t code = 0;
  cairn_log_writer* writer = NULL;
  cairn_log* log = make_visits("refused.b2frame");
  cairn_log_snapshot* now = state_of(log);
  CHECK_OK(cairn_log_open_writer(log, NULL, &writer, &st));
#define REFUSED(call) CHECK_CODE(CAIRN_INVALID_ARGUMENT, call)
  REFUSED(cairn_log_delete(NULL, &which, 0, &number, &st));
  REFUSED(cairn_log_delete(log, NULL, 0, &number, &st));
  REFUSED(cairn_log_delete(log, &which, 0, NULL, &st));
  REFUSED(cairn_log_snapshot_first_with_value(NULL, "host", &number, &st));
  REFUSED(cairn_log_snapshot_first_with_value(now, NULL, &number, &st));
  REFUSED(cairn_log_snapshot_first_with_value(now, "host", NULL, &st));
  REFUSED(cairn_log_snapshot_text(NULL, "host", 0, &text, &st));
  REFUSED(cairn_log_snapshot_text(now, NULL, 0, &text, &st));
  REFUSED(cairn_log_snapshot_text(now, "host", 0, NULL, &st));
  REFUSED(cairn_log_batch_text(NULL, "host", 0, &text, &st));
  REFUSED(cairn_log_writer_code_of(NULL, "host", "x", &code, &st));
  REFUSED(cairn_log_writer_code_of(writer, NULL, "x", &code, &st));
  REFUSED(cairn_log_writer_code_of(writer, "host", NULL, &code, &st));
  REFUSED(cairn_log_writer_code_of(writer, "host", "x", NULL, &st));
  REFUSED(cairn_log_writer_delete(NULL, &which, &number, &st));
  REFUSED(cairn_log_writer_delete(writer, NULL, &number, &st));
  REFUSED(cairn_log_writer_delete(writer, &which, NULL, &st));
  REFUSED(cairn_log_writer_add_field(NULL, "x:f4", &st));
  REFUSED(cairn_log_writer_add_field(writer, NULL, &st));
#undef REFUSED
  CHECK(count_visits(log, "load >= 0") == kVisits);
  cairn_log_snapshot_free(now);
  cairn_log_writer_free(writer);
  cairn_log_free(log);
}

const test_case log_edit_tests[] = {
    TEST_CASE(texts_are_stored_once_and_read_back),
    TEST_CASE(fields_of_texts_must_be_codes),
    TEST_CASE(program_of_before_texts_makes_a_log_without_them),
    TEST_CASE(chosen_records_are_deleted),
    TEST_CASE(writer_that_runs_carries_a_delete_out),
    TEST_CASE(added_field_has_values_from_then_on),
    TEST_CASE(edits_without_handles_are_refused),
    {NULL, NULL},
};
