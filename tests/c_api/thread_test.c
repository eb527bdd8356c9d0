// Threads, and memory over many calls.
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/c_api/check.h"

enum { kItems = 5000 };

typedef struct reader {
  const cairn_snapshot* snapshot;
  int64_t sum;
  bool ok;
} reader;

// Statuses are the threads' own: the checks of check.h belong to the main thread.
static void* sum_items(void* argument) {
  reader* self = argument;
  self->ok = true;
  for (int64_t i = 0; i < kItems; ++i) {
    cairn_status status;
    int32_t item = 0;
    const cairn_code code =
        cairn_snapshot_read_items(self->snapshot, i, &item, sizeof item, &status);
    self->ok = self->ok && code == CAIRN_OK && status.code == CAIRN_OK;
    self->sum += item;
  }
  return NULL;
}

static void check_readers(reader* readers) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) {
    CHECK(pthread_create(&threads[i], NULL, sum_items, &readers[i]) == 0);
  }
  for (int i = 0; i < 2; ++i) {
    CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(readers[i].ok && readers[i].sum == (int64_t)kItems * (kItems - 1) / 2);
  }
}

static void threads_read_snapshots_of_their_own(void) {
  cairn_frame* frame = make_and_open("threads.b2frame", kItems, 100).frame;
  cairn_snapshot* snapshots[2] = {NULL, NULL};
  reader readers[2] = {{NULL, 0, false}, {NULL, 0, false}};
  for (int i = 0; i < 2; ++i) {
    snapshots[i] = snapshot_of(frame);
    readers[i].snapshot = snapshots[i];
  }
  cairn_frame_free(frame);
  check_readers(readers);
  for (int i = 0; i < 2; ++i) cairn_snapshot_free(snapshots[i]);
}

static void threads_share_a_snapshot(void) {
  cairn_snapshot* snapshot = make_and_read("threads.b2frame", kItems, 100);
  reader readers[2] = {{NULL, 0, false}, {NULL, 0, false}};
  for (int i = 0; i < 2; ++i) readers[i].snapshot = snapshot;
  check_readers(readers);
  cairn_snapshot_free(snapshot);
}

typedef struct committer {
  pthread_mutex_t* mutex;
  cairn_writer* writer;
  bool ok;
} committer;

static void* commit_and_sync(void* argument) {
  committer* self = argument;
  self->ok = true;
  for (int32_t i = 0; i < 20; ++i) {
    cairn_snapshot* committed = NULL;
    pthread_mutex_lock(self->mutex);
    self->ok = self->ok && cairn_writer_append(self->writer, &i, sizeof i, NULL) == CAIRN_OK;
    self->ok = self->ok && cairn_writer_commit(self->writer, CAIRN_DURABILITY_PROCESS, &committed,
                                               NULL) == CAIRN_OK;
    pthread_mutex_unlock(self->mutex);
    self->ok = self->ok && cairn_writer_sync(self->writer, committed, NULL) == CAIRN_OK;
    cairn_snapshot_free(committed);
  }
  return NULL;
}

static void threads_commit_in_turn_and_sync_together(void) {
  pthread_mutex_t mutex;
  pthread_t threads[2];
  committer committers[2];
  opened one = edit_frame("group.b2frame", 10, 10);
  CHECK(pthread_mutex_init(&mutex, NULL) == 0);
  for (int i = 0; i < 2; ++i) {
    committers[i] = (committer){&mutex, one.writer, false};
    CHECK(pthread_create(&threads[i], NULL, commit_and_sync, &committers[i]) == 0);
  }
  for (int i = 0; i < 2; ++i) {
    CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(committers[i].ok);
  }
  refresh(&one);
  CHECK(info_of(one.now).nitems == 50);
  free_opened(&one);
  pthread_mutex_destroy(&mutex);
}

static int64_t resident_pages(void) {
  long size = 0, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  CHECK(file != NULL && fscanf(file, "%ld %ld", &size, &resident) == 2);
  if (file != NULL) fclose(file);
  return resident;
}

// Every kind of handle that reads, and failures.
static void call_often(cairn_frame* frame, int times) {
  const cairn_snapshot* snapshot = NULL;
  cairn_snapshot* made = NULL;
  cairn_bytes* bytes = NULL;
  cairn_status status;
  int32_t item = 0;
  bool ok = true;
  for (int i = 0; i < times; ++i) {
    ok = ok && cairn_frame_snapshot(frame, &made, &status) == CAIRN_OK;
    snapshot = made;
    ok = ok && cairn_snapshot_read_items(snapshot, i % kItems, &item, 4, &status) == CAIRN_OK;
    ok = ok && item == i % kItems;
    ok = ok && cairn_snapshot_get_chunk(snapshot, i % 50, &bytes, &status) == CAIRN_OK;
    cairn_bytes_free(bytes);
    ok = ok && cairn_snapshot_vlmetalayer_count(snapshot) == 0;
    ok = ok && cairn_snapshot_read_items(snapshot, kItems, &item, 4, &status) == CAIRN_OUT_OF_RANGE;
    cairn_snapshot_free(made);
  }
  CHECK(ok);
}

// A million calls; the sanitizers find a leak in fewer, and need memory of their own.
static void memory_does_not_grow_with_calls(void) {
  const int times = SANITIZED ? 2000 : 200 * 1000;
  cairn_frame* frame = make_and_open("often.b2frame", kItems, 100).frame;
  int64_t before = 0;
  call_often(frame, times / 10);
  before = resident_pages();
  call_often(frame, times);
  if (!SANITIZED) CHECK((resident_pages() - before) * sysconf(_SC_PAGESIZE) < 1 << 20);
  cairn_frame_free(frame);
}

const test_case thread_tests[] = {
    TEST_CASE(threads_read_snapshots_of_their_own),
    TEST_CASE(threads_share_a_snapshot),
    TEST_CASE(threads_commit_in_turn_and_sync_together),
    TEST_CASE(memory_does_not_grow_with_calls),
    {NULL, NULL},
};
