// Collections: states, members, and commits over several of them.
#include <stdio.h>
#include <string.h>

#include "tests/c_api/check.h"
#include "tests/c_api/collected.h"

static void names_are_listed_in_order(void) {
  collected one = make_collection("names.b2d");
  cairn_writer* attributes = NULL;
  CHECK(cairn_collection_snapshot_member_count(one.now) == 2);
  CHECK(strcmp(cairn_collection_snapshot_member_name(one.now, 0), "/day/rain") == 0);
  CHECK(strcmp(cairn_collection_snapshot_member_name(one.now, 1), "/day/temp") == 0);
  CHECK(cairn_collection_snapshot_member_name(one.now, 2) == NULL);
  CHECK(cairn_collection_snapshot_group_count(one.now) == 2);
  CHECK(strcmp(cairn_collection_snapshot_group_name(one.now, 0), "/") == 0);
  CHECK(strcmp(cairn_collection_snapshot_group_name(one.now, 1), "/day") == 0);
  CHECK(cairn_collection_snapshot_group_name(one.now, 2) == NULL);
  CHECK_OK(cairn_collection_writer_edit_attributes(one.writer, "/a", &attributes, &st));
  CHECK_OK(cairn_writer_set_vlmetalayer(attributes, "unit", "K", 1, &st));
  cairn_writer_free(attributes);
  commit_all(&one);
  CHECK(cairn_collection_snapshot_member_count(one.now) == 2);
  CHECK(strcmp(cairn_collection_snapshot_group_name(one.now, 1), "/a") == 0);
  free_collected(&one);
}

static void commit_changes_all_members_and_a_state_stays(void) {
  collected one = make_collection("commit.b2d");
  cairn_collection_snapshot* before = NULL;
  cairn_collection_snapshot* same = NULL;
  uint64_t number = 0;
  CHECK_OK(cairn_collection_newest(one.collection, &before, &st));
  CHECK(cairn_collection_snapshot_number(before) == 1);
  append_to(&one, "/day/temp", 7);
  append_to(&one, "/day/rain", 8);
  CHECK_OK(cairn_collection_refresh(one.collection, &same, &st));
  CHECK(cairn_collection_snapshot_equal(before, same));
  CHECK_OK(cairn_collection_writer_commit(one.writer, &number, &st));
  look(&one);
  CHECK(number == 2 && cairn_collection_snapshot_number(one.now) == 2);
  CHECK(!cairn_collection_snapshot_equal(before, one.now));
  CHECK(size_of(one.now, "/day/temp") == 31 && size_of(one.now, "/day/rain") == 4);
  CHECK(size_of(before, "/day/temp") == 30 && size_of(before, "/day/rain") == 3);
  cairn_collection_snapshot_free(before);
  cairn_collection_snapshot_free(same);
  free_collected(&one);
}

static void rollback_and_free_drop_what_is_staged(void) {
  collected one = make_collection("rollback.b2d");
  append_to(&one, "/day/temp", 7);
  add_items(&one, "/new", 1);
  CHECK_OK(cairn_collection_writer_rollback(one.writer, &st));
  commit_all(&one);
  CHECK(cairn_collection_snapshot_number(one.now) == 1);
  append_to(&one, "/day/temp", 7);
  cairn_collection_writer_free(one.writer);
  CHECK_OK(cairn_collection_open_writer(one.collection, NULL, &one.writer, &st));
  commit_all(&one);
  CHECK(size_of(one.now, "/day/temp") == 30);
  free_collected(&one);
}

static void members_are_removed_replaced_copied_and_moved(void) {
  collected one = make_collection("moves.b2d");
  cairn_collection_writer* writer = one.writer;
  CHECK_OK(cairn_collection_writer_remove(writer, "/day/rain", &st));
  add_items(&one, "/day/rain", 5);
  CHECK_OK(cairn_collection_writer_copy(writer, "/day/temp", "/copy", &st));
  commit_all(&one);
  CHECK(size_of(one.now, "/day/rain") == 5 && size_of(one.now, "/copy") == 30);
  CHECK_OK(cairn_collection_writer_move(writer, "/copy", "/g/moved", &st));
  CHECK_OK(cairn_collection_writer_remove(writer, "/day/temp", &st));
  commit_all(&one);
  CHECK(cairn_collection_snapshot_member_count(one.now) == 2);
  CHECK(size_of(one.now, "/g/moved") == 30);
  CHECK_CODE(CAIRN_NOT_FOUND, cairn_collection_writer_remove(writer, "/copy", &st));
  CHECK_CODE(CAIRN_NOT_FOUND, cairn_collection_writer_move(writer, "/x", "/y", &st));
  CHECK_CODE(CAIRN_ALREADY_EXISTS,
             cairn_collection_writer_copy(writer, "/g/moved", "/day/rain", &st));
  append_to(&one, "/g/moved", 1);
  CHECK_CODE(CAIRN_FAILED_PRECONDITION,
             cairn_collection_writer_copy(writer, "/g/moved", "/z", &st));
  free_collected(&one);
}

static void compacted_member_takes_the_place_of_the_old_one(void) {
  collected one = make_collection("compact.b2d");
  CHECK_OK(cairn_collection_writer_compact(one.writer, "/day/temp", &st));
  append_to(&one, "/day/temp", 7);
  commit_all(&one);
  CHECK(cairn_collection_snapshot_number(one.now) == 2);
  CHECK(size_of(one.now, "/day/temp") == 31);
  CHECK_CODE(CAIRN_NOT_FOUND, cairn_collection_writer_compact(one.writer, "/x", &st));
  append_to(&one, "/day/temp", 7);
  CHECK_CODE(CAIRN_FAILED_PRECONDITION,
             cairn_collection_writer_compact(one.writer, "/day/temp", &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_collection_writer_compact(NULL, "/a", &st));
  free_collected(&one);
}

static void groups_have_attributes(void) {
  collected one = make_collection("groups.b2d");
  cairn_writer* attributes = NULL;
  cairn_snapshot* read = NULL;
  cairn_bytes* content = NULL;
  CHECK_CODE(CAIRN_NOT_FOUND,
             cairn_collection_snapshot_open_attributes(one.now, "/day", &read, &st));
  CHECK_OK(cairn_collection_writer_edit_attributes(one.writer, "/day", &attributes, &st));
  CHECK_OK(cairn_writer_set_vlmetalayer(attributes, "unit", "K", 1, &st));
  // The group has no attributes any more, and the writer goes on.
  CHECK_OK(cairn_collection_writer_rollback(one.writer, &st));
  CHECK_OK(cairn_writer_set_vlmetalayer(attributes, "unit", "C", 1, &st));
  commit_all(&one);
  CHECK_OK(cairn_collection_snapshot_open_attributes(one.now, "/day", &read, &st));
  CHECK_OK(cairn_snapshot_get_vlmetalayer(read, "unit", &content, &st));
  CHECK(content_is(content, "C"));
  cairn_snapshot_free(read);
  cairn_writer_free(attributes);
  free_collected(&one);
}

static void writer_of_a_member_takes_all_edits_and_goes_on_after_a_commit(void) {
  const int32_t items[10] = {0}, two[] = {-1, -2};
  const int64_t order[] = {2, 1, 0};
  int32_t chunk[10] = {1};
  collected one = make_collection("edits.b2d");
  cairn_writer* member = edit(&one, "/day/temp");
  cairn_snapshot* staged = NULL;
  cairn_snapshot* read = NULL;
  cairn_bytes* stored = NULL;
  CHECK_OK(cairn_writer_write_items(member, 9, two, sizeof two, &st));
  CHECK_OK(cairn_writer_update_chunk(member, 2, items, sizeof items, &st));
  CHECK_OK(cairn_writer_read_chunk(member, 2, chunk, sizeof chunk, &st));
  CHECK(chunk[0] == 0);
  CHECK_OK(cairn_writer_staged_snapshot(member, &staged, &st));
  CHECK(item_of(staged, 9) == -1 && item_of(staged, 10) == -2 && item_of(staged, 25) == 0);
  cairn_snapshot_free(staged);
  commit_all(&one);
  CHECK_OK(cairn_writer_reorder_chunks(member, order, 3, &st));
  CHECK_OK(cairn_writer_set_vlmetalayer(member, "note", "x", 1, &st));
  commit_all(&one);
  CHECK_OK(cairn_collection_snapshot_open_member(one.now, "/day/temp", &read, &st));
  CHECK(item_of(read, 29) == -1 && item_of(read, 0) == 0 && item_of(read, 11) == 11);
  CHECK_OK(cairn_snapshot_get_chunk(read, 1, &stored, &st));
  CHECK_OK(cairn_writer_insert_compressed(member, 0, cairn_bytes_data(stored),
                                          cairn_bytes_size(stored), &st));
  CHECK_OK(cairn_writer_update_compressed(member, 3, cairn_bytes_data(stored),
                                          cairn_bytes_size(stored), &st));
  CHECK_OK(cairn_writer_append_compressed(member, cairn_bytes_data(stored),
                                          cairn_bytes_size(stored), &st));
  CHECK_OK(cairn_writer_delete_chunks(member, 1, 1, &st));
  cairn_bytes_free(stored);
  cairn_snapshot_free(read);
  commit_all(&one);
  CHECK_OK(cairn_collection_snapshot_open_member(one.now, "/day/temp", &read, &st));
  CHECK(info_of(read).nchunks == 4);
  CHECK(item_of(read, 1) == 11 && item_of(read, 21) == 11 && item_of(read, 31) == 11);
  cairn_snapshot_free(read);
  cairn_writer_free(member);
  free_collected(&one);
}

static void writer_of_a_member_does_not_commit(void) {
  collected one = make_collection("members.b2d");
  cairn_writer* member = edit(&one, "/day/temp");
  bool waits = false;
  CHECK_CODE(CAIRN_FAILED_PRECONDITION,
             cairn_writer_commit(member, CAIRN_DURABILITY_MACHINE, NULL, &st));
  CHECK_MESSAGE("/day/temp: is a member, for which the writer of the collection does this");
  CHECK_CODE(CAIRN_FAILED_PRECONDITION, cairn_writer_checkpoint(member, &st));
  CHECK_CODE(CAIRN_FAILED_PRECONDITION, cairn_writer_flush(member, &st));
  CHECK_CODE(CAIRN_FAILED_PRECONDITION, cairn_writer_rollback(member, &st));
  CHECK_CODE(CAIRN_FAILED_PRECONDITION, cairn_writer_reclaim(member, NULL, NULL, &st));
  CHECK_CODE(CAIRN_FAILED_PRECONDITION, cairn_writer_suspend(member, &st));
  CHECK_CODE(CAIRN_FAILED_PRECONDITION, cairn_writer_resume(member, 0, &st));
  CHECK_CODE(CAIRN_FAILED_PRECONDITION, cairn_writer_has_waiters(member, &waits, &st));
  CHECK_CODE(CAIRN_FAILED_PRECONDITION, cairn_writer_close(member, &st));
  cairn_writer_free(member);
  free_collected(&one);
}

static void writer_of_a_member_fails_after_that_of_the_collection(void) {
  const int32_t item = 1;
  collected one = make_collection("ends.b2d");
  cairn_writer* member = edit(&one, "/day/temp");
  CHECK_OK(cairn_collection_writer_remove(one.writer, "/day/temp", &st));
  CHECK_CODE(CAIRN_NOT_FOUND, cairn_writer_append(member, &item, sizeof item, &st));
  CHECK_OK(cairn_collection_writer_rollback(one.writer, &st));
  CHECK_OK(cairn_writer_append(member, &item, sizeof item, &st));
  CHECK_OK(cairn_collection_writer_close(one.writer, &st));
  CHECK_CODE(CAIRN_FAILED_PRECONDITION, cairn_writer_append(member, &item, sizeof item, &st));
  CHECK_MESSAGE("the writer is closed");
  cairn_collection_writer_free(one.writer);
  one.writer = NULL;
  CHECK_CODE(CAIRN_FAILED_PRECONDITION, cairn_writer_append(member, &item, sizeof item, &st));
  CHECK_MESSAGE("/day/temp: the writer of the collection was freed");
  look(&one);
  CHECK(size_of(one.now, "/day/temp") == 31);
  cairn_writer_free(member);
  free_collected(&one);
}

static void collection_has_one_writer(void) {
  collected one = make_collection("turns.b2d");
  cairn_writer_options options = CAIRN_WRITER_OPTIONS_INIT;
  cairn_collection_writer* other = NULL;
  bool waits = true;
  options.wait_ms = 10;
  CHECK_CODE(CAIRN_UNAVAILABLE,
             cairn_collection_open_writer(one.collection, &options, &other, &st));
  CHECK(other == NULL);
  CHECK_OK(cairn_collection_writer_has_waiters(one.writer, &waits, &st));
  CHECK(!waits);
  CHECK_OK(cairn_collection_writer_close(one.writer, &st));
  CHECK_OK(cairn_collection_open_writer(one.collection, &options, &other, &st));
  cairn_collection_writer_free(other);
  free_collected(&one);
}

static void writers_that_share_a_collection_hold_their_members(void) {
  collected one = make_collection("shared.b2d");
  cairn_collection_writer* other = NULL;
  cairn_writer* edited = NULL;
  commit_all(&one);
  CHECK_CODE(CAIRN_UNAVAILABLE,
             cairn_collection_open_shared_writer(one.collection, NULL, &other, &st));
  CHECK_OK(cairn_collection_writer_close(one.writer, &st));
  cairn_collection_writer_free(one.writer);
  CHECK_OK(cairn_collection_open_shared_writer(one.collection, NULL, &one.writer, &st));
  CHECK_OK(cairn_collection_open_shared_writer(one.collection, NULL, &other, &st));
  append_to(&one, "/day/temp", 7);
  CHECK_CODE(CAIRN_UNAVAILABLE, cairn_collection_writer_edit(other, "/day/temp", &edited, &st));
  CHECK_OK(cairn_collection_writer_remove(other, "/day/rain", &st));
  commit_all(&one);
  CHECK_OK(cairn_collection_writer_commit(other, NULL, &st));
  CHECK_OK(cairn_collection_writer_close(other, &st));
  cairn_collection_writer_free(other);
  free_collected(&one);
}

static void closed_members_are_frames_by_themselves(void) {
  collected one = make_collection("frames.b2d");
  cairn_snapshot* alone = NULL;
  CHECK_OK(cairn_collection_writer_close(one.writer, &st));
  alone = read_back("frames.b2d/day/temp.b2f");
  CHECK(info_of(alone).nitems == 30 && info_of(alone).journal_size == 0);
  cairn_snapshot_free(alone);
  free_collected(&one);
}

static void backup_is_a_collection_of_one_state(void) {
  collected one = make_collection("source.b2d");
  collected copy = {0};
  append_to(&one, "/day/temp", 7);
  CHECK_OK(cairn_collection_snapshot_copy_to(one.now, "backup.b2d", &st));
  CHECK_CODE(CAIRN_ALREADY_EXISTS, cairn_collection_snapshot_copy_to(one.now, "backup.b2d", &st));
  CHECK_OK(cairn_collection_open("backup.b2d", NULL, &copy.collection, &st));
  look(&copy);
  CHECK(size_of(copy.now, "/day/temp") == 30 && size_of(copy.now, "/day/rain") == 3);
  free_collected(&copy);
  free_collected(&one);
}

static void note_finding(void* context, const cairn_finding* finding) {
  char* sections = context;
  strcat(strcat(sections, finding->section), "|");
}

static bool stop(void* context, int64_t done) {
  (void)context;
  return done < 0;
}

static void verification_names_damaged_members(void) {
  collected one = make_collection("damaged.b2d");
  cairn_verify_options options = CAIRN_VERIFY_OPTIONS_INIT;
  cairn_verify_report report = {.struct_size = sizeof report};
  cairn_snapshot* member = NULL;
  cairn_chunk_entry entry = {.struct_size = sizeof entry};
  char sections[1024] = "";
  options.on_finding = &note_finding;
  options.context = sections;
  CHECK_OK(cairn_collection_snapshot_verify(one.now, &options, &report, &st));
  CHECK(report.nfindings == 0 && report.sealed && report.nchunks >= 4 && sections[0] == '\0');
  CHECK_OK(cairn_collection_snapshot_open_member(one.now, "/day/temp", &member, &st));
  CHECK_OK(cairn_snapshot_get_entry(member, 1, &entry, &st));
  cairn_snapshot_free(member);
  CHECK_OK(cairn_collection_writer_close(one.writer, &st));
  flip_byte("damaged.b2d/day/temp.b2f", entry.offset + 33);
  CHECK(remove("damaged.b2d/day/rain.b2f") == 0);
  look(&one);
  CHECK_OK(cairn_collection_snapshot_verify(one.now, &options, &report, &st));
  CHECK(report.nfindings == 2);
  CHECK(strcmp(sections, "/day/rain|/day/temp: chunk 1|") == 0);
  options.progress = &stop;
  CHECK_CODE(CAIRN_CANCELLED, cairn_collection_snapshot_verify(one.now, &options, &report, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_collection_snapshot_verify(one.now, NULL, NULL, &st));
  free_collected(&one);
}

static void missing_and_foreign_collections_are_refused(void) {
  collected one = make_collection("twice.b2d");
  cairn_collection* other = NULL;
  cairn_writer* member = NULL;
  CHECK_CODE(CAIRN_NOT_FOUND, cairn_collection_open("none.b2d", NULL, &other, &st));
  CHECK_CODE(CAIRN_ALREADY_EXISTS, cairn_collection_create("twice.b2d", NULL, &other, &st));
  CHECK(other == NULL);
  CHECK_CODE(CAIRN_ALREADY_EXISTS,
             cairn_collection_writer_add(one.writer, "/day/temp", NULL, &member, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT,
             cairn_collection_writer_add(one.writer, "/../x", NULL, &member, &st));
  CHECK_CODE(CAIRN_NOT_FOUND, cairn_collection_writer_edit(one.writer, "/x", &member, &st));
  CHECK(member == NULL && size_of(one.now, "/x") == -1);
  free_collected(&one);
}

static void null_handles_are_refused(void) {
  cairn_collection_snapshot* snapshot = NULL;
  cairn_collection_writer* writer = NULL;
  cairn_collection* collection = NULL;
  cairn_snapshot* member = NULL;
  cairn_writer* edited = NULL;
  bool waits = false;
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_collection_open(NULL, NULL, &collection, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_collection_create("a.b2d", NULL, NULL, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_collection_newest(NULL, &snapshot, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_collection_refresh(NULL, &snapshot, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_collection_open_writer(NULL, NULL, &writer, &st));
  CHECK(cairn_collection_snapshot_number(NULL) == 0);
  CHECK(cairn_collection_snapshot_member_count(NULL) == 0);
  CHECK(cairn_collection_snapshot_member_name(NULL, 0) == NULL);
  CHECK(cairn_collection_snapshot_group_count(NULL) == 0);
  CHECK(cairn_collection_snapshot_group_name(NULL, 0) == NULL);
  CHECK(!cairn_collection_snapshot_equal(NULL, NULL));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT,
             cairn_collection_snapshot_open_member(NULL, "/a", &member, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT,
             cairn_collection_snapshot_open_attributes(NULL, "/", &member, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_collection_snapshot_copy_to(NULL, "b.b2d", &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_collection_writer_edit(NULL, "/a", &edited, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_collection_writer_add(NULL, "/a", NULL, &edited, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT,
             cairn_collection_writer_edit_attributes(NULL, "/", &edited, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_collection_writer_remove(NULL, "/a", &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_collection_writer_copy(NULL, "/a", "/b", &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_collection_writer_move(NULL, "/a", "/b", &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_collection_writer_commit(NULL, NULL, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_collection_writer_rollback(NULL, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_collection_writer_has_waiters(NULL, &waits, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_collection_writer_close(NULL, &st));
  cairn_collection_free(NULL);
  cairn_collection_snapshot_free(NULL);
  cairn_collection_writer_free(NULL);
}

const test_case collection_tests[] = {
    TEST_CASE(names_are_listed_in_order),
    TEST_CASE(commit_changes_all_members_and_a_state_stays),
    TEST_CASE(rollback_and_free_drop_what_is_staged),
    TEST_CASE(members_are_removed_replaced_copied_and_moved),
    TEST_CASE(compacted_member_takes_the_place_of_the_old_one),
    TEST_CASE(groups_have_attributes),
    TEST_CASE(writer_of_a_member_takes_all_edits_and_goes_on_after_a_commit),
    TEST_CASE(writer_of_a_member_does_not_commit),
    TEST_CASE(writer_of_a_member_fails_after_that_of_the_collection),
    TEST_CASE(collection_has_one_writer),
    TEST_CASE(writers_that_share_a_collection_hold_their_members),
    TEST_CASE(closed_members_are_frames_by_themselves),
    TEST_CASE(backup_is_a_collection_of_one_state),
    TEST_CASE(verification_names_damaged_members),
    TEST_CASE(missing_and_foreign_collections_are_refused),
    TEST_CASE(null_handles_are_refused),
    {NULL, NULL}};
