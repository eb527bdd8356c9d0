// Collections of a few members, for the tests of collections.
#ifndef CAIRN_TESTS_C_API_COLLECTED_H_
#define CAIRN_TESTS_C_API_COLLECTED_H_

#include "tests/c_api/check.h"

// A collection, its writer, and the state that the case looks at; each may be NULL.
typedef struct collected {
  cairn_collection* collection;
  cairn_collection_writer* writer;
  cairn_collection_snapshot* now;
} collected;

static inline void look(collected* to) {
  cairn_collection_snapshot_free(to->now);
  CHECK_OK(cairn_collection_refresh(to->collection, &to->now, &st));
}

static inline void commit_all(collected* to) {
  CHECK_OK(cairn_collection_writer_commit(to->writer, NULL, &st));
  look(to);
}

static inline void free_collected(collected* to) {
  cairn_collection_snapshot_free(to->now);
  cairn_collection_writer_free(to->writer);
  cairn_collection_free(to->collection);
}

// Stages a new array of int32_t items 0, 1, 2, …
static inline void add_items(collected* to, const char* name, int32_t nitems) {
  cairn_compression_options compression = CAIRN_COMPRESSION_OPTIONS_INIT;
  cairn_create_options options = CAIRN_CREATE_OPTIONS_INIT;
  cairn_writer* member = NULL;
  compression.typesize = sizeof(int32_t);
  options.compression = &compression;
  options.chunksize = 40;
  CHECK_OK(cairn_collection_writer_add(to->writer, name, &options, &member, &st));
  for (int32_t i = 0; i < nitems; ++i) CHECK_OK(cairn_writer_append(member, &i, sizeof i, &st));
  cairn_writer_free(member);
}

static inline cairn_writer* edit(collected* of, const char* name) {
  cairn_writer* member = NULL;
  CHECK_OK(cairn_collection_writer_edit(of->writer, name, &member, &st));
  return member;
}

static inline void append_to(collected* of, const char* name, int32_t item) {
  cairn_writer* member = edit(of, name);
  CHECK_OK(cairn_writer_append(member, &item, sizeof item, &st));
  cairn_writer_free(member);
}

// A new collection with the members /day/rain and /day/temp, of 3 and 30 items.
// Each case has a path of its own.
static inline collected make_collection(const char* path) {
  collected made = {0};
  CHECK_OK(cairn_collection_create(path, NULL, &made.collection, &st));
  CHECK_OK(cairn_collection_open_writer(made.collection, NULL, &made.writer, &st));
  add_items(&made, "/day/temp", 30);
  add_items(&made, "/day/rain", 3);
  commit_all(&made);
  return made;
}

// The number of items of a member, or -1.
static inline int64_t size_of(const cairn_collection_snapshot* state, const char* name) {
  cairn_snapshot* member = NULL;
  int64_t size = -1;
  if (cairn_collection_snapshot_open_member(state, name, &member, &st) == CAIRN_OK) {
    size = info_of(member).nitems;
  }
  cairn_snapshot_free(member);
  return size;
}

#endif  // CAIRN_TESTS_C_API_COLLECTED_H_
