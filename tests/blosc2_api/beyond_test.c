/* Calls that end a program with C-Blosc2, or that this library refuses. Returns the number of calls
   that do something else. */
#include <b2nd.h>
#include <blosc2.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int failures = 0;

static void expect(bool holds, const char* what) {
  if (holds) return;
  printf("not so: %s\n", what);
  ++failures;
}

static void edit_a_map_for_reading(void) {
  char path[] = "beyond.b2frame";
  static int32_t items[1000];
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  blosc2_storage storage = {.contiguous = true, .urlpath = path, .cparams = &cparams};
  blosc2_schunk* schunk = blosc2_schunk_new(&storage);
  expect(blosc2_schunk_append_buffer(schunk, items, sizeof(items)) == 1, "a file gets a chunk");
  blosc2_schunk_free(schunk);

  blosc2_stdio_mmap mapped = BLOSC2_STDIO_MMAP_DEFAULTS;
  blosc2_io io = {.id = BLOSC2_IO_FILESYSTEM_MMAP, .params = &mapped};
  schunk = blosc2_schunk_open_udio(path, &io);
  expect(blosc2_schunk_append_buffer(schunk, items, sizeof(items)) < 0,
         "a file that is mapped for reading refuses a chunk");
  expect(schunk->nchunks == 1, "it stays as it was");
  blosc2_schunk_free(schunk);
  blosc2_remove_urlpath(path);
}

static void outgrow_a_private_map(void) {
  FILE* file = fopen("beyond.bin", "wb");
  fputs("0123456789", file);
  fclose(file);
  static char more[9000];
  memset(more, 'm', sizeof(more));
  blosc2_stdio_mmap mapped = BLOSC2_STDIO_MMAP_DEFAULTS;
  mapped.mode = "c";
  mapped.initial_mapping_size = 64;
  void* stream = blosc2_stdio_mmap_open("beyond.bin", "rb+", &mapped);
  expect(blosc2_stdio_mmap_write(more, 1, sizeof(more), 10, stream) == sizeof(more),
         "a map of mode c grows past its last page");
  void* at = NULL;
  expect(blosc2_stdio_mmap_read(&at, 1, 9010, 0, stream) == 9010 &&
             memcmp(at, "0123456789", 10) == 0 && memcmp((char*)at + 10, more, sizeof(more)) == 0,
         "it holds both parts");
  blosc2_stdio_mmap_destroy(&mapped);
  unlink("beyond.bin");
}

static void fill(int32_t* items, size_t count, uint32_t seed) {
  for (size_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    items[i] = (int32_t)seed;
  }
}

static void cut_a_file_that_is_mapped(void) {
  char path[] = "beyond.b2frame";
  static int32_t items[2000], back[2000];
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  blosc2_storage storage = {.contiguous = true, .urlpath = path, .cparams = &cparams};
  blosc2_schunk* schunk = blosc2_schunk_new(&storage);
  for (uint32_t i = 0; i < 30; ++i) {
    fill(items, 2000, i);
    blosc2_schunk_append_buffer(schunk, items, sizeof(items));
  }
  blosc2_stdio_mmap mapped = BLOSC2_STDIO_MMAP_DEFAULTS;
  mapped.mode = "c";
  blosc2_io io = {.id = BLOSC2_IO_FILESYSTEM_MMAP, .params = &mapped};
  blosc2_schunk* copy = blosc2_schunk_open_udio(path, &io);
  for (int i = 0; i < 20; ++i) blosc2_schunk_delete_chunk(schunk, schunk->nchunks - 1);
  static uint8_t chunk[sizeof(items) + BLOSC2_MAX_OVERHEAD];
  for (uint32_t i = 0; i < 60; ++i) {
    fill(items, 2000, 1000 + i);
    blosc2_compress_ctx(schunk->cctx, items, sizeof(items), chunk, sizeof(chunk));
    blosc2_schunk_update_chunk(schunk, i % 10, chunk, true);
  }
  blosc2_schunk_free(schunk);
  bool same = true;
  for (uint32_t i = 0; i < 30; ++i) {
    fill(items, 2000, i);
    const int size = blosc2_schunk_decompress_chunk(copy, i, back, sizeof(back));
    same = same && size == sizeof(back) && memcmp(items, back, sizeof(back)) == 0;
  }
  expect(same, "a map of mode c keeps what it showed");
  blosc2_schunk_free(copy);
  blosc2_remove_urlpath(path);
}

static void edit_without_room(void) {
  char path[] = "beyond.b2frame";
  static int32_t items[10000];
  uint8_t content[] = "old";
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  blosc2_storage storage = {.contiguous = true, .urlpath = path, .cparams = &cparams};
  blosc2_schunk* schunk = blosc2_schunk_new(&storage);
  fill(items, 10000, 1);
  for (int i = 0; i < 3; ++i) blosc2_schunk_append_buffer(schunk, items, sizeof(items));
  blosc2_vlmeta_add(schunk, "layer", content, 3, NULL);
  signal(SIGXFSZ, SIG_IGN);
  struct rlimit before, low;
  getrlimit(RLIMIT_FSIZE, &before);
  low = before;
  low.rlim_cur = 4 * sizeof(items);
  setrlimit(RLIMIT_FSIZE, &low);
  int64_t appended = 0;
  while (appended >= 0) appended = blosc2_schunk_append_buffer(schunk, items, sizeof(items));
  blosc2_schunk* const other = blosc2_schunk_open(path);
  const int64_t stored = other->nchunks;
  blosc2_schunk_free(other);
  expect(blosc2_vlmeta_update(schunk, "layer", (uint8_t*)items, sizeof(items), NULL) < 0,
         "a layer without room is refused");
  setrlimit(RLIMIT_FSIZE, &before);
  blosc2_schunk_refresh(schunk);
  expect(schunk->nchunks == stored, "the handle shows the chunks that are stored");
  uint8_t* got = NULL;
  int32_t size = 0;
  blosc2_vlmeta_get(schunk, "layer", &got, &size);
  expect(size == 3 && memcmp(got, "old", 3) == 0, "the handle shows the layer that is stored");
  free(got);
  expect(blosc2_schunk_append_buffer(schunk, items, sizeof(items)) == stored + 1,
         "the handle goes on when there is room");
  blosc2_schunk_free(schunk);
  blosc2_remove_urlpath(path);
}

static void register_a_tuner(void) {
  blosc2_tuner tuner = {.id = 200, .name = (char*)"tuner"};
  expect(blosc2_register_tuner(&tuner) == BLOSC2_ERROR_TUNER, "a tuner is refused");
}

static void register_a_name_that_ends(void) {
  char* name = strdup("passing");
  blosc2_filter filter = {.id = 201, .name = name};
  expect(blosc2_register_filter(&filter) == 0, "a filter is registered");
  memset(name, 'x', strlen(name));
  filter.name = (char*)"passing";
  expect(blosc2_register_filter(&filter) == 0, "its name outlives the caller's");
  free(name);
}

static void add_layers_to_an_empty_file(void) {
  char path[] = "layers.b2frame";
  uint8_t content[] = "content";
  blosc2_storage storage = {.contiguous = true, .urlpath = path};
  blosc2_remove_urlpath(path);
  blosc2_schunk* schunk = blosc2_schunk_new(&storage);
  blosc2_vlmeta_add(schunk, "first", content, sizeof(content), NULL);
  blosc2_schunk_lock(schunk);
  expect(blosc2_meta_add(schunk, "second", content, sizeof(content)) == 0,
         "an empty file takes a metalayer, also when it is locked");
  blosc2_vlmeta_add(schunk, "third", content, sizeof(content), NULL);
  expect(blosc2_schunk_unlock(schunk) == 0, "it is unlocked");
  blosc2_schunk_free(schunk);
  schunk = blosc2_schunk_open(path);
  expect(blosc2_vlmeta_exists(schunk, "first") >= 0, "the layer from before stays");
  expect(blosc2_meta_exists(schunk, "second") >= 0, "the metalayer is there");
  expect(blosc2_vlmeta_exists(schunk, "third") >= 0, "the layer from later is there");
  blosc2_schunk_free(schunk);
  blosc2_remove_urlpath(path);
}

static void keep_a_chunk_of_a_buffer(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  blosc2_storage storage = {.contiguous = true, .cparams = &cparams};
  blosc2_schunk* schunk = blosc2_schunk_new(&storage);
  blosc2_schunk_fill_special(schunk, 3000, BLOSC2_SPECIAL_ZERO, 4000);
  uint8_t* buffer = NULL;
  bool needs_free = false;
  const int64_t size = blosc2_schunk_to_buffer(schunk, &buffer, &needs_free);
  blosc2_schunk* other = blosc2_schunk_from_buffer(buffer, size, false);
  uint8_t* chunk = NULL;
  bool chunk_needs_free = false;
  const int cbytes = blosc2_schunk_get_chunk(other, 1, &chunk, &chunk_needs_free);
  int32_t nbytes = 0;
  blosc2_cbuffer_sizes(chunk, &nbytes, NULL, NULL);
  expect(cbytes == 32 && nbytes == 4000, "a chunk that only the index has stays readable");
  if (chunk_needs_free) free(chunk);
  blosc2_schunk_free(other);
  blosc2_schunk_free(schunk);
  if (needs_free) free(buffer);
}

static void read_a_box_of_zeros_after_others(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 1;
  blosc2_storage storage = {.contiguous = true, .cparams = &cparams};
  const int64_t shape[2] = {6, 1};
  const int32_t chunkshape[2] = {6, 1};
  const int32_t blockshape[2] = {3, 1};
  uint8_t items[] = {1, 2, 3, 4, 5, 6};
  b2nd_context_t* context =
      b2nd_create_ctx(&storage, 2, shape, chunkshape, blockshape, NULL, 0, NULL, 0);
  b2nd_array_t* array = NULL;
  b2nd_from_cbuffer(context, &array, items, sizeof(items));
  b2nd_free_ctx(context);
  const int64_t wider[2] = {6, 2};
  b2nd_resize(array, wider, NULL);
  uint8_t* buffer = NULL;
  int64_t size = 0;
  bool needs_free = false;
  b2nd_to_cframe(array, &buffer, &size, &needs_free);
  b2nd_array_t* other = NULL;
  b2nd_from_cframe(buffer, size, true, &other);
  const int64_t start[2] = {3, 0};
  uint8_t box[6];
  const int64_t box_shape[2] = {3, 2};
  const uint8_t expected[] = {4, 0, 5, 0, 6, 0};
  expect(b2nd_get_slice_cbuffer(other, start, wider, box, box_shape, sizeof(box)) == 0 &&
             memcmp(box, expected, sizeof(box)) == 0,
         "the second block of a chunk of zeros is zeros");
  b2nd_free(other);
  b2nd_free(array);
  if (needs_free) free(buffer);
}

/* Makes an array of 20 items in chunks of 5. */
static b2nd_array_t* make_array(char* path, bool contiguous) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 1;
  blosc2_storage storage = {.contiguous = contiguous, .urlpath = path, .cparams = &cparams};
  const int64_t shape[1] = {20};
  const int32_t chunkshape[1] = {5}, blockshape[1] = {5};
  uint8_t items[20];
  for (int i = 0; i < 20; ++i) items[i] = (uint8_t)i;
  b2nd_context_t* context =
      b2nd_create_ctx(&storage, 1, shape, chunkshape, blockshape, NULL, 0, NULL, 0);
  b2nd_array_t* array = NULL;
  b2nd_from_cbuffer(context, &array, items, sizeof(items));
  b2nd_free_ctx(context);
  return array;
}

static bool has_layer(b2nd_array_t* array, const char* name) {
  return blosc2_vlmeta_exists(array->sc, name) >= 0;
}

static void change_what_a_view_shows(void) {
  char path[] = "viewed.b2nd";
  const bool axes[2] = {true, false};
  uint8_t content[] = "content";
  b2nd_array_t *view = NULL, *other = NULL;
  b2nd_array_t* array = make_array(path, true);
  expect(b2nd_expand_dims(array, &view, axes, 2) == 0, "a file has a view");
  b2nd_open(path, &other);
  blosc2_vlmeta_add(other->sc, "late", content, sizeof(content), NULL);
  expect(has_layer(view, "late") && has_layer(array, "late"), "both learn of a layer");
  blosc2_vlmeta_add(view->sc, "view's", content, sizeof(content), NULL);
  expect(has_layer(array, "view's") && has_layer(other, "view's"), "a view adds a layer for all");
  blosc2_vlmeta_delete(other->sc, "late");
  expect(!has_layer(array, "late") && !has_layer(view, "late"), "both learn that one has gone");
  const int64_t shorter[1] = {18}, fewer[1] = {7};
  b2nd_resize(other, shorter, NULL);
  expect(b2nd_refresh(array) == 1 && array->shape[0] == 18, "a resize within a chunk is noticed");
  b2nd_resize(other, fewer, NULL);
  uint8_t items[20];
  expect(b2nd_to_cbuffer(view, items, sizeof(items)) < 0, "a view of lost chunks gives an error");
  expect(b2nd_to_cbuffer(array, items, 7) == 0 && items[6] == 6, "its array is what is left");
  b2nd_free(view);
  b2nd_free(other);
  b2nd_free(array);
  blosc2_remove_urlpath(path);
}

static void shrink_what_a_view_shows(bool contiguous) {
  const bool axes[2] = {true, false};
  uint8_t items[20];
  b2nd_array_t* view = NULL;
  b2nd_array_t* array = make_array(NULL, contiguous);
  expect(b2nd_expand_dims(array, &view, axes, 2) == 0, "an array in memory has a view");
  const int64_t fewer[1] = {7}, more[1] = {9000};
  b2nd_resize(array, fewer, NULL);
  expect(b2nd_to_cbuffer(view, items, sizeof(items)) < 0, "a view of lost chunks gives an error");
  b2nd_resize(array, more, NULL);
  expect(b2nd_to_cbuffer(view, items, sizeof(items)) == 0 && items[6] == 6 && items[19] == 0,
         "a view of chunks that came back reads them");
  b2nd_free(view);
  b2nd_free(array);
}

int main(void) {
  blosc2_init();
  change_what_a_view_shows();
  shrink_what_a_view_shows(false);
  shrink_what_a_view_shows(true);
  register_a_name_that_ends();
  add_layers_to_an_empty_file();
  keep_a_chunk_of_a_buffer();
  read_a_box_of_zeros_after_others();
  edit_a_map_for_reading();
  outgrow_a_private_map();
  cut_a_file_that_is_mapped();
  edit_without_room();
  register_a_tuner();
  blosc2_destroy();
  return failures;
}
