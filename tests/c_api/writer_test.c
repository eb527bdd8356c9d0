// Edits and commits.
#include <string.h>

#include "tests/c_api/check.h"

static opened edit_items(void) { return edit_frame("edited.b2frame", 30, 10); }

static void items_are_updated_across_chunks(void) {
  const int32_t items[] = {-8, -9, -10};
  opened one = edit_items();
  CHECK_OK(cairn_writer_write_items(one.writer, 8, items, sizeof items, &st));
  CHECK_CODE(CAIRN_OUT_OF_RANGE, cairn_writer_write_items(one.writer, 29, items, 12, &st));
  commit(&one);
  CHECK(item_of(one.now, 7) == 7 && item_of(one.now, 8) == -8 && item_of(one.now, 10) == -10);
  free_opened(&one);
}

static void chunks_are_inserted_updated_and_deleted(void) {
  int32_t items[10];
  opened one = edit_items();
  for (int32_t i = 0; i < 10; ++i) items[i] = 100 + i;
  CHECK_OK(cairn_writer_insert_chunk(one.writer, 1, items, sizeof items, &st));
  for (int32_t i = 0; i < 10; ++i) items[i] = 200 + i;
  CHECK_OK(cairn_writer_update_chunk(one.writer, 0, items, sizeof items, &st));
  CHECK_OK(cairn_writer_delete_chunks(one.writer, 2, 1, &st));
  CHECK_CODE(CAIRN_OUT_OF_RANGE, cairn_writer_delete_chunks(one.writer, 2, 2, &st));
  commit(&one);
  CHECK(info_of(one.now).nchunks == 3);
  CHECK(item_of(one.now, 0) == 200 && item_of(one.now, 10) == 100 && item_of(one.now, 20) == 20);
  free_opened(&one);
}

static void staged_chunks_are_read(void) {
  cairn_writer_options options = CAIRN_WRITER_OPTIONS_INIT;
  int32_t items[10];
  make_frame("edited.b2frame", 30, 10);
  // Kept in memory, and coded at once.
  for (int64_t memory = 0; memory <= 4096; memory += 4096) {
    opened one = open_path("edited.b2frame");
    options.staged_memory = memory;
    open_writer(&one, &options);
    for (int32_t i = 0; i < 10; ++i) items[i] = 100 + i;
    CHECK_OK(cairn_writer_update_chunk(one.writer, 1, items, sizeof items, &st));
    memset(items, 0, sizeof items);
    CHECK_OK(cairn_writer_read_chunk(one.writer, 1, items, sizeof items, &st));
    CHECK(items[0] == 100 && items[9] == 109);
    CHECK_OK(cairn_writer_read_chunk(one.writer, 2, items, sizeof items, &st));
    CHECK(items[0] == 20 && items[9] == 29);
    CHECK_CODE(CAIRN_OUT_OF_RANGE, cairn_writer_read_chunk(one.writer, 3, items, 40, &st));
    CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_writer_read_chunk(one.writer, 1, NULL, 40, &st));
    free_opened(&one);
  }
}

static void compressed_chunks_are_stored_unchanged(void) {
  opened one = edit_items();
  cairn_bytes* chunk = NULL;
  cairn_bytes* stored = NULL;
  const void* data = NULL;
  size_t size = 0;
  refresh(&one);
  CHECK_OK(cairn_snapshot_get_chunk(one.now, 1, &chunk, &st));
  data = cairn_bytes_data(chunk);
  size = cairn_bytes_size(chunk);
  CHECK_OK(cairn_writer_append_compressed(one.writer, data, size, &st));
  CHECK_OK(cairn_writer_insert_compressed(one.writer, 0, data, size, &st));
  CHECK_OK(cairn_writer_update_compressed(one.writer, 1, data, size, &st));
  CHECK(cairn_writer_append_compressed(one.writer, "no chunk", 8, NULL) != CAIRN_OK);
  commit(&one);
  CHECK(item_of(one.now, 0) == 10 && item_of(one.now, 10) == 10 && item_of(one.now, 40) == 10);
  CHECK_OK(cairn_snapshot_get_chunk(one.now, 4, &stored, &st));
  CHECK(cairn_bytes_size(stored) == size && memcmp(cairn_bytes_data(stored), data, size) == 0);
  cairn_bytes_free(stored);
  cairn_bytes_free(chunk);
  free_opened(&one);
}

static void chunks_are_reordered(void) {
  const int64_t order[] = {2, 0, 1}, twice[] = {1, 1, 0};
  opened one = edit_items();
  CHECK_OK(cairn_writer_reorder_chunks(one.writer, order, 3, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_writer_reorder_chunks(one.writer, twice, 3, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_writer_reorder_chunks(one.writer, order, SIZE_MAX, &st));
  commit(&one);
  CHECK(item_of(one.now, 0) == 20 && item_of(one.now, 10) == 0);
  free_opened(&one);
}

static void special_values_are_appended(void) {
  const int32_t value = 9;
  opened one = edit_items();
  CHECK_OK(cairn_writer_append_special(one.writer, CAIRN_SPECIAL_ZEROS, 10, NULL, 0, &st));
  CHECK_OK(cairn_writer_append_special(one.writer, CAIRN_SPECIAL_REPEAT, 10, &value, 4, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_writer_append_special(one.writer, 5, 10, NULL, 0, &st));
  commit(&one);
  CHECK(info_of(one.now).nitems == 50 && item_of(one.now, 35) == 0 && item_of(one.now, 45) == 9);
  free_opened(&one);
}

static void rollback_drops_staged_edits(void) {
  opened one = edit_items();
  append_item(&one, 30);
  CHECK_OK(cairn_writer_staged_snapshot(one.writer, &one.now, &st));
  CHECK(item_of(one.now, 30) == 30);
  CHECK_OK(cairn_writer_rollback(one.writer, &st));
  commit(&one);
  CHECK(info_of(one.now).nitems == 30);
  free_opened(&one);
}

static void freed_writer_leaves_nothing_that_was_staged(void) {
  opened one = edit_items();
  append_item(&one, 30);
  free_opened(&one);
  one = open_path("edited.b2frame");
  refresh(&one);
  CHECK(info_of(one.now).nitems == 30);
  free_opened(&one);
}

static void closed_writer_refuses_calls(void) {
  const int32_t item = 30;
  opened one = edit_items();
  append_item(&one, item);
  CHECK_OK(cairn_writer_close(one.writer, &st));
  CHECK_CODE(CAIRN_FAILED_PRECONDITION, cairn_writer_append(one.writer, &item, sizeof item, &st));
  refresh(&one);
  CHECK(item_of(one.now, 30) == 30);
  free_opened(&one);
}

static void metadata_is_set_and_deleted(void) {
  opened one = edit_items();
  cairn_bytes* content = NULL;
  CHECK_OK(cairn_writer_set_vlmetalayer(one.writer, "a", "first", 5, &st));
  CHECK_OK(cairn_writer_set_vlmetalayer(one.writer, "b", "second", 6, &st));
  CHECK_OK(cairn_writer_set_vlmetalayer(one.writer, "a", "third", 5, &st));
  CHECK_OK(cairn_writer_delete_vlmetalayer(one.writer, "b", &st));
  CHECK_CODE(CAIRN_NOT_FOUND, cairn_writer_delete_vlmetalayer(one.writer, "b", &st));
  CHECK_CODE(CAIRN_NOT_FOUND, cairn_writer_set_metalayer(one.writer, "none", "x", 1, &st));
  commit(&one);
  CHECK(cairn_snapshot_vlmetalayer_count(one.now) == 1);
  CHECK(strcmp(cairn_snapshot_vlmetalayer_name(one.now, 0), "a") == 0);
  CHECK(cairn_snapshot_vlmetalayer_name(one.now, 1) == NULL);
  CHECK_OK(cairn_snapshot_get_vlmetalayer(one.now, "a", &content, &st));
  CHECK(content_is(content, "third"));
  free_opened(&one);
}

static void metalayer_keeps_its_size(void) {
  const cairn_metalayer layer = {"unit", "K", 1};
  cairn_create_options options = CAIRN_CREATE_OPTIONS_INIT;
  opened one = {NULL, NULL, NULL};
  cairn_bytes* content = NULL;
  options.metalayers = &layer;
  options.nmetalayers = 1;
  CHECK_OK(cairn_frame_create_in_memory(&options, &one.frame, &st));
  open_writer(&one, NULL);
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_writer_set_metalayer(one.writer, "unit", "mK", 2, &st));
  CHECK_OK(cairn_writer_set_metalayer(one.writer, "unit", "C", 1, &st));
  commit(&one);
  CHECK_OK(cairn_snapshot_get_metalayer(one.now, "unit", &content, &st));
  CHECK(content_is(content, "C"));
  free_opened(&one);
}

static void second_writer_is_refused_until_the_first_suspends(void) {
  bool waiting = true;
  opened one = edit_items();
  opened other = open_path("edited.b2frame");
  CHECK_CODE(CAIRN_UNAVAILABLE, cairn_frame_open_writer(other.frame, NULL, &other.writer, &st));
  CHECK_OK(cairn_writer_has_waiters(one.writer, &waiting, &st));
  CHECK(!waiting);
  CHECK_OK(cairn_writer_suspend(one.writer, &st));
  open_writer(&other, NULL);
  CHECK_CODE(CAIRN_UNAVAILABLE, cairn_writer_resume(one.writer, 1, &st));
  append_item(&other, 30);
  close_writer(&other);
  CHECK_OK(cairn_writer_resume(one.writer, 0, &st));
  commit(&one);
  CHECK(item_of(one.now, 30) == 30);
  free_opened(&one);
  free_opened(&other);
}

static void unknown_durability_commits_nothing(void) {
  opened one = edit_items();
  append_item(&one, 30);
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_writer_commit(one.writer, 2, &one.now, &st));
  CHECK(one.now == NULL);
  refresh(&one);
  CHECK(info_of(one.now).nitems == 30);
  free_opened(&one);
}

static void checkpoint_empties_the_journal_and_reclaim_reports(void) {
  cairn_reclaim_report report = {.struct_size = sizeof report};
  opened one = edit_items();
  append_item(&one, 30);
  CHECK_OK(cairn_writer_commit(one.writer, CAIRN_DURABILITY_MACHINE, &one.now, &st));
  CHECK(info_of(one.now).journal_size > 0);
  CHECK_OK(cairn_writer_sync(one.writer, one.now, &st));
  CHECK_OK(cairn_writer_checkpoint(one.writer, &st));
  refresh(&one);
  CHECK(info_of(one.now).journal_size == 0);
  CHECK_OK(cairn_writer_reclaim(one.writer, NULL, &report, &st));
  CHECK(report.oldest_generation > 0 && report.freed >= 0);
  CHECK_OK(cairn_writer_reclaim(one.writer, NULL, NULL, &st));
  free_opened(&one);
}

static void settled_frame_is_as_a_closed_one_and_its_writer_goes_on(void) {
  opened one = edit_items();
  append_item(&one, 30);
  CHECK_OK(cairn_writer_flush(one.writer, &st));
  refresh(&one);
  CHECK(info_of(one.now).nitems == 31 && info_of(one.now).journal_size == 0);
  append_item(&one, 30);
  commit(&one);
  CHECK(info_of(one.now).nitems == 32);
  free_opened(&one);
}

static bool count_holder(void* context, const cairn_generation_holder* holder) {
  CHECK(holder->struct_size == sizeof *holder && holder->generation > 0);
  ++*(int*)context;
  return true;
}

static void count_reported(void* context, const cairn_generation_holder* holder) {
  count_holder(context, holder);
}

static void holders_of_old_generations_are_named(void) {
  cairn_reclaim_options options = CAIRN_RECLAIM_OPTIONS_INIT;
  cairn_reclaim_report report = {.struct_size = sizeof report};
  int holders = 0, reported = 0;
  opened one = edit_items();
  opened reader = open_path("edited.b2frame");
  refresh(&reader);
  append_item(&one, 30);
  CHECK_OK(cairn_writer_checkpoint(one.writer, &st));
  refresh(&one);
  CHECK_OK(cairn_frame_old_readers(one.frame, count_holder, &holders, &st));
  CHECK(holders > 0);
  options.on_holder = count_reported;
  options.context = &reported;
  CHECK_OK(cairn_writer_reclaim(one.writer, &options, &report, &st));
  CHECK(report.blocked && reported == holders);
  // As a program has it that was compiled before there were the last fields.
  options.struct_size = offsetof(cairn_reclaim_options, on_holder);
  CHECK_OK(cairn_writer_reclaim(one.writer, &options, &report, &st));
  CHECK(report.blocked && reported == holders);
  free_opened(&reader);
  free_opened(&one);
}

static void durability_of_opening_is_chosen(void) {
  cairn_writer_options options = CAIRN_WRITER_OPTIONS_INIT;
  opened one = make_and_open("edited.b2frame", 30, 10);
  options.opening = 2;
  CHECK_CODE(CAIRN_INVALID_ARGUMENT,
             cairn_frame_open_writer(one.frame, &options, &one.writer, &st));
  CHECK_MESSAGE("opening");
  options.opening = CAIRN_DURABILITY_PROCESS;
  open_writer(&one, &options);
  append_item(&one, 30);
  commit(&one);
  CHECK(item_of(one.now, 30) == 30);
  free_opened(&one);
}

static void options_of_a_writer_change_new_chunks(void) {
  cairn_compression_options compression = CAIRN_COMPRESSION_OPTIONS_INIT;
  cairn_writer_options options = CAIRN_WRITER_OPTIONS_INIT;
  cairn_chunk_info info = {.struct_size = sizeof info};
  opened one = make_and_open("edited.b2frame", 30, 10);
  cairn_bytes* chunk = NULL;
  compression.typesize = 4;
  compression.clevel = 0;
  options.compression = &compression;
  open_writer(&one, &options);
  CHECK_OK(cairn_writer_update_chunk(one.writer, 1, "0123456789012345678901234567890123456789", 40,
                                     &st));
  CHECK_OK(cairn_writer_append(one.writer, "", 0, &st));
  commit(&one);
  CHECK_OK(cairn_snapshot_get_chunk(one.now, 1, &chunk, &st));
  CHECK_OK(cairn_chunk_inspect(cairn_bytes_data(chunk), cairn_bytes_size(chunk), &info, &st));
  CHECK(info.memcpyed);
  cairn_bytes_free(chunk);
  free_opened(&one);
}

const test_case writer_tests[] = {
    TEST_CASE(items_are_updated_across_chunks),
    TEST_CASE(chunks_are_inserted_updated_and_deleted),
    TEST_CASE(staged_chunks_are_read),
    TEST_CASE(compressed_chunks_are_stored_unchanged),
    TEST_CASE(chunks_are_reordered),
    TEST_CASE(special_values_are_appended),
    TEST_CASE(rollback_drops_staged_edits),
    TEST_CASE(freed_writer_leaves_nothing_that_was_staged),
    TEST_CASE(closed_writer_refuses_calls),
    TEST_CASE(metadata_is_set_and_deleted),
    TEST_CASE(metalayer_keeps_its_size),
    TEST_CASE(second_writer_is_refused_until_the_first_suspends),
    TEST_CASE(unknown_durability_commits_nothing),
    TEST_CASE(checkpoint_empties_the_journal_and_reclaim_reports),
    TEST_CASE(settled_frame_is_as_a_closed_one_and_its_writer_goes_on),
    TEST_CASE(holders_of_old_generations_are_named),
    TEST_CASE(durability_of_opening_is_chosen),
    TEST_CASE(options_of_a_writer_change_new_chunks),
    {NULL, NULL},
};
