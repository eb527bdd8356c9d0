// N-dimensional arrays.
#include <string.h>

#include "tests/c_api/check.h"

static opened make_array(void) {
  cairn_compression_options compression = CAIRN_COMPRESSION_OPTIONS_INIT;
  cairn_array_info array = {.struct_size = sizeof array};
  cairn_create_options options = CAIRN_CREATE_OPTIONS_INIT;
  opened made = {NULL, NULL, NULL};
  compression.typesize = 4;
  array.ndim = 2;
  array.shape[0] = 10;
  array.shape[1] = 20;
  array.chunkshape[0] = 4;
  array.chunkshape[1] = 5;
  array.dtype = "<i4";
  options.compression = &compression;
  options.array = &array;
  CHECK_OK(cairn_frame_create_in_memory(&options, &made.frame, &st));
  open_writer(&made, NULL);
  return made;
}

static void box_reads_back(void) {
  const int64_t start[] = {3, 4}, shape[] = {2, 3};
  const int32_t items[] = {1, 2, 3, 4, 5, 6};
  int32_t read[6] = {0};
  opened one = make_array();
  CHECK_OK(cairn_writer_write_box(one.writer, start, shape, 2, items, sizeof items, &st));
  commit(&one);
  CHECK_OK(cairn_snapshot_read_box(one.now, start, shape, 2, read, sizeof read, &st));
  CHECK(memcmp(read, items, sizeof items) == 0);
  CHECK_CODE(CAIRN_INVALID_ARGUMENT,
             cairn_snapshot_read_box(one.now, start, shape, 1, read, sizeof read, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT,
             cairn_snapshot_read_box(one.now, start, shape, -1, read, sizeof read, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT,
             cairn_snapshot_read_box(one.now, start, shape, 2, read, 4, &st));
  free_opened(&one);
}

static void items_are_numbered_in_c_order(void) {
  enum { kRows = 10, kColumns = 20 };
  const int64_t start[] = {0, 0}, shape[] = {kRows, kColumns}, wanted[] = {199, 0, 85, 85};
  int32_t items[kRows * kColumns], read[90], at[4], column[90];
  const cairn_field field = {.offset = 0, .size = sizeof(int32_t), .dst = column};
  opened one = make_array();
  for (int32_t i = 0; i < kRows * kColumns; ++i) items[i] = i;
  CHECK_OK(cairn_writer_write_box(one.writer, start, shape, 2, items, sizeof items, &st));
  commit(&one);
  CHECK(info_of(one.now).nitems == kRows * kColumns);
  CHECK_OK(cairn_snapshot_read_items(one.now, 77, read, sizeof read, &st));
  CHECK(memcmp(read, items + 77, sizeof read) == 0);
  CHECK_OK(cairn_snapshot_read_items_at(one.now, wanted, 4, at, sizeof at, &st));
  CHECK(at[0] == 199 && at[1] == 0 && at[2] == 85 && at[3] == 85);
  CHECK_OK(cairn_snapshot_read_fields(one.now, 77, 90, &field, 1, &st));
  CHECK(memcmp(column, items + 77, sizeof column) == 0);
  CHECK_CODE(CAIRN_OUT_OF_RANGE, cairn_snapshot_read_items(one.now, 200, at, 4, &st));
  free_opened(&one);
}

static void shape_is_described(void) {
  cairn_array_info array = {.struct_size = sizeof array};
  opened one = make_array();
  refresh(&one);
  CHECK_OK(cairn_snapshot_array(one.now, &array, &st));
  CHECK(array.ndim == 2 && array.shape[0] == 10 && array.shape[1] == 20);
  CHECK(array.chunkshape[0] == 4 && array.chunkshape[1] == 5 && array.blockshape[0] > 0);
  CHECK(strcmp(array.dtype, "<i4") == 0);
  free_opened(&one);
}

static void chosen_blocks_are_kept(void) {
  cairn_array_info array = {.struct_size = sizeof array,
                            .ndim = 2,
                            .shape = {10, 20},
                            .chunkshape = {4, 10},
                            .blockshape = {2, 5},
                            .dtype = "|u1"};
  cairn_array_info made = {.struct_size = sizeof made};
  cairn_create_options options = CAIRN_CREATE_OPTIONS_INIT;
  cairn_frame* frame = NULL;
  cairn_snapshot* snapshot = NULL;
  options.array = &array;
  CHECK_OK(cairn_frame_create_in_memory(&options, &frame, &st));
  snapshot = snapshot_of(frame);
  CHECK_OK(cairn_snapshot_array(snapshot, &made, &st));
  CHECK(made.blockshape[0] == 2 && made.blockshape[1] == 5 && made.blockshape[2] == 0);
  cairn_snapshot_free(snapshot);
  cairn_frame_free(frame);
  array.blockshape[1] = -1;
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_frame_create_in_memory(&options, &frame, &st));
}

static void array_grows_and_shrinks(void) {
  const int64_t smaller[] = {8, 4};
  const int32_t rows[2 * 4] = {1, 2, 3, 4, 5, 6, 7, 8};
  const int64_t start[] = {8, 0}, shape[] = {2, 4};
  int32_t read[8] = {0};
  opened one = make_array();
  CHECK_OK(cairn_writer_resize_array(one.writer, smaller, 2, &st));
  CHECK_OK(cairn_writer_append_slices(one.writer, 0, rows, sizeof rows, &st));
  CHECK_OK(cairn_writer_staged_snapshot(one.writer, &one.now, &st));
  CHECK_OK(cairn_snapshot_read_box(one.now, start, shape, 2, read, sizeof read, &st));
  CHECK(memcmp(read, rows, sizeof rows) == 0);
  CHECK_CODE(CAIRN_OUT_OF_RANGE, cairn_writer_append_slices(one.writer, 2, rows, sizeof rows, &st));
  CHECK_CODE(CAIRN_FAILED_PRECONDITION, cairn_writer_append(one.writer, rows, sizeof rows, &st));
  free_opened(&one);
}

static void array_loses_whole_chunks(void) {
  const int64_t before[] = {4, 0}, after[] = {0, 0}, shape[] = {2, 4};
  const int32_t rows[2 * 4] = {1, 2, 3, 4, 5, 6, 7, 8};
  int32_t read[8] = {0};
  opened one = make_array();
  CHECK_OK(cairn_writer_write_box(one.writer, before, shape, 2, rows, sizeof rows, &st));
  CHECK_CODE(CAIRN_OUT_OF_RANGE, cairn_writer_delete_slices(one.writer, 2, 0, 4, &st));
  CHECK_CODE(CAIRN_OUT_OF_RANGE, cairn_writer_delete_slices(one.writer, 0, 8, 4, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_writer_delete_slices(one.writer, 0, 0, 3, &st));
  CHECK_OK(cairn_writer_delete_slices(one.writer, 0, 0, 4, &st));
  CHECK_OK(cairn_writer_staged_snapshot(one.writer, &one.now, &st));
  CHECK_OK(cairn_snapshot_read_box(one.now, after, shape, 2, read, sizeof read, &st));
  CHECK(memcmp(read, rows, sizeof rows) == 0);
  free_opened(&one);
}

static void frame_without_shape_is_no_array(void) {
  cairn_array_info array = {.struct_size = sizeof array};
  cairn_snapshot* snapshot = make_and_read("plain.b2frame", 10, 10);
  CHECK_CODE(CAIRN_FAILED_PRECONDITION, cairn_snapshot_array(snapshot, &array, &st));
  cairn_snapshot_free(snapshot);
}

static void too_many_dimensions_are_refused(void) {
  const int32_t bad[] = {-1, CAIRN_MAX_NDIM + 1, INT32_MAX};
  cairn_array_info array = {.struct_size = sizeof array};
  cairn_create_options options = CAIRN_CREATE_OPTIONS_INIT;
  cairn_frame* frame = NULL;
  options.array = &array;
  for (int i = 0; i < 3; ++i) {
    array.ndim = bad[i];
    CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_frame_create_in_memory(&options, &frame, &st));
    CHECK_MESSAGE("dimensions");
  }
}

const test_case array_tests[] = {
    TEST_CASE(box_reads_back),
    TEST_CASE(items_are_numbered_in_c_order),
    TEST_CASE(shape_is_described),
    TEST_CASE(chosen_blocks_are_kept),
    TEST_CASE(array_grows_and_shrinks),
    TEST_CASE(array_loses_whole_chunks),
    TEST_CASE(frame_without_shape_is_no_array),
    TEST_CASE(too_many_dimensions_are_refused),
    {NULL, NULL},
};
