/* Super-chunks in files and directories. */
#include <blosc2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenario.h"

enum { kItems = 5000, kBytes = kItems * 4 };

static int32_t items[kItems];
static int32_t back[kItems];

static void show_state(const char* what, blosc2_schunk* schunk) {
  printf("  %s: nchunks %lld nbytes %lld chunksize %d layers %d %d contiguous %d path %s\n", what,
         (long long)schunk->nchunks, (long long)schunk->nbytes, schunk->chunksize,
         schunk->nmetalayers, schunk->nvlmetalayers, schunk->storage->contiguous,
         schunk->storage->urlpath);
  for (int64_t i = 0; i < schunk->nchunks; ++i) {
    const int size = blosc2_schunk_decompress_chunk(schunk, i, back, kBytes);
    printf("    %d %016llx", size, (unsigned long long)digest(back, size > 0 ? (size_t)size : 0));
    uint8_t* chunk = NULL;
    bool needs_free = false;
    const int lazy = blosc2_schunk_get_lazychunk(schunk, i, &chunk, &needs_free);
    printf(" lazy %d %d", lazy > 0, needs_free);
    printf(" items %d", blosc2_getitem_ctx(schunk->dctx, chunk, lazy, 700, 100, back, kBytes));
    printf(" %016llx", (unsigned long long)digest(back, 400));
    printf(" all %d\n", blosc2_decompress_ctx(schunk->dctx, chunk, lazy, back, kBytes));
    if (needs_free) free(chunk);
  }
}

/* Masks have an entry for each block of the super-chunk, also for chunks of zeros. */
static void show_masks(blosc2_schunk* schunk) {
  for (int64_t i = 0; i < schunk->nchunks; ++i) {
    uint8_t* chunk = NULL;
    bool needs_free = false;
    bool mask[kBytes / 4000] = {true, false, true, true, false};
    const int lazy = blosc2_schunk_get_lazychunk(schunk, i, &chunk, &needs_free);
    memset(back, 0x55, sizeof(back));
    printf("  mask %d", blosc2_set_maskout(schunk->dctx, mask, kBytes / 4000));
    printf(" %d", blosc2_decompress_ctx(schunk->dctx, chunk, lazy, back, kBytes));
    printf(" %016llx\n", (unsigned long long)digest(back, kBytes));
    if (needs_free) free(chunk);
  }
}

static void append(blosc2_schunk* schunk, int32_t first) {
  for (int32_t i = 0; i < kItems; ++i) items[i] = first + i;
  printf("  append %lld\n", (long long)blosc2_schunk_append_buffer(schunk, items, kBytes));
}

static void show_edits(blosc2_schunk* schunk) {
  uint8_t* chunk = NULL;
  bool needs_free = false;
  blosc2_schunk_get_chunk(schunk, 1, &chunk, &needs_free);
  printf("  needs free %d", needs_free);
  printf(" insert %lld", (long long)blosc2_schunk_insert_chunk(schunk, 0, chunk, true));
  printf(" update %lld", (long long)blosc2_schunk_update_chunk(schunk, 1, chunk, true));
  printf(" delete %lld\n", (long long)blosc2_schunk_delete_chunk(schunk, 2));
  if (needs_free) free(chunk);
  int64_t order[3] = {2, 0, 1};
  printf("  reorder %d\n", blosc2_schunk_reorder_offsets(schunk, order));
  for (int i = 0; i < 300; ++i) items[i] = -i;
  printf("  set items %d\n", blosc2_schunk_set_slice_buffer(schunk, 4900, 5200, items));
  uint8_t content[50] = {9, 8, 7};
  printf("  vlmeta %d", blosc2_vlmeta_add(schunk, "first", content, 50, NULL));
  printf(" %d", blosc2_vlmeta_add(schunk, "second", content, 20, NULL));
  printf(" update %d", blosc2_vlmeta_update(schunk, "first", content, 3, NULL));
  printf(" delete %d\n", blosc2_vlmeta_delete(schunk, "second"));
  printf("  meta update %d\n", blosc2_meta_update(schunk, "layer", content, 20));
}

// Asks for the layers of a file that was just written by the names that the super-chunk has.
static void show_own_names(const char* path) {
  blosc2_schunk* schunk = blosc2_schunk_open(path);
  for (int i = 0; i < schunk->nvlmetalayers; ++i) {
    uint8_t* content = NULL;
    int32_t size = 0;
    const int found = blosc2_vlmeta_get(schunk, schunk->vlmetalayers[i]->name, &content, &size);
    printf("  layer %d: %d %d %d\n", i, found, size, content != NULL ? content[0] : -1);
    free(content);
  }
  blosc2_schunk_free(schunk);
}

// A forked child appends to a super-chunk that it has inherited, and then its parent does.
static void show_fork(blosc2_schunk* schunk) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const int64_t nchunks = blosc2_schunk_append_buffer(schunk, items, kBytes);
    _exit(blosc2_schunk_free(schunk) == 0 ? (int)nchunks : 255);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("  child %d", WEXITSTATUS(status));
  printf(" parent %lld\n", (long long)blosc2_schunk_append_buffer(schunk, items, kBytes));
}

// Copies a super-chunk after another handle of its file has appended to it.
static void show_copies_of_now(const char* path) {
  blosc2_schunk* schunk = blosc2_schunk_open(path);
  for (int i = 0; i < 3; ++i) {
    blosc2_schunk* other = blosc2_schunk_open(path);
    blosc2_schunk_append_buffer(other, items, kBytes);
    blosc2_schunk_free(other);
    blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
    uint8_t* cframe = NULL;
    bool needs_free = false;
    int64_t size = 0;
    if (i == 0) blosc2_schunk_to_file(schunk, "now.b2frame");
    if (i == 1) size = blosc2_schunk_to_buffer(schunk, &cframe, &needs_free);
    blosc2_schunk* copy = i == 0   ? blosc2_schunk_open("now.b2frame")
                          : i == 1 ? blosc2_schunk_from_buffer(cframe, size, true)
                                   : blosc2_schunk_copy(schunk, &storage);
    printf("  copy %d has %lld chunks\n", i, (long long)copy->nchunks);
    blosc2_schunk_free(copy);
    if (needs_free) free(cframe);
  }
  blosc2_schunk_free(schunk);
  blosc2_remove_urlpath("now.b2frame");
}

static void show_kind(bool contiguous, char* path) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  cparams.blocksize = 4000;
  blosc2_storage storage = {.contiguous = contiguous, .urlpath = path, .cparams = &cparams};
  blosc2_schunk* schunk = blosc2_schunk_new(&storage);
  printf("file %d", schunk != NULL);
  printf(" again %d\n", blosc2_schunk_new(&storage) != NULL);
  uint8_t content[20] = {1, 2, 3};
  printf("  meta add %d %d\n", blosc2_meta_add(schunk, "layer", content, 20),
         blosc2_meta_add(schunk, "other", content, 5));
  for (int32_t n = 0; n < 3; ++n) append(schunk, n * kItems);
  memset(items, 0, sizeof(items));
  printf("  append zeros %lld\n", (long long)blosc2_schunk_append_buffer(schunk, items, kBytes));
  show_masks(schunk);
  printf("  delete %lld\n", (long long)blosc2_schunk_delete_chunk(schunk, 3));
  show_state("written", schunk);
  show_edits(schunk);
  show_state("edited", schunk);
  blosc2_schunk* other = blosc2_schunk_open(path);
  show_state("other handle", other);
  append(schunk, 77);
  printf("  refresh %d nchunks %lld\n", blosc2_schunk_refresh(other) >= 0,
         (long long)other->nchunks);
  printf("  lock %d", blosc2_schunk_lock(other));
  append(other, 88);
  printf("  unlock %d\n", blosc2_schunk_unlock(other));
  blosc2_schunk_free(other);
  blosc2_schunk_free(schunk);
  schunk = blosc2_schunk_open(path);
  show_fork(schunk);
  blosc2_schunk_free(schunk);
  schunk = blosc2_schunk_open(path);
  show_state("opened", schunk);
  uint8_t* cframe = NULL;
  bool needs_free = false;
  const int64_t size = blosc2_schunk_to_buffer(schunk, &cframe, &needs_free);
  printf("  to buffer %d %d\n", size > 0, needs_free);
  other = blosc2_schunk_from_buffer(cframe, size, true);
  printf("  from buffer %lld\n", (long long)other->nchunks);
  printf("  add %d", blosc2_vlmeta_add(other, "third", (uint8_t*)"a third one", 11, NULL));
  printf("  to file %d", blosc2_schunk_to_file(other, "copy.b2frame") > 0);
  const int64_t offset = blosc2_schunk_append_file(other, "copy.b2frame");
  printf(" append to file %d\n", offset > 0);
  blosc2_schunk_free(other);
  if (needs_free) free(cframe);
  show_own_names("copy.b2frame");
  other = blosc2_schunk_open_offset("copy.b2frame", offset);
  if (other != NULL) show_state("at an offset", other);
  if (other != NULL) blosc2_schunk_free(other);
  blosc2_schunk_free(schunk);
  show_copies_of_now(path);
  printf("  remove %d %d\n", blosc2_remove_urlpath(path), blosc2_remove_urlpath("copy.b2frame"));
  printf("  none %d\n", blosc2_schunk_open(path) != NULL);
}

/* A lazy chunk stands for the same chunk when that has another number. */
static void show_lazy_chunk_after_edits(bool contiguous, char* path) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  blosc2_storage storage = {.contiguous = contiguous, .urlpath = path, .cparams = &cparams};
  blosc2_schunk* schunk = blosc2_schunk_new(&storage);
  for (int32_t n = 0; n < 6; ++n) {
    for (int32_t i = 0; i < kItems; ++i) items[i] = n;
    items[kItems - 1] = -n;
    blosc2_schunk_append_buffer(schunk, items, kBytes);
  }
  uint8_t* lazy = NULL;
  bool needs_free = false;
  const int size = blosc2_schunk_get_lazychunk(schunk, 3, &lazy, &needs_free);
  printf("lazy chunk");
  for (int edit = 0; edit < 3; ++edit) {
    int64_t order[] = {4, 3, 2, 1, 0};
    if (edit == 1) blosc2_schunk_delete_chunk(schunk, 0);
    if (edit == 2) blosc2_schunk_reorder_offsets(schunk, order);
    const int got = blosc2_decompress_ctx(schunk->dctx, lazy, size, back, kBytes);
    printf(" %d %d", got, back[0]);
    printf(" items %d %d", blosc2_getitem_ctx(schunk->dctx, lazy, size, 7, 2, back, kBytes),
           back[1]);
  }
  printf("\n");
  if (needs_free) free(lazy);
  blosc2_schunk_free(schunk);
  blosc2_remove_urlpath(path);
}

/* Blocks of variable sizes are read out of a lazy chunk, with and without dictionaries. */
static void show_lazy_variable_blocks(bool contiguous, char* path, int use_dict) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 1;
  cparams.compcode = BLOSC_ZSTD;
  cparams.use_dict = use_dict;
  blosc2_storage storage = {.contiguous = contiguous, .urlpath = path, .cparams = &cparams};
  blosc2_schunk* schunk = blosc2_schunk_new(&storage);
  const void* blocks[3] = {"hello", items, items + 7};
  const int32_t sizes[3] = {5, 10000, 3333};
  for (int32_t i = 0; i < kItems; ++i) items[i] = i;
  static uint8_t chunk[kBytes];
  printf("variable blocks: %d",
         blosc2_vlcompress_ctx(schunk->cctx, blocks, sizes, 3, chunk, kBytes) > 0);
  printf(" append %lld", (long long)blosc2_schunk_append_chunk(schunk, chunk, true));
  uint8_t* lazy = NULL;
  bool needs_free = false;
  const int size = blosc2_schunk_get_lazychunk(schunk, 0, &lazy, &needs_free);
  for (int i = 0; i < 4; ++i) {
    uint8_t* block = NULL;
    int32_t nbytes = 0;
    printf(" lazy %d", blosc2_vldecompress_block_ctx(schunk->dctx, lazy, size, i, &block, &nbytes));
    if (block != NULL) printf(" %016llx", (unsigned long long)digest(block, (size_t)nbytes));
    free(block);
  }
  printf("\n");
  if (needs_free) free(lazy);
  blosc2_schunk_free(schunk);
  blosc2_remove_urlpath(path);
}

/* A frame has 16 vlmetalayers at most, and a super-chunk without a frame has more. */
static void show_most_layers(bool contiguous, char* path) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  blosc2_storage storage = {.contiguous = contiguous, .urlpath = path, .cparams = &cparams};
  blosc2_schunk* schunk = blosc2_schunk_new(&storage);
  uint8_t content[20] = {1, 2, 3};
  char name[] = "a";
  int last = 0;
  for (; name[0] <= 'z' && last >= 0; ++name[0]) {
    last = blosc2_vlmeta_add(schunk, name, content, 20, NULL);
  }
  printf("layers %d last %d", schunk->nvlmetalayers, last);
  printf(" append %lld", (long long)blosc2_schunk_append_buffer(schunk, items, kBytes));
  printf(" update %d", blosc2_vlmeta_update(schunk, "b", content, 10, NULL));
  printf(" delete %d", blosc2_vlmeta_delete(schunk, "c"));
  printf(" add %d", blosc2_vlmeta_add(schunk, "again", content, 10, NULL));
  uint8_t* cframe = NULL;
  bool needs_free = false;
  printf(" to buffer %d", blosc2_schunk_to_buffer(schunk, &cframe, &needs_free) > 0);
  if (needs_free) free(cframe);
  blosc2_schunk_free(schunk);
  if (path != NULL) {
    schunk = blosc2_schunk_open(path);
    printf(" opened %d", schunk->nvlmetalayers);
    blosc2_schunk_free(schunk);
    blosc2_remove_urlpath(path);
  }
  printf("\n");
}

void show_files(void) {
  show_kind(true, "frame.b2frame");
  show_kind(false, "frame.sparse");
  show_lazy_chunk_after_edits(true, "frame.b2frame");
  show_lazy_chunk_after_edits(false, "frame.sparse");
  for (int use_dict = 0; use_dict < 2; ++use_dict) {
    show_lazy_variable_blocks(true, "frame.b2frame", use_dict);
    show_lazy_variable_blocks(false, "frame.sparse", use_dict);
  }
  show_most_layers(false, NULL);
  show_most_layers(true, NULL);
  show_most_layers(true, "frame.b2frame");
  show_most_layers(false, "frame.sparse");
}
