/* Arrays and views whose file other handles change, in this process and in another one. */
#include <b2nd.h>
#include <blosc2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenario.h"

enum { kRoom = 100 * 60 };

static int32_t items[kRoom];
static int32_t back[kRoom];

static b2nd_array_t* make_array(char* path, bool contiguous, int64_t rows) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  blosc2_storage storage = {.contiguous = contiguous, .urlpath = path, .cparams = &cparams};
  const int64_t shape[] = {rows, 30};
  const int32_t chunkshape[] = {10, 15}, blockshape[] = {4, 5};
  b2nd_context_t* context =
      b2nd_create_ctx(&storage, 2, shape, chunkshape, blockshape, "<i4", 0, NULL, 0);
  for (int32_t i = 0; i < kRoom; ++i) items[i] = i + 1;
  b2nd_array_t* array = NULL;
  if (b2nd_from_cbuffer(context, &array, items, rows * 30 * 4) < 0) printf("not made\n");
  b2nd_free_ctx(context);
  return array;
}

static void show_shape(const char* what, const b2nd_array_t* array) {
  printf("  %s:", what);
  for (int i = 0; i < array->ndim; ++i) printf(" %lld", (long long)array->shape[i]);
  printf(" nitems %lld extnitems %lld", (long long)array->nitems, (long long)array->extnitems);
  printf(" nchunks %lld nbytes %lld", (long long)array->sc->nchunks, (long long)array->sc->nbytes);
  printf(" layers %d\n", array->sc->nvlmetalayers);
}

static void show_items(const char* what, b2nd_array_t* array) {
  const int64_t start[B2ND_MAX_DIM] = {0};
  int64_t shape[B2ND_MAX_DIM] = {0};
  int64_t count = 1;
  for (int i = 0; i < array->ndim; ++i) count *= shape[i] = array->shape[i];
  memset(back, 0x55, sizeof(back));
  const int code = b2nd_get_slice_cbuffer(array, start, shape, back, shape, count * 4);
  printf("  %s: read %d", what, code < 0 ? -1 : code);
  printf(" %016llx\n", (unsigned long long)digest(back, code < 0 ? 0 : (size_t)count * 4));
}

static void show_refresh(b2nd_array_t* array) {
  const int first = b2nd_refresh(array);
  const int again = b2nd_refresh(array);
  const int schunk = blosc2_schunk_refresh(array->sc);
  printf("  refresh %d again %d super-chunk %d\n", first < 0 ? -1 : first, again < 0 ? -1 : again,
         schunk < 0 ? -1 : schunk);
}

static void set_rows(b2nd_array_t* array, int64_t from, int64_t to, int32_t value) {
  const int64_t start[] = {from, 0}, stop[] = {to, array->shape[1]};
  const int64_t shape[] = {to - from, array->shape[1]};
  const int64_t count = shape[0] * shape[1];
  for (int64_t i = 0; i < count; ++i) items[i] = value + (int32_t)i;
  printf("  set %d\n", b2nd_set_slice_cbuffer(items, shape, count * 4, start, stop, array));
}

static void resize(b2nd_array_t* array, int64_t rows, int64_t columns) {
  const int64_t shape[] = {rows, columns};
  printf("  resize %d\n", b2nd_resize(array, shape, NULL));
}

static void add_layer(b2nd_array_t* array, const char* name, uint8_t value) {
  uint8_t content[] = {value, 1, 2, 3};
  printf("  vlmeta %d\n", blosc2_vlmeta_add(array->sc, name, content, 4, NULL) >= 0);
}

static void show_layer(b2nd_array_t* array, const char* name) {
  uint8_t* content = NULL;
  int32_t size = 0;
  const int number = blosc2_vlmeta_get(array->sc, name, &content, &size);
  printf("  vlmeta %s: %d size %d value %d\n", name, number < 0 ? -1 : number,
         number < 0 ? 0 : size, number < 0 ? -1 : content[0]);
  if (number >= 0) free(content);
}

/* Two handles of one file. Each edit of one is looked for by the other. */
static void show_handles(char* path, bool contiguous) {
  printf("handles %d\n", contiguous);
  b2nd_array_t* writer = make_array(path, contiguous, 25);
  b2nd_array_t* reader = NULL;
  printf("  open %d\n", b2nd_open(path, &reader));
  show_refresh(reader);
  resize(writer, 47, 30);
  show_shape("before a call", reader);
  show_refresh(reader);
  show_shape("after a refresh", reader);
  show_items("grown", reader);
  set_rows(writer, 20, 47, 5000);
  show_items("overwritten", reader);
  show_refresh(reader);
  resize(writer, 47, 44);
  show_items("one call before", reader);
  show_shape("wider", reader);
  resize(writer, 12, 44);
  show_refresh(reader);
  show_items("shrunk", reader);
  show_shape("shrunk", reader);
  add_layer(writer, "first", 7);
  show_layer(reader, "first");
  show_refresh(reader);
  set_rows(reader, 3, 9, 9000);
  show_items("by the other", writer);
  resize(reader, 31, 44);
  set_rows(writer, 25, 31, 70);
  show_shape("the writer", writer);
  show_items("the writer", writer);
  show_items("the reader", reader);
  b2nd_free(writer);
  b2nd_free(reader);
  printf("  remove %d\n", blosc2_remove_urlpath(path));
}

/* Calls that make other arrays of one that another handle has just resized. */
static void show_copies(char* path, bool contiguous) {
  printf("copies %d\n", contiguous);
  b2nd_array_t* writer = make_array(path, contiguous, 25);
  b2nd_array_t *reader = NULL, *made = NULL;
  b2nd_open(path, &reader);
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  blosc2_storage storage = {.cparams = &cparams};
  const int64_t shape[] = {25, 30}, start[] = {3, 4}, stop[] = {31, 22};
  const int32_t chunkshape[] = {10, 15}, blockshape[] = {4, 5};
  const bool axes[] = {false, false, true}, none[] = {false, false};
  for (int i = 0; i < 7; ++i) {
    b2nd_context_t* context =
        b2nd_create_ctx(&storage, 2, shape, chunkshape, blockshape, "<i4", 0, NULL, 0);
    /* C-Blosc2 overlooks a resize that keeps the size of the file, so chunks come or go. */
    resize(writer, i == 3 ? 33 : 40 + 10 * i, 30);
    int code = 0;
    if (i == 0) code = b2nd_to_cbuffer(reader, back, sizeof(back));
    if (i == 1) code = b2nd_copy(context, reader, &made);
    if (i == 2) code = b2nd_get_slice(context, &made, reader, start, stop);
    if (i == 3) code = b2nd_concatenate(context, reader, reader, 0, true, &made);
    if (i == 4) code = b2nd_save(reader, "saved.b2nd");
    if (i == 4) b2nd_open("saved.b2nd", &made);
    if (i == 5) code = b2nd_expand_dims(reader, &made, axes, 3);
    if (i == 6) code = b2nd_squeeze_index(reader, &made, none);
    printf("  call %d: %d %016llx\n", i, code, (unsigned long long)digest(back, sizeof(back)));
    show_shape("reader", reader);
    if (made != NULL) {
      show_shape("made", made);
      show_items("made", made);
      b2nd_free(made);
      made = NULL;
    }
    b2nd_free_ctx(context);
  }
  b2nd_free(reader);
  b2nd_free(writer);
  blosc2_remove_urlpath("saved.b2nd");
  blosc2_remove_urlpath(path);
}

/* A view, its array, and another handle of their file. */
static void show_view(char* path, bool contiguous, bool view_first) {
  printf("views %d %d\n", contiguous, view_first);
  b2nd_free(make_array(path, contiguous, 25));
  b2nd_array_t *array = NULL, *other = NULL, *view = NULL;
  printf("  open %d %d\n", b2nd_open(path, &array), b2nd_open(path, &other));
  const bool axes[] = {true, false, false};
  printf("  expand %d\n", b2nd_expand_dims(array, &view, axes, 3));
  show_shape("view", view);
  show_items("view", view);
  set_rows(other, 5, 8, 300);
  if (view_first) show_items("view", view);
  show_items("array", array);
  if (!view_first) show_items("view", view);
  resize(other, 38, 30);
  set_rows(other, 2, 38, 4000);
  if (view_first) show_items("view of a grown array", view);
  show_refresh(array);
  show_shape("array", array);
  show_items("array", array);
  show_items("view of a grown array", view);
  show_shape("view", view);
  b2nd_array_t* second = NULL;
  resize(other, 41, 30);
  printf("  expand %d\n", b2nd_expand_dims(array, &second, axes, 3));
  show_shape("second view", second);
  show_items("second view", second);
  b2nd_free(second);
  b2nd_free(view);
  b2nd_free(other);
  show_items("array", array);
  b2nd_free(array);
  blosc2_remove_urlpath(path);
}

/* Edits of a super-chunk that another handle has made longer or shorter. */
static void show_stale_edits(char* path, bool contiguous) {
  printf("stale edits %d\n", contiguous);
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  blosc2_storage storage = {.contiguous = contiguous, .urlpath = path, .cparams = &cparams};
  blosc2_schunk* other = blosc2_schunk_new(&storage);
  blosc2_schunk* stale = blosc2_schunk_open(path);
  uint8_t chunk[400 + BLOSC2_MAX_OVERHEAD];
  for (int32_t i = 0; i < 8; ++i) {
    for (int32_t k = 0; k < 100; ++k) items[k] = i;
    blosc2_schunk_append_buffer(other, items, 400);
    for (int32_t k = 0; k < 100; ++k) items[k] = 100 + i;
    blosc2_compress_ctx(stale->cctx, items, 400, chunk, sizeof(chunk));
    long long code = 0;
    if (i % 4 == 1) code = (long long)blosc2_schunk_insert_chunk(stale, 1, chunk, true);
    if (i % 4 == 2) code = (long long)blosc2_schunk_insert_chunk(stale, i, chunk, true);
    if (i % 4 == 3) code = (long long)blosc2_schunk_insert_chunk(stale, 1000, chunk, true);
    printf("  call %d: %lld of %lld\n", i, code, (long long)stale->nchunks);
    blosc2_schunk_refresh(other);
  }
  for (int64_t i = 0; i < other->nchunks; ++i) {
    printf("  %d", blosc2_schunk_decompress_chunk(other, i, back, 400) == 400 ? back[0] : -1);
  }
  printf("\n");
  blosc2_schunk_free(stale);
  blosc2_schunk_free(other);
  blosc2_remove_urlpath(path);
}

/* A frame is written over the file of the handle that it comes from, as python-blosc2 does. */
static void show_overwritten(char* path, bool creator) {
  printf("overwritten %d\n", creator);
  blosc2_storage storage = {.contiguous = true, .urlpath = path};
  blosc2_schunk* schunk = blosc2_schunk_new(&storage);
  uint8_t content[] = {1, 2, 3};
  blosc2_vlmeta_add(schunk, "layer", content, 3, NULL);
  if (!creator) {
    blosc2_schunk_free(schunk);
    schunk = blosc2_schunk_open(path);
  }
  FILE* file = fopen(path, "wb");
  uint8_t* frame = NULL;
  bool needs_free = false;
  const int64_t size = blosc2_schunk_to_buffer(schunk, &frame, &needs_free);
  printf("  buffer %d written %d\n", size > 0,
         size > 0 && fwrite(frame, (size_t)size, 1, file) == 1);
  fclose(file);
  if (needs_free) free(frame);
  blosc2_schunk_free(schunk);
  schunk = blosc2_schunk_open(path);
  uint8_t* got = NULL;
  int32_t length = 0;
  printf("  layer %d %d\n", schunk == NULL ? -1 : blosc2_vlmeta_get(schunk, "layer", &got, &length),
         length);
  free(got);
  if (schunk != NULL) blosc2_schunk_free(schunk);
  blosc2_remove_urlpath(path);
}

/* Another process changes the file. */
static void show_process(char* path, bool contiguous) {
  printf("process %d\n", contiguous);
  b2nd_array_t* array = make_array(path, contiguous, 25);
  for (int round = 0; round < 3; ++round) {
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      freopen("/dev/null", "w", stdout);
      b2nd_array_t* theirs = NULL;
      if (b2nd_open(path, &theirs) < 0) _exit(1);
      resize(theirs, round == 1 ? 20 : 60 + round, 30);
      set_rows(theirs, 4, 18, 100 * round);
      add_layer(theirs, round == 0 ? "a" : round == 1 ? "b" : "c", 1);
      b2nd_free(theirs);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("  child %d\n", status);
    if (round == 2) {
      show_items("without a refresh", array);
    } else {
      show_refresh(array);
      show_items("refreshed", array);
    }
    show_shape("shape", array);
    show_layer(array, "a");
    show_layer(array, "b");
  }
  resize(array, 70, 30);
  set_rows(array, 60, 70, 1);
  show_items("edited", array);
  b2nd_free(array);
  blosc2_remove_urlpath(path);
}

void show_sharing(void) {
  char file[] = "shared.b2nd";
  char folder[] = "shared.sparse";
  show_handles(file, true);
  show_handles(folder, false);
  show_copies(file, true);
  show_copies(folder, false);
  for (int i = 0; i < 4; ++i) show_view(i % 2 ? file : folder, i % 2 != 0, i / 2 != 0);
  show_stale_edits(file, true);
  show_stale_edits(folder, false);
  show_overwritten(file, true);
  show_overwritten(file, false);
  show_process(file, true);
  show_process(folder, false);
}
