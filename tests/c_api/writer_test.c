// Edits and commits.
#include <string.h>

#include "tests/c_api/check.h"

// A frame of items 0 to 29 in three chunks, and its writer.
static cairn_frame* open_for_writing(cairn_writer** writer) {
  cairn_frame* frame = NULL;
  make_frame("edited.b2frame", 30, 10);
  frame = open_frame("edited.b2frame");
  CHECK_OK(cairn_frame_open_writer(frame, NULL, writer, &st));
  return frame;
}

// Commits and frees both; returns what is committed.
static cairn_snapshot* finish(cairn_frame* frame, cairn_writer* writer) {
  cairn_snapshot* committed = NULL;
  CHECK_OK(cairn_writer_commit(writer, CAIRN_DURABILITY_PROCESS, &committed, &st));
  cairn_writer_free(writer);
  cairn_frame_free(frame);
  return committed;
}

static void items_are_updated_across_chunks(void) {
  const int32_t items[] = {-8, -9, -10};
  cairn_writer* writer = NULL;
  cairn_frame* frame = open_for_writing(&writer);
  cairn_snapshot* now = NULL;
  CHECK_OK(cairn_writer_write_items(writer, 8, items, sizeof items, &st));
  CHECK_CODE(CAIRN_OUT_OF_RANGE, cairn_writer_write_items(writer, 29, items, sizeof items, &st));
  now = finish(frame, writer);
  CHECK(item_of(now, 7) == 7 && item_of(now, 8) == -8 && item_of(now, 10) == -10);
  cairn_snapshot_free(now);
}

static void chunks_are_inserted_updated_and_deleted(void) {
  int32_t items[10];
  cairn_writer* writer = NULL;
  cairn_frame* frame = open_for_writing(&writer);
  cairn_snapshot* now = NULL;
  for (int32_t i = 0; i < 10; ++i) items[i] = 100 + i;
  CHECK_OK(cairn_writer_insert_chunk(writer, 1, items, sizeof items, &st));
  for (int32_t i = 0; i < 10; ++i) items[i] = 200 + i;
  CHECK_OK(cairn_writer_update_chunk(writer, 0, items, sizeof items, &st));
  CHECK_OK(cairn_writer_delete_chunks(writer, 2, 1, &st));
  CHECK_CODE(CAIRN_OUT_OF_RANGE, cairn_writer_delete_chunks(writer, 2, 2, &st));
  now = finish(frame, writer);
  CHECK(info_of(now).nchunks == 3);
  CHECK(item_of(now, 0) == 200 && item_of(now, 10) == 100 && item_of(now, 20) == 20);
  cairn_snapshot_free(now);
}

static void staged_chunks_are_read(void) {
  cairn_writer_options options = CAIRN_WRITER_OPTIONS_INIT;
  int32_t items[10];
  make_frame("edited.b2frame", 30, 10);
  // Kept in memory, and coded at once.
  for (int64_t memory = 0; memory <= 4096; memory += 4096) {
    cairn_frame* frame = open_frame("edited.b2frame");
    cairn_writer* writer = NULL;
    options.staged_memory = memory;
    CHECK_OK(cairn_frame_open_writer(frame, &options, &writer, &st));
    for (int32_t i = 0; i < 10; ++i) items[i] = 100 + i;
    CHECK_OK(cairn_writer_update_chunk(writer, 1, items, sizeof items, &st));
    memset(items, 0, sizeof items);
    CHECK_OK(cairn_writer_read_chunk(writer, 1, items, sizeof items, &st));
    CHECK(items[0] == 100 && items[9] == 109);
    CHECK_OK(cairn_writer_read_chunk(writer, 2, items, sizeof items, &st));
    CHECK(items[0] == 20 && items[9] == 29);
    CHECK_CODE(CAIRN_OUT_OF_RANGE, cairn_writer_read_chunk(writer, 3, items, sizeof items, &st));
    CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_writer_read_chunk(writer, 1, NULL, 40, &st));
    cairn_writer_free(writer);
    cairn_frame_free(frame);
  }
}

static void compressed_chunks_are_stored_unchanged(void) {
  cairn_writer* writer = NULL;
  cairn_frame* frame = open_for_writing(&writer);
  cairn_snapshot* now = snapshot_of(frame);
  cairn_bytes* chunk = NULL;
  cairn_bytes* stored = NULL;
  CHECK_OK(cairn_snapshot_get_chunk(now, 1, &chunk, &st));
  cairn_snapshot_free(now);
  CHECK_OK(cairn_writer_append_compressed(writer, cairn_bytes_data(chunk), cairn_bytes_size(chunk),
                                          &st));
  CHECK_OK(cairn_writer_insert_compressed(writer, 0, cairn_bytes_data(chunk),
                                          cairn_bytes_size(chunk), &st));
  CHECK_OK(cairn_writer_update_compressed(writer, 1, cairn_bytes_data(chunk),
                                          cairn_bytes_size(chunk), &st));
  CHECK(cairn_writer_append_compressed(writer, "no chunk", 8, NULL) != CAIRN_OK);
  now = finish(frame, writer);
  CHECK(item_of(now, 0) == 10 && item_of(now, 10) == 10 && item_of(now, 40) == 10);
  CHECK_OK(cairn_snapshot_get_chunk(now, 4, &stored, &st));
  CHECK(cairn_bytes_size(stored) == cairn_bytes_size(chunk) &&
        memcmp(cairn_bytes_data(stored), cairn_bytes_data(chunk), cairn_bytes_size(chunk)) == 0);
  cairn_bytes_free(stored);
  cairn_bytes_free(chunk);
  cairn_snapshot_free(now);
}

static void chunks_are_reordered(void) {
  const int64_t order[] = {2, 0, 1}, twice[] = {1, 1, 0};
  cairn_writer* writer = NULL;
  cairn_frame* frame = open_for_writing(&writer);
  cairn_snapshot* now = NULL;
  CHECK_OK(cairn_writer_reorder_chunks(writer, order, 3, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_writer_reorder_chunks(writer, twice, 3, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_writer_reorder_chunks(writer, order, SIZE_MAX, &st));
  now = finish(frame, writer);
  CHECK(item_of(now, 0) == 20 && item_of(now, 10) == 0);
  cairn_snapshot_free(now);
}

static void special_values_are_appended(void) {
  const int32_t value = 9;
  cairn_writer* writer = NULL;
  cairn_frame* frame = open_for_writing(&writer);
  cairn_snapshot* now = NULL;
  CHECK_OK(cairn_writer_append_special(writer, CAIRN_SPECIAL_ZEROS, 10, NULL, 0, &st));
  CHECK_OK(cairn_writer_append_special(writer, CAIRN_SPECIAL_REPEAT, 10, &value, 4, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_writer_append_special(writer, 5, 10, NULL, 0, &st));
  now = finish(frame, writer);
  CHECK(info_of(now).nitems == 50 && item_of(now, 35) == 0 && item_of(now, 45) == 9);
  cairn_snapshot_free(now);
}

static void rollback_drops_staged_edits(void) {
  const int32_t item = 30;
  cairn_writer* writer = NULL;
  cairn_frame* frame = open_for_writing(&writer);
  cairn_snapshot* staged = NULL;
  cairn_snapshot* now = NULL;
  CHECK_OK(cairn_writer_append(writer, &item, sizeof item, &st));
  CHECK_OK(cairn_writer_staged_snapshot(writer, &staged, &st));
  CHECK(item_of(staged, 30) == 30);
  cairn_snapshot_free(staged);
  CHECK_OK(cairn_writer_rollback(writer, &st));
  now = finish(frame, writer);
  CHECK(info_of(now).nitems == 30);
  cairn_snapshot_free(now);
}

static void freed_writer_leaves_nothing_that_was_staged(void) {
  const int32_t item = 30;
  cairn_writer* writer = NULL;
  cairn_frame* frame = open_for_writing(&writer);
  cairn_snapshot* now = NULL;
  CHECK_OK(cairn_writer_append(writer, &item, sizeof item, &st));
  cairn_writer_free(writer);
  cairn_frame_free(frame);
  now = read_back("edited.b2frame");
  CHECK(info_of(now).nitems == 30);
  cairn_snapshot_free(now);
}

static void closed_writer_refuses_calls(void) {
  const int32_t item = 30;
  cairn_writer* writer = NULL;
  cairn_frame* frame = open_for_writing(&writer);
  cairn_snapshot* now = NULL;
  CHECK_OK(cairn_writer_append(writer, &item, sizeof item, &st));
  CHECK_OK(cairn_writer_close(writer, &st));
  CHECK_CODE(CAIRN_FAILED_PRECONDITION, cairn_writer_append(writer, &item, sizeof item, &st));
  cairn_writer_free(writer);
  now = snapshot_of(frame);
  CHECK(item_of(now, 30) == 30);
  cairn_snapshot_free(now);
  cairn_frame_free(frame);
}

static void metadata_is_set_and_deleted(void) {
  cairn_writer* writer = NULL;
  cairn_frame* frame = open_for_writing(&writer);
  cairn_snapshot* now = NULL;
  cairn_bytes* content = NULL;
  CHECK_OK(cairn_writer_set_vlmetalayer(writer, "a", "first", 5, &st));
  CHECK_OK(cairn_writer_set_vlmetalayer(writer, "b", "second", 6, &st));
  CHECK_OK(cairn_writer_set_vlmetalayer(writer, "a", "third", 5, &st));
  CHECK_OK(cairn_writer_delete_vlmetalayer(writer, "b", &st));
  CHECK_CODE(CAIRN_NOT_FOUND, cairn_writer_delete_vlmetalayer(writer, "b", &st));
  CHECK_CODE(CAIRN_NOT_FOUND, cairn_writer_set_metalayer(writer, "none", "x", 1, &st));
  now = finish(frame, writer);
  CHECK(cairn_snapshot_vlmetalayer_count(now) == 1);
  CHECK(strcmp(cairn_snapshot_vlmetalayer_name(now, 0), "a") == 0);
  CHECK(cairn_snapshot_vlmetalayer_name(now, 1) == NULL);
  CHECK_OK(cairn_snapshot_get_vlmetalayer(now, "a", &content, &st));
  CHECK(cairn_bytes_size(content) == 5 && memcmp(cairn_bytes_data(content), "third", 5) == 0);
  cairn_bytes_free(content);
  cairn_snapshot_free(now);
}

static void metalayer_keeps_its_size(void) {
  const cairn_metalayer layer = {"unit", "K", 1};
  cairn_create_options options = CAIRN_CREATE_OPTIONS_INIT;
  cairn_frame* frame = NULL;
  cairn_writer* writer = NULL;
  cairn_snapshot* now = NULL;
  cairn_bytes* content = NULL;
  options.metalayers = &layer;
  options.nmetalayers = 1;
  CHECK_OK(cairn_frame_create_in_memory(&options, &frame, &st));
  CHECK_OK(cairn_frame_open_writer(frame, NULL, &writer, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_writer_set_metalayer(writer, "unit", "mK", 2, &st));
  CHECK_OK(cairn_writer_set_metalayer(writer, "unit", "C", 1, &st));
  now = finish(frame, writer);
  CHECK_OK(cairn_snapshot_get_metalayer(now, "unit", &content, &st));
  CHECK(memcmp(cairn_bytes_data(content), "C", 1) == 0);
  cairn_bytes_free(content);
  cairn_snapshot_free(now);
}

static void second_writer_is_refused_until_the_first_suspends(void) {
  const int32_t item = 30;
  bool waiting = true;
  cairn_writer* writer = NULL;
  cairn_writer* second = NULL;
  cairn_frame* frame = open_for_writing(&writer);
  cairn_frame* other = open_frame("edited.b2frame");
  cairn_snapshot* now = NULL;
  CHECK_CODE(CAIRN_UNAVAILABLE, cairn_frame_open_writer(other, NULL, &second, &st));
  CHECK_OK(cairn_writer_has_waiters(writer, &waiting, &st));
  CHECK(!waiting);
  CHECK_OK(cairn_writer_suspend(writer, &st));
  CHECK_OK(cairn_frame_open_writer(other, NULL, &second, &st));
  CHECK_CODE(CAIRN_UNAVAILABLE, cairn_writer_resume(writer, 1, &st));
  CHECK_OK(cairn_writer_append(second, &item, sizeof item, &st));
  CHECK_OK(cairn_writer_close(second, &st));
  cairn_writer_free(second);
  CHECK_OK(cairn_writer_resume(writer, 0, &st));
  now = finish(frame, writer);
  CHECK(item_of(now, 30) == 30);
  cairn_snapshot_free(now);
  cairn_frame_free(other);
}

static void unknown_durability_commits_nothing(void) {
  const int32_t item = 30;
  cairn_writer* writer = NULL;
  cairn_frame* frame = open_for_writing(&writer);
  cairn_snapshot* now = NULL;
  CHECK_OK(cairn_writer_append(writer, &item, sizeof item, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_writer_commit(writer, 2, &now, &st));
  CHECK(now == NULL);
  now = snapshot_of(frame);
  CHECK(info_of(now).nitems == 30);
  cairn_snapshot_free(now);
  cairn_writer_free(writer);
  cairn_frame_free(frame);
}

static void checkpoint_empties_the_journal_and_reclaim_reports(void) {
  const int32_t item = 30;
  cairn_reclaim_report report = {.struct_size = sizeof report};
  cairn_writer* writer = NULL;
  cairn_frame* frame = open_for_writing(&writer);
  cairn_snapshot* now = NULL;
  CHECK_OK(cairn_writer_append(writer, &item, sizeof item, &st));
  CHECK_OK(cairn_writer_commit(writer, CAIRN_DURABILITY_MACHINE, &now, &st));
  CHECK(info_of(now).journal_size > 0);
  CHECK_OK(cairn_writer_sync(writer, now, &st));
  cairn_snapshot_free(now);
  CHECK_OK(cairn_writer_checkpoint(writer, &st));
  now = snapshot_of(frame);
  CHECK(info_of(now).journal_size == 0);
  cairn_snapshot_free(now);
  CHECK_OK(cairn_writer_reclaim(writer, NULL, &report, &st));
  CHECK(report.oldest_generation > 0 && report.freed >= 0);
  CHECK_OK(cairn_writer_reclaim(writer, NULL, NULL, &st));
  cairn_writer_free(writer);
  cairn_frame_free(frame);
}

static void settled_frame_is_as_a_closed_one_and_its_writer_goes_on(void) {
  const int32_t item = 30;
  cairn_writer* writer = NULL;
  cairn_frame* frame = open_for_writing(&writer);
  cairn_snapshot* now = NULL;
  CHECK_OK(cairn_writer_append(writer, &item, sizeof item, &st));
  CHECK_OK(cairn_writer_flush(writer, &st));
  now = snapshot_of(frame);
  CHECK(info_of(now).nitems == 31 && info_of(now).journal_size == 0);
  cairn_snapshot_free(now);
  CHECK_OK(cairn_writer_append(writer, &item, sizeof item, &st));
  now = finish(frame, writer);
  CHECK(info_of(now).nitems == 32);
  cairn_snapshot_free(now);
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
  const int32_t item = 30;
  cairn_reclaim_options options = CAIRN_RECLAIM_OPTIONS_INIT;
  cairn_reclaim_report report = {.struct_size = sizeof report};
  int holders = 0, reported = 0;
  cairn_writer* writer = NULL;
  cairn_frame* reader = NULL;
  cairn_snapshot* held = NULL;
  cairn_frame* frame = open_for_writing(&writer);
  reader = open_frame("edited.b2frame");
  held = snapshot_of(reader);
  CHECK_OK(cairn_writer_append(writer, &item, sizeof item, &st));
  CHECK_OK(cairn_writer_checkpoint(writer, &st));
  cairn_snapshot_free(snapshot_of(frame));
  CHECK_OK(cairn_frame_old_readers(frame, count_holder, &holders, &st));
  CHECK(holders > 0);
  options.on_holder = count_reported;
  options.context = &reported;
  CHECK_OK(cairn_writer_reclaim(writer, &options, &report, &st));
  CHECK(report.blocked && reported == holders);
  // As a program has it that was compiled before there were the last fields.
  options.struct_size = offsetof(cairn_reclaim_options, on_holder);
  CHECK_OK(cairn_writer_reclaim(writer, &options, &report, &st));
  CHECK(report.blocked && reported == holders);
  cairn_snapshot_free(held);
  cairn_frame_free(reader);
  cairn_writer_free(writer);
  cairn_frame_free(frame);
}

static void durability_of_opening_is_chosen(void) {
  const int32_t item = 30;
  cairn_writer_options options = CAIRN_WRITER_OPTIONS_INIT;
  cairn_frame* frame = NULL;
  cairn_writer* writer = NULL;
  cairn_snapshot* now = NULL;
  make_frame("edited.b2frame", 30, 10);
  frame = open_frame("edited.b2frame");
  options.opening = 2;
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_frame_open_writer(frame, &options, &writer, &st));
  CHECK_MESSAGE("opening");
  options.opening = CAIRN_DURABILITY_PROCESS;
  CHECK_OK(cairn_frame_open_writer(frame, &options, &writer, &st));
  CHECK_OK(cairn_writer_append(writer, &item, sizeof item, &st));
  now = finish(frame, writer);
  CHECK(item_of(now, 30) == 30);
  cairn_snapshot_free(now);
}

static void options_of_a_writer_change_new_chunks(void) {
  cairn_compression_options compression = CAIRN_COMPRESSION_OPTIONS_INIT;
  cairn_writer_options options = CAIRN_WRITER_OPTIONS_INIT;
  cairn_chunk_info info = {.struct_size = sizeof info};
  const int32_t items[10] = {0};
  cairn_frame* frame = NULL;
  cairn_writer* writer = NULL;
  cairn_snapshot* now = NULL;
  cairn_bytes* chunk = NULL;
  make_frame("edited.b2frame", 30, 10);
  frame = open_frame("edited.b2frame");
  compression.typesize = 4;
  compression.clevel = 0;
  options.compression = &compression;
  CHECK_OK(cairn_frame_open_writer(frame, &options, &writer, &st));
  CHECK_OK(
      cairn_writer_update_chunk(writer, 1, "0123456789012345678901234567890123456789", 40, &st));
  CHECK_OK(cairn_writer_append(writer, items, 0, &st));
  now = finish(frame, writer);
  CHECK_OK(cairn_snapshot_get_chunk(now, 1, &chunk, &st));
  CHECK_OK(cairn_chunk_inspect(cairn_bytes_data(chunk), cairn_bytes_size(chunk), &info, &st));
  CHECK(info.memcpyed);
  cairn_bytes_free(chunk);
  cairn_snapshot_free(now);
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
