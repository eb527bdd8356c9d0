// Codes, messages and structs of other sizes.
#include <stdio.h>
#include <string.h>

#include "tests/c_api/check.h"

static void success_leaves_the_status_empty(void) {
  cairn_frame* frame = NULL;
  memset(&st, 'x', sizeof st);
  CHECK_OK(cairn_frame_create_in_memory(NULL, &frame, &st));
  CHECK(st.message[0] == '\0' && st.section[0] == '\0' && st.nnumbers == 0 && st.numbers[0] == 0);
  cairn_frame_free(frame);
}

static void error_has_its_section_and_numbers_as_values(void) {
  int32_t items[10];
  cairn_snapshot* snapshot = make_and_read("details.b2frame", 100, 10);
  CHECK_CODE(CAIRN_OUT_OF_RANGE, cairn_snapshot_read_chunk(snapshot, 12, items, sizeof items, &st));
  CHECK(strcmp(st.section, "chunk") == 0);
  CHECK(st.nnumbers == 2 && st.numbers[0] == 12 && st.numbers[1] == 10);
  cairn_snapshot_free(snapshot);
}

static void error_that_names_no_section_has_none(void) {
  cairn_frame* frame = NULL;
  CHECK_CODE(CAIRN_NOT_FOUND, cairn_frame_open("no", NULL, &frame, &st));
  CHECK(st.section[0] == '\0' && st.nnumbers == 0);
}

static void damage_names_its_chunk_as_a_value(void) {
  cairn_chunk_entry entry = {.struct_size = sizeof entry};
  int32_t items[10];
  cairn_snapshot* snapshot = make_and_read("damaged.b2frame", 100, 10);
  CHECK_OK(cairn_snapshot_get_entry(snapshot, 7, &entry, &st));
  cairn_snapshot_free(snapshot);
  flip_byte("damaged.b2frame", entry.offset + 40);
  snapshot = read_back("damaged.b2frame");
  CHECK_CODE(CAIRN_DATA_LOSS, cairn_snapshot_read_chunk(snapshot, 7, items, sizeof items, &st));
  CHECK(strcmp(st.section, "chunk") == 0);
  CHECK(st.nnumbers == 4 && st.numbers[0] == 7 && st.numbers[1] == entry.offset);
  cairn_snapshot_free(snapshot);
}

static void failure_names_the_file_and_returns_its_code(void) {
  cairn_frame* frame = (cairn_frame*)&st;
  CHECK_CODE(CAIRN_NOT_FOUND, cairn_frame_open("no/such/frame", NULL, &frame, &st));
  CHECK_MESSAGE("no/such/frame");
  CHECK(frame == NULL);
}

static void status_may_be_null(void) {
  cairn_frame* frame = NULL;
  CHECK(cairn_frame_open("no/such/frame", NULL, &frame, NULL) == CAIRN_NOT_FOUND);
  CHECK(cairn_frame_create_in_memory(NULL, &frame, NULL) == CAIRN_OK);
  cairn_frame_free(frame);
}

static void long_messages_are_cut_between_characters(void) {
  // Directories of 100 two-byte characters each; a shift by one byte cuts in either half of one.
  for (int shift = 0; shift < 2; ++shift) {
    char path[2000];
    cairn_frame* frame = NULL;
    size_t size = 0, length = 0;
    for (; size < (size_t)shift; ++size) path[size] = 'a';
    while (size < 1600) {
      for (int i = 0; i < 100; ++i) {
        path[size++] = '\xC3';
        path[size++] = '\xA9';
      }
      path[size++] = '/';
      path[size++] = '/';
    }
    path[size] = '\0';
    CHECK_CODE(CAIRN_NOT_FOUND, cairn_frame_open(path, NULL, &frame, &st));
    length = strlen(st.message);
    CHECK(length >= CAIRN_MESSAGE_SIZE - 4 && length < CAIRN_MESSAGE_SIZE);
    CHECK(strcmp(st.message + length - 3, "...") == 0);
    CHECK(st.message[length - 4] == '\xA9' || st.message[length - 4] == '/');
  }
}

static void codes_have_names(void) {
  CHECK(strcmp(cairn_code_name(CAIRN_OK), "OK") == 0);
  CHECK(strcmp(cairn_code_name(CAIRN_DATA_LOSS), "DATA_LOSS") == 0);
  CHECK(strcmp(cairn_code_name(-1), "UNKNOWN") == 0);
}

static void library_and_header_have_the_same_version(void) {
  char version[40];
  snprintf(version, sizeof version, "%d.%d.%d", CAIRN_VERSION_MAJOR, CAIRN_VERSION_MINOR,
           CAIRN_VERSION_PATCH);
  CHECK(strcmp(cairn_version(), version) == 0);
}

static void null_arguments_are_refused_by_name(void) {
  cairn_frame* frame = NULL;
  int32_t item = 0;
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_frame_open(NULL, NULL, &frame, &st));
  CHECK_MESSAGE("path is NULL");
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_frame_open("f", NULL, NULL, &st));
  CHECK_MESSAGE("frame is NULL");
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_snapshot_read_items(NULL, 0, &item, sizeof item, &st));
  CHECK_MESSAGE("snapshot is NULL");
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_writer_append(NULL, &item, sizeof item, &st));
  CHECK_MESSAGE("writer is NULL");
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_snapshot_info(NULL, NULL, &st));
}

static void null_data_is_refused_where_there_is_a_size(void) {
  cairn_snapshot* snapshot = make_and_read("null.b2frame", 100, 10);
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_snapshot_read_items(snapshot, 0, NULL, 4, &st));
  CHECK_MESSAGE("dst is NULL");
  CHECK_OK(cairn_snapshot_read_items(snapshot, 0, NULL, 0, &st));
  cairn_snapshot_free(snapshot);
}

static void freeing_null_does_nothing(void) {
  cairn_frame_free(NULL);
  cairn_snapshot_free(NULL);
  cairn_writer_free(NULL);
  cairn_bytes_free(NULL);
  cairn_executor_free(NULL);
  cairn_registry_free(NULL);
  cairn_compressor_free(NULL);
  cairn_decompressor_free(NULL);
  CHECK(cairn_bytes_data(NULL) == NULL && cairn_bytes_size(NULL) == 0);
}

static void options_of_an_unknown_size_are_refused(void) {
  cairn_open_options options = CAIRN_OPEN_OPTIONS_INIT;
  cairn_frame* frame = NULL;
  const size_t sizes[] = {0, 1, sizeof(size_t), sizeof options - 1, sizeof options + 8, SIZE_MAX};
  make_frame("sizes.b2frame", 100, 10);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    options.struct_size = sizes[i];
    CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_frame_open("sizes.b2frame", &options, &frame, &st));
    CHECK_MESSAGE("open options: struct_size");
  }
}

static void outputs_of_an_unknown_size_are_left_alone(void) {
  cairn_frame_info info;
  cairn_frame_info before;
  cairn_snapshot* snapshot = make_and_read("sizes.b2frame", 100, 10);
  memset(&info, 7, sizeof info);
  info.struct_size = sizeof info + 8;
  before = info;
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_snapshot_info(snapshot, &info, &st));
  CHECK(memcmp(&info, &before, sizeof info) == 0);
  cairn_snapshot_free(snapshot);
}

static void reports_of_an_unknown_size_stop_a_call_before_it_does_anything(void) {
  cairn_frame* frame = make_and_open("sizes.b2frame", 100, 10).frame;
  cairn_compact_report report = {.struct_size = 3};
  cairn_snapshot* before = NULL;
  cairn_snapshot* after = NULL;
  before = snapshot_of(frame);
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_frame_compact(frame, NULL, &report, &st));
  after = snapshot_of(frame);
  CHECK(cairn_snapshot_equal(before, after));
  cairn_snapshot_free(before);
  cairn_snapshot_free(after);
  cairn_frame_free(frame);
}

// A change of one of these breaks every program that was compiled before; see versioned_struct.h.
static void structs_keep_their_layout(void) {
  if (sizeof(void*) != 8) return;
  CHECK(sizeof(cairn_status) == 1024);
  CHECK(sizeof(cairn_filter_stage) == 8);
  CHECK(sizeof(cairn_metalayer) == 24);
  CHECK(sizeof(cairn_span) == 16);
  CHECK(sizeof(cairn_plugin_call) == 40);
  CHECK(sizeof(cairn_codec_plugin) == 32);
  CHECK(sizeof(cairn_filter_plugin) == 32);
  CHECK(sizeof(cairn_compression_options) == 128);
  CHECK(sizeof(cairn_decompression_options) == 40);
  CHECK(sizeof(cairn_chunk_info) == 104);
  CHECK(sizeof(cairn_open_options) == 104);
  CHECK(sizeof(cairn_array_info) == 288);
  CHECK(sizeof(cairn_create_options) == 64);
  CHECK(sizeof(cairn_generation_info) == 48);
  CHECK(sizeof(cairn_history_options) == 24);
  CHECK(sizeof(cairn_generation_holder) == 32);
  CHECK(sizeof(cairn_compact_options) == 40);
  CHECK(sizeof(cairn_compact_report) == 24);
  CHECK(sizeof(cairn_copy_options) == 48);
  CHECK(sizeof(cairn_frame_info) == 208);
  CHECK(sizeof(cairn_chunk_entry) == 56);
  CHECK(sizeof(cairn_finding) == 40);
  CHECK(sizeof(cairn_verify_options) == 48);
  CHECK(sizeof(cairn_verify_report) == 40);
  CHECK(sizeof(cairn_increment_info) == 40);
  CHECK(sizeof(cairn_writer_options) == 80);
  CHECK(sizeof(cairn_reclaim_options) == 32);
  CHECK(sizeof(cairn_reclaim_report) == 32);
  CHECK(sizeof(cairn_recover_options) == 24);
  CHECK(sizeof(cairn_recovery_report) == 80);
  CHECK(sizeof(cairn_salvage_options) == 40);
  CHECK(sizeof(cairn_salvage_report) == 32);
}

const test_case status_tests[] = {
    TEST_CASE(success_leaves_the_status_empty),
    TEST_CASE(error_has_its_section_and_numbers_as_values),
    TEST_CASE(error_that_names_no_section_has_none),
    TEST_CASE(damage_names_its_chunk_as_a_value),
    TEST_CASE(failure_names_the_file_and_returns_its_code),
    TEST_CASE(status_may_be_null),
    TEST_CASE(long_messages_are_cut_between_characters),
    TEST_CASE(codes_have_names),
    TEST_CASE(library_and_header_have_the_same_version),
    TEST_CASE(null_arguments_are_refused_by_name),
    TEST_CASE(null_data_is_refused_where_there_is_a_size),
    TEST_CASE(freeing_null_does_nothing),
    TEST_CASE(options_of_an_unknown_size_are_refused),
    TEST_CASE(outputs_of_an_unknown_size_are_left_alone),
    TEST_CASE(reports_of_an_unknown_size_stop_a_call_before_it_does_anything),
    TEST_CASE(structs_keep_their_layout),
    {NULL, NULL},
};
