// Collections: older commits and increments.
#include <stdio.h>
#include <string.h>

#include "tests/c_api/check.h"
#include "tests/c_api/collected.h"

// A history, as it was told.
typedef struct told {
  int commits;
  uint64_t first;
  uint64_t last;
  char changed[64];  // the first member that the last commit changed
  size_t added;      // by the last commit
  size_t attributes;
} told;

static bool note_commit(void* context, const cairn_commit_info* info) {
  told* to = context;
  if (to->commits++ == 0) to->first = info->number;
  to->last = info->number;
  to->added = info->added_count;
  to->attributes = info->attributes_count;
  to->changed[0] = 0;
  if (info->changed_count > 0) snprintf(to->changed, sizeof to->changed, "%s", info->changed[0]);
  return to->commits < 3;
}

static void older_commits_are_listed_and_opened(void) {
  collected one = make_collection("history.b2d");
  cairn_writer_options options = CAIRN_WRITER_OPTIONS_INIT;
  cairn_collection_snapshot* old = NULL;
  told found = {0};
  const uint64_t first = cairn_collection_snapshot_number(one.now);
  CHECK_OK(cairn_collection_history(one.collection, note_commit, &found, &st));
  CHECK(found.commits == 1 && found.first == first && found.added == 0);
  cairn_collection_writer_free(one.writer);
  options.keep_generations = 5;
  CHECK_OK(cairn_collection_open_writer(one.collection, &options, &one.writer, &st));
  append_to(&one, "/day/temp", 30);
  add_items(&one, "/wind", 1);
  commit_all(&one);
  found = (told){0};
  CHECK_OK(cairn_collection_history(one.collection, note_commit, &found, &st));
  CHECK(found.commits == 2 && found.first == first && found.last == first + 1);
  CHECK(strcmp(found.changed, "/day/temp") == 0 && found.added == 1 && found.attributes == 0);
  CHECK_OK(cairn_collection_open_commit(one.collection, first, &old, &st));
  CHECK(size_of(old, "/day/temp") == 30 && size_of(one.now, "/day/temp") == 31);
  cairn_collection_snapshot_free(old);
  CHECK_CODE(CAIRN_NOT_FOUND, cairn_collection_open_commit(one.collection, 77, &old, &st));
  for (int i = 0; i < 4; ++i) {
    append_to(&one, "/wind", i);
    commit_all(&one);
  }
  found = (told){0};
  CHECK_OK(cairn_collection_history(one.collection, note_commit, &found, &st));
  CHECK(found.commits == 3);  // it said that it had enough
  free_collected(&one);
}

static void increments_bring_a_copy_up_to_date(void) {
  collected one = make_collection("whole.b2d");
  collected copy = {0};
  cairn_collection* increment = NULL;
  cairn_collection_snapshot* changes = NULL;
  bool applied = false;
  CHECK_OK(cairn_collection_snapshot_copy_to(one.now, "whole-copy.b2d", &st));
  CHECK_OK(cairn_collection_open("whole-copy.b2d", NULL, &copy.collection, &st));
  look(&copy);
  append_to(&one, "/day/temp", 30);
  commit_all(&one);
  CHECK_OK(cairn_collection_snapshot_write_increment(one.now, "whole.b2z", copy.now, &st));
  CHECK_OK(cairn_collection_open("whole.b2z", NULL, &increment, &st));
  CHECK_OK(cairn_collection_newest(increment, &changes, &st));
  CHECK_OK(cairn_collection_apply_increment(copy.collection, changes, NULL, &applied, &st));
  look(&copy);
  CHECK(applied && size_of(copy.now, "/day/temp") == 31);
  CHECK_OK(cairn_collection_apply_increment(copy.collection, changes, NULL, &applied, &st));
  CHECK(!applied);
  CHECK_CODE(CAIRN_FAILED_PRECONDITION,
             cairn_collection_apply_increment(copy.collection, one.now, NULL, NULL, &st));
  cairn_collection_snapshot_free(changes);
  cairn_collection_free(increment);
  free_collected(&copy);
  free_collected(&one);
}

static void null_handles_are_refused(void) {
  cairn_collection_snapshot* snapshot = NULL;
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_collection_history(NULL, note_commit, NULL, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_collection_open_commit(NULL, 1, &snapshot, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_collection_apply_increment(NULL, NULL, NULL, NULL, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT,
             cairn_collection_snapshot_write_increment(NULL, "a.b2z", NULL, &st));
}

const test_case collection_history_tests[] = {TEST_CASE(older_commits_are_listed_and_opened),
                                              TEST_CASE(increments_bring_a_copy_up_to_date),
                                              TEST_CASE(null_handles_are_refused),
                                              {NULL, NULL}};
