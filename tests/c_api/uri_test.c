// Frames at URIs. A web server serves the working directory at CAIRN_TEST_HTTP_URL, and
// CAIRN_TEST_S3_BUCKET names a bucket of the store of the environment, if there is one.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cairn/cairn_s3.h"
#include "tests/c_api/check.h"

typedef struct uri {
  char text[256];
} uri;

static uri uri_of(const char* place, const char* name) {
  uri made;
  snprintf(made.text, sizeof made.text, "%s/%s", place, name);
  return made;
}

static uri http_uri(const char* name) {
  const char* server = getenv("CAIRN_TEST_HTTP_URL");
  CHECK(server != NULL);
  return uri_of(server != NULL ? server : "http://127.0.0.1:1", name);
}

static cairn_files* open_files(void) {
  cairn_files* files = NULL;
  CHECK_OK(cairn_uri_files_open(&files, &st));
  return files;
}

static opened open_at(const cairn_files* files, const char* path) {
  cairn_open_options options = CAIRN_OPEN_OPTIONS_INIT;
  opened made = {NULL, NULL, NULL};
  options.files = files;
  CHECK_OK(cairn_frame_open(path, &options, &made.frame, &st));
  return made;
}

static void frame_of_a_web_server_is_read(void) {
  cairn_files* files = open_files();
  opened one = {NULL, NULL, NULL};
  make_frame("served.b2frame", 2500, 1000);
  one = open_at(files, http_uri("served.b2frame").text);
  refresh(&one);
  CHECK(info_of(one.now).nitems == 2500);
  CHECK(item_of(one.now, 0) == 0 && item_of(one.now, 2499) == 2499);
  free_opened(&one);
  cairn_files_free(files);
}

static void frame_of_a_web_server_is_not_written(void) {
  cairn_create_options options = CAIRN_CREATE_OPTIONS_INIT;
  cairn_files* files = open_files();
  cairn_frame* frame = NULL;
  opened one = {NULL, NULL, NULL};
  make_frame("unwritten.b2frame", 10, 10);
  one = open_at(files, http_uri("unwritten.b2frame").text);
  CHECK(cairn_frame_open_writer(one.frame, NULL, &one.writer, &st) != CAIRN_OK);
  CHECK(one.writer == NULL);
  free_opened(&one);
  options.files = files;
  CHECK(cairn_frame_create(http_uri("new.b2frame").text, &options, &frame, &st) != CAIRN_OK);
  CHECK(frame == NULL);
  cairn_files_free(files);
}

static void file_that_the_server_has_not_is_not_found(void) {
  cairn_open_options options = CAIRN_OPEN_OPTIONS_INIT;
  cairn_files* files = open_files();
  cairn_frame* frame = NULL;
  options.files = files;
  CHECK_CODE(CAIRN_NOT_FOUND,
             cairn_frame_open(http_uri("nowhere.b2frame").text, &options, &frame, &st));
  CHECK_MESSAGE("nowhere.b2frame");
  cairn_files_free(files);
}

static void paths_lead_to_files_beside_uris(void) {
  cairn_create_options options = CAIRN_CREATE_OPTIONS_INIT;
  cairn_files* files = open_files();
  cairn_frame* frame = NULL;
  cairn_snapshot* snapshot = NULL;
  options.files = files;
  CHECK_OK(cairn_frame_create("local.b2frame", &options, &frame, &st));
  cairn_frame_free(frame);
  snapshot = read_back("local.b2frame");
  CHECK(info_of(snapshot).nitems == 0);
  cairn_snapshot_free(snapshot);
  cairn_files_free(files);
}

static void copies_and_repairs_go_where_their_files_lead(void) {
  cairn_copy_options copy = CAIRN_COPY_OPTIONS_INIT;
  cairn_recover_options recover = CAIRN_RECOVER_OPTIONS_INIT;
  cairn_recovery_report report = {.struct_size = sizeof report};
  cairn_files* files = open_files();
  opened data = make_and_open("repaired.b2frame", 10, 10);
  copy.files = files;
  copy.overwrite = true;
  refresh(&data);
  CHECK_CODE(CAIRN_UNIMPLEMENTED,
             cairn_snapshot_copy_to(data.now, http_uri("copy.b2frame").text, &copy, &st));
  CHECK_MESSAGE("object store");
  CHECK_OK(cairn_snapshot_copy_to(data.now, "copied.b2frame", &copy, &st));
  cairn_snapshot_free(read_back("copied.b2frame"));
  free_opened(&data);
  recover.dry_run = true;
  CHECK_CODE(CAIRN_NOT_FOUND,
             cairn_recover(http_uri("repaired.b2frame").text, &recover, &report, &st));
  recover.files = files;
  CHECK_OK(cairn_recover(http_uri("repaired.b2frame").text, &recover, &report, &st));
  CHECK(report.commits == 0 && report.size_before > 0);
  cairn_files_free(files);
}

static void what_is_opened_outlives_its_files(void) {
  cairn_files* files = open_files();
  cairn_snapshot* snapshot = NULL;
  opened one = {NULL, NULL, NULL};
  make_frame("outlives.b2frame", 5000, 100);
  one = open_at(files, http_uri("outlives.b2frame").text);
  cairn_files_free(files);
  snapshot = snapshot_of(one.frame);
  free_opened(&one);
  CHECK(item_of(snapshot, 4321) == 4321);
  cairn_snapshot_free(snapshot);
}

static void files_need_a_place_to_go(void) {
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_uri_files_open(NULL, &st));
  CHECK_MESSAGE("files is NULL");
  cairn_files_free(NULL);
}

static void frame_of_a_bucket_is_made_changed_and_read(void) {
  const char* bucket = getenv("CAIRN_TEST_S3_BUCKET");
  const int32_t items[] = {10, 11, 12, 13};
  cairn_compression_options compression = CAIRN_COMPRESSION_OPTIONS_INIT;
  cairn_create_options options = CAIRN_CREATE_OPTIONS_INIT;
  cairn_files* files = NULL;
  cairn_frame* frame = NULL;
  cairn_writer* writer = NULL;
  opened one = {NULL, NULL, NULL};
  char name[64];
  uri place;
  if (bucket == NULL) {
    skip("CAIRN_TEST_S3_BUCKET names no bucket");
    return;
  }
  snprintf(name, sizeof name, "%s/c_api_uri_test/%lld", bucket, (long long)time(NULL));
  place = uri_of("s3:/", name);
  files = open_files();
  compression.typesize = sizeof *items;
  options.compression = &compression;
  options.files = files;
  options.overwrite = true;
  CHECK_OK(cairn_frame_build(place.text, &options, &writer, &st));
  CHECK_OK(cairn_writer_append(writer, items, 2 * sizeof *items, &st));
  CHECK_OK(cairn_writer_close(writer, &st));
  cairn_writer_free(writer);
  one = open_at(files, place.text);
  open_writer(&one, NULL);
  CHECK_OK(cairn_writer_append(one.writer, items + 2, 2 * sizeof *items, &st));
  CHECK_OK(cairn_writer_commit(one.writer, CAIRN_DURABILITY_MACHINE, NULL, &st));
  close_writer(&one);
  refresh(&one);
  CHECK(info_of(one.now).nitems == 4);
  CHECK(item_of(one.now, 1) == 11 && item_of(one.now, 3) == 13);
  free_opened(&one);
  options.overwrite = false;
  CHECK_CODE(CAIRN_ALREADY_EXISTS, cairn_frame_create(place.text, &options, &frame, &st));
  cairn_files_free(files);
}

static const test_case uri_tests[] = {
    TEST_CASE(frame_of_a_web_server_is_read),
    TEST_CASE(frame_of_a_web_server_is_not_written),
    TEST_CASE(file_that_the_server_has_not_is_not_found),
    TEST_CASE(paths_lead_to_files_beside_uris),
    TEST_CASE(copies_and_repairs_go_where_their_files_lead),
    TEST_CASE(what_is_opened_outlives_its_files),
    TEST_CASE(files_need_a_place_to_go),
    TEST_CASE(frame_of_a_bucket_is_made_changed_and_read),
    {NULL, NULL},
};

const test_suite suites[] = {uri_tests, NULL};
