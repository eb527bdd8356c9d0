/* Calls that end a program with C-Blosc2, or that this library refuses. Returns the number of calls
   that do something else. */
#include <b2nd.h>
#include <blosc2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

int main(void) {
  blosc2_init();
  register_a_name_that_ends();
  add_layers_to_an_empty_file();
  keep_a_chunk_of_a_buffer();
  read_a_box_of_zeros_after_others();
  edit_a_map_for_reading();
  outgrow_a_private_map();
  register_a_tuner();
  blosc2_destroy();
  return failures;
}
