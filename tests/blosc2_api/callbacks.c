/* Files and directories that a program reads and writes with functions of its own. */
#include <b2nd.h>
#include <blosc2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario.h"

enum { kItems = 5000, kBytes = kItems * 4, kId = 210 };

static int32_t items[kItems];
static int32_t back[kItems];
static int opened = 0; /* files that are open now */

static void* open_file(const char* path, const char* mode, void* params) {
  ++*(int*)params;
  void* file = blosc2_stdio_open(path, mode, NULL);
  if (file != NULL) ++opened;
  return file;
}

static int close_file(void* stream) {
  --opened;
  return blosc2_stdio_close(stream);
}

static int destroy(void* params) {
  *(int*)params = -1;
  return 0;
}

static void show_state(const char* what, blosc2_schunk* schunk) {
  printf("  %s: nchunks %lld nbytes %lld layers %d %d contiguous %d path %s\n", what,
         (long long)schunk->nchunks, (long long)schunk->nbytes, schunk->nmetalayers,
         schunk->nvlmetalayers, schunk->storage->contiguous, schunk->storage->urlpath);
  for (int64_t i = 0; i < schunk->nchunks; ++i) {
    const int size = blosc2_schunk_decompress_chunk(schunk, i, back, kBytes);
    printf("    %d %016llx\n", size, (unsigned long long)digest(back, size > 0 ? (size_t)size : 0));
  }
}

static void append(blosc2_schunk* schunk, int32_t first) {
  for (int32_t i = 0; i < kItems; ++i) items[i] = first + i;
  printf("  append %lld\n", (long long)blosc2_schunk_append_buffer(schunk, items, kBytes));
}

/* Shows what the functions read, and what the library reads by itself. */
static void show_path(const char* what, const char* path, const blosc2_io* io) {
  printf("  %s\n", what);
  for (int own = 0; own < 2; ++own) {
    blosc2_schunk* schunk =
        own ? blosc2_schunk_open(path) : blosc2_schunk_open_offset_udio(path, 0, io);
    if (schunk == NULL) {
      printf("  not opened %d\n", own);
      continue;
    }
    show_state(own ? "by itself" : "through functions", schunk);
    blosc2_schunk_free(schunk);
  }
}

static void show_kind(bool contiguous, char* path, const char* plain) {
  int calls = 0;
  blosc2_io io = {.id = kId, .name = "functions", .params = &calls};
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  cparams.blocksize = 4000;
  blosc2_storage storage = {
      .contiguous = contiguous, .urlpath = path, .cparams = &cparams, .io = &io};
  blosc2_remove_urlpath(plain);
  blosc2_schunk* schunk = blosc2_schunk_new(&storage);
  printf("through functions: %d calls %d\n", schunk != NULL, calls > 0);
  uint8_t content[20] = {1, 2, 3};
  printf("  meta %d\n", blosc2_meta_add(schunk, "layer", content, 20));
  for (int32_t n = 0; n < 3; ++n) append(schunk, n * kItems);
  memset(items, 0, sizeof(items));
  printf("  append zeros %lld\n", (long long)blosc2_schunk_append_buffer(schunk, items, kBytes));
  append(schunk, 5 * kItems);
  show_path("written", path, &io);
  printf("  delete %lld\n", (long long)blosc2_schunk_delete_chunk(schunk, 1));
  uint8_t* chunk = NULL;
  bool needs_free = false;
  blosc2_schunk_get_chunk(schunk, 1, &chunk, &needs_free);
  printf("  insert %lld", (long long)blosc2_schunk_insert_chunk(schunk, 0, chunk, true));
  printf(" update %lld\n", (long long)blosc2_schunk_update_chunk(schunk, 2, chunk, true));
  if (needs_free) free(chunk);
  printf("  vlmeta %d\n", blosc2_vlmeta_add(schunk, "first", content, 20, NULL));
  show_state("edited", schunk);
  show_path("edited", path, &io);
  printf("  free %d", blosc2_schunk_free(schunk));
  printf(" destroyed %d open files %d\n", calls, opened);
  calls = 0;
  schunk = blosc2_schunk_open_offset_udio(path, 0, &io);
  append(schunk, 6 * kItems);
  int64_t order[6] = {5, 4, 3, 2, 1, 0};
  printf("  reorder %d\n", blosc2_schunk_reorder_offsets(schunk, order));
  blosc2_schunk_free(schunk);
  show_path("opened and edited", path, &io);
  printf("  remove %d open files %d\n", blosc2_remove_urlpath(plain), opened);
  schunk = blosc2_schunk_open_offset_udio(path, 0, &io);
  printf("  none %d\n", schunk != NULL);
}

static void show_offset(void) {
  int calls = 0;
  blosc2_io io = {.id = kId, .name = "functions", .params = &calls};
  blosc2_storage storage = {.contiguous = true};
  FILE* file = fopen("outer.bin", "wb");
  fputs("something else", file);
  fclose(file);
  int64_t offsets[2];
  for (int32_t n = 0; n < 2; ++n) {
    blosc2_schunk* schunk = blosc2_schunk_new(&storage);
    append(schunk, 9 * n);
    append(schunk, 9 * n + 1);
    offsets[n] = blosc2_schunk_append_file(schunk, "outer.bin");
    blosc2_schunk_free(schunk);
  }
  printf("offset %lld\n", (long long)offsets[0]);
  for (int32_t n = 0; n < 2; ++n) {
    blosc2_schunk* schunk = blosc2_schunk_open_offset_udio("outer.bin", offsets[n], &io);
    if (schunk == NULL) {
      printf("  not opened\n");
      continue;
    }
    show_state("at an offset", schunk);
    uint8_t* cframe = NULL;
    bool needs_free = false;
    const int64_t size = blosc2_schunk_to_buffer(schunk, &cframe, &needs_free);
    blosc2_schunk* copy = blosc2_schunk_from_buffer(cframe, size, false);
    if (copy != NULL) show_state("a copy", copy);
    if (copy != NULL) blosc2_schunk_free(copy);
    if (needs_free) free(cframe);
    blosc2_schunk_free(schunk);
  }
  printf("  behind %d\n", blosc2_schunk_open_offset_udio("outer.bin", 1 << 20, &io) != NULL);
  printf("  before %d\n", blosc2_schunk_open_offset_udio("outer.bin", -1, &io) != NULL);
  printf("  inside %d\n", blosc2_schunk_open_offset_udio("outer.bin", 5, &io) != NULL);
  printf("  open files %d\n", opened);
  blosc2_remove_urlpath("outer.bin");
}

static void show_array(bool contiguous) {
  char path[] = "array.b2nd";
  int calls = 0;
  blosc2_io io = {.id = kId, .name = "functions", .params = &calls};
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  blosc2_storage storage = {
      .contiguous = contiguous, .urlpath = path, .cparams = &cparams, .io = &io};
  const int64_t shape[] = {40, 50};
  const int64_t larger[] = {60, 55};
  const int32_t chunkshape[] = {20, 20};
  const int32_t blockshape[] = {7, 5};
  b2nd_context_t* context =
      b2nd_create_ctx(&storage, 2, shape, chunkshape, blockshape, NULL, 0, NULL, 0);
  for (int32_t i = 0; i < 2000; ++i) items[i] = i;
  b2nd_array_t* array = NULL;
  printf("array %d", b2nd_from_cbuffer(context, &array, items, 8000));
  printf(" resize %d\n", b2nd_resize(array, larger, NULL));
  b2nd_free(array);
  printf("  open %d", b2nd_open(path, &array));
  printf(" read %d", b2nd_to_cbuffer(array, back, 60 * 55 * 4));
  printf(" %016llx\n", (unsigned long long)digest(back, 60 * 55 * 4));
  b2nd_free(array);
  b2nd_free_ctx(context);
  blosc2_remove_urlpath(path);
}

void show_callbacks(void) {
  blosc2_io_cb functions = {.id = kId,
                            .name = "functions",
                            .is_allocation_necessary = true,
                            .open = open_file,
                            .close = close_file,
                            .size = blosc2_stdio_size,
                            .write = blosc2_stdio_write,
                            .read = blosc2_stdio_read,
                            .truncate = blosc2_stdio_truncate,
                            .destroy = destroy};
  printf("register %d\n", blosc2_register_io_cb(&functions));
  functions.id = kId + 1;
  functions.name = NULL;
  printf("register without a name %d\n", blosc2_register_io_cb(&functions));
  char file[] = "callbacks.b2frame";
  char folder[] = "callbacks.sparse";
  char slash[] = "callbacks.slash/";
  show_kind(true, file, file);
  show_kind(false, folder, folder);
  show_kind(false, slash, "callbacks.slash");
  show_offset();
  show_array(true);
  show_array(false);
}
