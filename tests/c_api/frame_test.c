// Opening, creating, reading, copying.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/c_api/check.h"

static void items_read_back_after_commit(void) {
  cairn_create_options options = CAIRN_CREATE_OPTIONS_INIT;
  cairn_compression_options compression = CAIRN_COMPRESSION_OPTIONS_INIT;
  const double items[] = {1.5, 2.5, 3.5};
  double read[2] = {0};
  opened one = {NULL, NULL, NULL};
  compression.typesize = 8;
  options.compression = &compression;
  options.overwrite = true;
  CHECK_OK(cairn_frame_create("doubles.b2frame", &options, &one.frame, &st));
  open_writer(&one, NULL);
  CHECK_OK(cairn_writer_append(one.writer, items, sizeof items, &st));
  CHECK_OK(cairn_writer_commit(one.writer, CAIRN_DURABILITY_MACHINE, &one.now, &st));
  CHECK_OK(cairn_snapshot_read_items(one.now, 1, read, sizeof read, &st));
  CHECK(read[0] == 2.5 && read[1] == 3.5);
  close_writer(&one);
  free_opened(&one);
}

static void info_describes_the_frame(void) {
  cairn_snapshot* snapshot = make_and_read("info.b2frame", 25, 10);
  cairn_frame_info info;
  info = info_of(snapshot);
  CHECK(info.nitems == 25 && info.nbytes == 100 && info.nchunks == 3);
  CHECK(info.typesize == 4 && info.chunksize == 40 && info.blocksize == 0);
  CHECK(info.codec == CAIRN_CODEC_LZ4 && info.clevel == 5 && info.nfilters == 1);
  CHECK(info.filters[0].filter == CAIRN_FILTER_SHUFFLE);
  CHECK(info.layout == CAIRN_LAYOUT_CONTIGUOUS && info.era == CAIRN_ERA_CURRENT);
  CHECK(info.sealed && !info.trailer_damaged && info.dead_bytes == 0 && info.generation > 0);
  cairn_snapshot_free(snapshot);
}

static void frame_of_a_recipe_names_its_kind(void) {
  const cairn_metalayer layer = {"LazyArray", "\0", 1};
  cairn_create_options options = CAIRN_CREATE_OPTIONS_INIT;
  cairn_frame_info older = {.struct_size = offsetof(cairn_frame_info, recipe), .recipe = "kept"};
  opened data = edit_frame("data.b2frame", 1, 1);
  opened recipe = {NULL, NULL, NULL};
  char byte = 0;
  refresh(&data);
  CHECK(strcmp(info_of(data.now).recipe, "") == 0);
  free_opened(&data);
  options.metalayers = &layer;
  options.nmetalayers = 1;
  CHECK_OK(cairn_frame_create_in_memory(&options, &recipe.frame, &st));
  open_writer(&recipe, NULL);
  CHECK_OK(cairn_writer_append(recipe.writer, "x", 1, &st));
  commit(&recipe);
  CHECK(strcmp(info_of(recipe.now).recipe, "LazyExpr") == 0);
  CHECK_CODE(CAIRN_FAILED_PRECONDITION, cairn_snapshot_read_items(recipe.now, 0, &byte, 1, &st));
  // As a program has it that was compiled before there was the last field.
  CHECK_OK(cairn_snapshot_info(recipe.now, &older, &st));
  CHECK(older.nitems == 1 && strcmp(older.recipe, "kept") == 0);
  free_opened(&recipe);
}

static void reads_agree(void) {
  const int64_t wanted[] = {24, 0, 9, 9};
  int32_t items[10] = {0};
  int32_t nbytes = 0;
  char bytes[5];
  cairn_snapshot* snapshot = make_and_read("reads.b2frame", 25, 10);
  CHECK_OK(cairn_snapshot_chunk_nbytes(snapshot, 2, &nbytes, &st));
  CHECK(nbytes == 20);
  CHECK_OK(cairn_snapshot_read_chunk(snapshot, 1, items, 40, &st));
  CHECK(items[0] == 10 && items[9] == 19);
  CHECK_OK(cairn_snapshot_read_items_at(snapshot, wanted, 4, items, 16, &st));
  CHECK(items[0] == 24 && items[1] == 0 && items[2] == 9 && items[3] == 9);
  CHECK_OK(cairn_snapshot_read_bytes(snapshot, 8 * 4, bytes, 5, &st));
  CHECK(bytes[0] == 8 && bytes[4] == 9);
  CHECK_CODE(CAIRN_OUT_OF_RANGE, cairn_snapshot_read_items(snapshot, 25, items, 4, &st));
  CHECK_CODE(CAIRN_OUT_OF_RANGE, cairn_snapshot_read_items(snapshot, -1, items, 4, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_snapshot_read_items(snapshot, 0, items, 3, &st));
  CHECK_CODE(CAIRN_OUT_OF_RANGE, cairn_snapshot_read_chunk(snapshot, 3, items, 40, &st));
  cairn_snapshot_free(snapshot);
}

static void fields_read_as_in_their_items(void) {
  int16_t low[20] = {0};
  uint8_t second[20] = {0};
  const cairn_field fields[] = {{0, 2, low}, {1, 1, second}};
  const cairn_field outside = {3, 2, low};
  const cairn_field nowhere = {0, 2, NULL};
  cairn_snapshot* snapshot = make_and_read("fields.b2frame", 2500, 1000);
  int i = 0;
  CHECK_OK(cairn_snapshot_read_fields(snapshot, 990, 20, fields, 2, &st));
  for (i = 0; i < 20; ++i) CHECK(low[i] == 990 + i && second[i] == (990 + i) / 256);
  CHECK_CODE(CAIRN_OUT_OF_RANGE, cairn_snapshot_read_fields(snapshot, 2490, 20, fields, 2, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_snapshot_read_fields(snapshot, 0, -1, fields, 2, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_snapshot_read_fields(snapshot, 0, 20, &outside, 1, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_snapshot_read_fields(snapshot, 0, 20, &nowhere, 1, &st));
  cairn_snapshot_free(snapshot);
}

static void chunk_in_place_outlives_frame_and_snapshot(void) {
  cairn_snapshot* snapshot = make_and_read("chunk.b2frame", 25, 10);
  cairn_bytes* chunk = NULL;
  int32_t items[10] = {0};
  cairn_chunk_entry entry = {.struct_size = sizeof entry};
  CHECK_OK(cairn_snapshot_get_entry(snapshot, 1, &entry, &st));
  CHECK(entry.index == 1 && entry.offset > 0 && entry.file == -1 && entry.has_fingerprint);
  CHECK_OK(cairn_snapshot_get_chunk(snapshot, 1, &chunk, &st));
  cairn_snapshot_free(snapshot);
  CHECK_OK(cairn_chunk_decompress(cairn_bytes_data(chunk), cairn_bytes_size(chunk), NULL, items,
                                  sizeof items, &st));
  CHECK(items[3] == 13);
  cairn_bytes_free(chunk);
}

static void frame_in_memory_becomes_a_buffer_that_opens(void) {
  opened made = {NULL, NULL, NULL};
  opened buffered = {NULL, NULL, NULL};
  cairn_bytes* buffer = NULL;
  char read[5] = {0};
  CHECK_OK(cairn_frame_create_in_memory(NULL, &made.frame, &st));
  open_writer(&made, NULL);
  CHECK_OK(cairn_writer_append(made.writer, "hello", 5, &st));
  close_writer(&made);
  refresh(&made);
  CHECK_OK(cairn_snapshot_to_buffer(made.now, &buffer, &st));
  free_opened(&made);
  CHECK_OK(cairn_frame_open_buffer(cairn_bytes_data(buffer), cairn_bytes_size(buffer), NULL,
                                   &buffered.frame, &st));
  refresh(&buffered);
  CHECK_OK(cairn_snapshot_read_bytes(buffered.now, 0, read, 5, &st));
  CHECK(memcmp(read, "hello", 5) == 0);
  free_opened(&buffered);
  cairn_bytes_free(buffer);
}

static void file_that_is_no_frame_is_refused(void) {
  cairn_frame* frame = NULL;
  FILE* file = fopen("text", "w");
  CHECK(file != NULL && fputs("not a frame at all, but text", file) != EOF && fclose(file) == 0);
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_frame_open("text", NULL, &frame, &st));
  CHECK_MESSAGE("not a Blosc2 frame");
}

static void taken_name_needs_overwrite(void) {
  cairn_frame* frame = NULL;
  make_frame("taken.b2frame", 1, 1);
  CHECK_CODE(CAIRN_ALREADY_EXISTS, cairn_frame_create("taken.b2frame", NULL, &frame, &st));
}

static void sparse_frame_is_a_directory(void) {
  cairn_create_options options = CAIRN_CREATE_OPTIONS_INIT;
  cairn_writer* writer = NULL;
  cairn_snapshot* snapshot = NULL;
  char read[3] = {0};
  options.layout = CAIRN_LAYOUT_SPARSE;
  CHECK_OK(cairn_frame_build("sparse.b2frame", &options, &writer, &st));
  CHECK_OK(cairn_writer_append(writer, "abc", 3, &st));
  CHECK_OK(cairn_writer_close(writer, &st));
  cairn_writer_free(writer);
  snapshot = read_back("sparse.b2frame");
  CHECK(info_of(snapshot).layout == CAIRN_LAYOUT_SPARSE);
  CHECK_OK(cairn_snapshot_read_bytes(snapshot, 0, read, 3, &st));
  CHECK(memcmp(read, "abc", 3) == 0);
  cairn_snapshot_free(snapshot);
  options.layout = 7;
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_frame_build("seven", &options, &writer, &st));
}

typedef struct generations {
  int count;
  uint64_t last;
  int limit;
} generations;

static bool count_generation(void* context, const cairn_generation_info* info) {
  generations* seen = context;
  CHECK(info->struct_size == sizeof *info);
  CHECK(info->generation > seen->last);
  seen->last = info->generation;
  return ++seen->count != seen->limit;
}

static void older_generation_opens(void) {
  opened one = edit_frame("history.b2frame", 5, 10);
  opened old = {NULL, NULL, NULL};
  cairn_open_options options = CAIRN_OPEN_OPTIONS_INIT;
  cairn_history_options history = CAIRN_HISTORY_OPTIONS_INIT;
  generations seen = {0, 0, 0}, page = {0, 0, 0}, stopped = {0, 0, 1};
  uint64_t generation = 0;
  cairn_snapshot* first = snapshot_of(one.frame);
  generation = info_of(first).generation;
  append_item(&one, 7);
  commit(&one);
  CHECK_OK(cairn_frame_history(one.frame, NULL, count_generation, &seen, &st));
  CHECK(seen.count >= 2);
  history.limit = 1;
  history.before = &seen.last;
  CHECK_OK(cairn_frame_history(one.frame, &history, count_generation, &page, &st));
  CHECK(page.count == 1 && page.last < seen.last);
  CHECK_OK(cairn_frame_history(one.frame, NULL, count_generation, &stopped, &st));
  CHECK(stopped.count == 1);
  options.generation = &generation;
  CHECK_OK(cairn_frame_open("history.b2frame", &options, &old.frame, &st));
  refresh(&old);
  CHECK(info_of(old.now).nitems == 5);
  CHECK_CODE(CAIRN_FAILED_PRECONDITION, cairn_frame_open_writer(old.frame, NULL, &old.writer, &st));
  cairn_snapshot_free(first);
  free_opened(&old);
  free_opened(&one);
}

static void refresh_sees_commits_and_snapshots_do_not_change(void) {
  opened one = edit_frame("refresh.b2frame", 5, 10);
  opened reader = open_path("refresh.b2frame");
  cairn_snapshot* before = NULL;
  CHECK_OK(cairn_frame_snapshot(reader.frame, &before, &st));
  refresh(&reader);
  CHECK(cairn_snapshot_equal(before, reader.now));
  CHECK(!cairn_snapshot_equal(before, NULL));
  append_item(&one, 5);
  commit(&one);
  refresh(&reader);
  CHECK(!cairn_snapshot_equal(before, reader.now));
  CHECK(info_of(before).nitems == 5 && info_of(reader.now).nitems == 6);
  CHECK(item_of(reader.now, 5) == 5);
  cairn_snapshot_free(before);
  free_opened(&one);
  free_opened(&reader);
}

static void waiting_ends_with_a_commit_or_the_timeout(void) {
  opened one = edit_frame("wait.b2frame", 5, 10);
  opened reader = open_path("wait.b2frame");
  cairn_snapshot* same = NULL;
  cairn_snapshot* after = NULL;
  cairn_snapshot* none = NULL;
  CHECK_OK(cairn_frame_snapshot(reader.frame, &reader.now, &st));
  CHECK_OK(cairn_frame_wait_for_commit(reader.frame, reader.now, 10, &same, &st));
  CHECK(cairn_snapshot_equal(reader.now, same));
  append_item(&one, 5);
  commit(&one);
  CHECK_OK(cairn_frame_wait_for_commit(reader.frame, reader.now, 60000, &after, &st));
  CHECK(info_of(after).nitems == 6);
  CHECK_CODE(CAIRN_INVALID_ARGUMENT,
             cairn_frame_wait_for_commit(reader.frame, NULL, 0, &none, &st));
  cairn_snapshot_free(same);
  cairn_snapshot_free(after);
  free_opened(&one);
  free_opened(&reader);
}

static void metadata_reads_back_and_makes_a_frame_like_it(void) {
  const cairn_metalayer layers[] = {{"unit", "K", 1}, {"site", "Lisbon", 6}};
  cairn_create_options options = CAIRN_CREATE_OPTIONS_INIT;
  cairn_create_options like = CAIRN_CREATE_OPTIONS_INIT;
  opened one = {NULL, NULL, NULL};
  opened other = {NULL, NULL, NULL};
  cairn_bytes* content = NULL;
  options.metalayers = layers;
  options.nmetalayers = 2;
  CHECK_OK(cairn_frame_create_in_memory(&options, &one.frame, &st));
  refresh(&one);
  CHECK_OK(cairn_snapshot_create_options(one.now, &like, &st));
  CHECK(like.nmetalayers == 2 && like.chunksize == options.chunksize);
  CHECK(like.compression != NULL && like.compression->codec == CAIRN_CODEC_LZ4);
  CHECK_OK(cairn_frame_create_in_memory(&like, &other.frame, &st));
  free_opened(&one);
  refresh(&other);
  CHECK(cairn_snapshot_metalayer_count(other.now) == 2);
  CHECK(strcmp(cairn_snapshot_metalayer_name(other.now, 1), "site") == 0);
  CHECK(cairn_snapshot_metalayer_name(other.now, 2) == NULL);
  CHECK_OK(cairn_snapshot_get_metalayer(other.now, "site", &content, &st));
  CHECK(content_is(content, "Lisbon"));
  CHECK_CODE(CAIRN_NOT_FOUND, cairn_snapshot_get_metalayer(other.now, "city", &content, &st));
  CHECK(content == NULL);
  free_opened(&other);
}

static void copy_and_increment_have_the_content(void) {
  opened one = edit_frame("from.b2frame", 25, 10);
  opened copy = {NULL, NULL, NULL};
  opened increment = {NULL, NULL, NULL};
  cairn_copy_options options = CAIRN_COPY_OPTIONS_INIT;
  cairn_increment_info info = {.struct_size = sizeof info};
  uint64_t there = 0, here = 0;
  options.overwrite = true;
  refresh(&one);
  CHECK_OK(cairn_snapshot_copy_to(one.now, "copy.b2frame", &options, &st));
  append_item(&one, 25);
  close_writer(&one);
  options.since = one.now;
  one.now = NULL;
  refresh(&one);
  CHECK_OK(cairn_snapshot_copy_to(one.now, "news.b2frame", &options, &st));
  increment = open_path("news.b2frame");
  refresh(&increment);
  copy = open_path("copy.b2frame");
  open_writer(&copy, NULL);
  CHECK_OK(cairn_writer_apply_increment(copy.writer, increment.now, &st));
  close_writer(&copy);
  refresh(&one);
  refresh(&copy);
  CHECK_OK(cairn_snapshot_content_hash(one.now, &here, &st));
  CHECK_OK(cairn_snapshot_content_hash(copy.now, &there, &st));
  CHECK(here == there && item_of(copy.now, 25) == 25);
  CHECK_OK(cairn_snapshot_increment_info(increment.now, &info, &st));
  CHECK(info.result_hash == here && info.base_hash != here);
  CHECK_CODE(CAIRN_FAILED_PRECONDITION, cairn_snapshot_increment_info(copy.now, &info, &st));
  cairn_snapshot_free((cairn_snapshot*)options.since);
  free_opened(&increment);
  free_opened(&copy);
  free_opened(&one);
}

static bool stop(void* context, int64_t done) {
  (void)done;
  ++*(int*)context;
  return false;
}

static void progress_that_returns_false_stops_a_copy(void) {
  opened data = make_and_open("long.b2frame", 100, 10);
  cairn_copy_options options = CAIRN_COPY_OPTIONS_INIT;
  cairn_compact_options compact = CAIRN_COMPACT_OPTIONS_INIT;
  int calls = 0;
  options.progress = stop;
  options.context = &calls;
  refresh(&data);
  CHECK_CODE(CAIRN_CANCELLED, cairn_snapshot_copy_to(data.now, "none.b2frame", &options, &st));
  CHECK(calls == 1 && fopen("none.b2frame", "r") == NULL);
  compact.progress = stop;
  compact.context = &calls;
  CHECK_CODE(CAIRN_CANCELLED, cairn_frame_compact(data.frame, &compact, NULL, &st));
  CHECK(calls == 2);
  free_opened(&data);
}

const test_case frame_tests[] = {
    TEST_CASE(items_read_back_after_commit),
    TEST_CASE(info_describes_the_frame),
    TEST_CASE(frame_of_a_recipe_names_its_kind),
    TEST_CASE(reads_agree),
    TEST_CASE(fields_read_as_in_their_items),
    TEST_CASE(chunk_in_place_outlives_frame_and_snapshot),
    TEST_CASE(frame_in_memory_becomes_a_buffer_that_opens),
    TEST_CASE(file_that_is_no_frame_is_refused),
    TEST_CASE(taken_name_needs_overwrite),
    TEST_CASE(sparse_frame_is_a_directory),
    TEST_CASE(older_generation_opens),
    TEST_CASE(refresh_sees_commits_and_snapshots_do_not_change),
    TEST_CASE(waiting_ends_with_a_commit_or_the_timeout),
    TEST_CASE(metadata_reads_back_and_makes_a_frame_like_it),
    TEST_CASE(copy_and_increment_have_the_content),
    TEST_CASE(progress_that_returns_false_stops_a_copy),
    {NULL, NULL},
};
