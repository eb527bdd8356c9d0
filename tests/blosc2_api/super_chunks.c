/* Super-chunks in memory: chunks, items, metalayers, buffers, copies. */
#include <blosc2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario.h"

enum { kItems = 10000, kBytes = kItems * 4 };

static int32_t items[kItems];
static int32_t back[kItems * 4];

static void show_state(const char* what, blosc2_schunk* schunk) {
  printf("  %s: nchunks %lld nbytes %lld chunksize %d typesize %d data %d\n", what,
         (long long)schunk->nchunks, (long long)schunk->nbytes, schunk->chunksize, schunk->typesize,
         schunk->data != NULL);
  for (int64_t i = 0; i < schunk->nchunks; ++i) {
    memset(back, 0, sizeof(back));
    const int size = blosc2_schunk_decompress_chunk(schunk, i, back, sizeof(back));
    printf("    chunk %lld: %d %016llx\n", (long long)i, size,
           (unsigned long long)digest(back, size > 0 ? (size_t)size : 0));
  }
}

/* Makes a chunk of `count` numbers that begin with `first`. */
static uint8_t* make_chunk(int32_t first, int32_t count) {
  for (int32_t i = 0; i < count; ++i) items[i] = first + i;
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  blosc2_context* cctx = blosc2_create_cctx(cparams);
  uint8_t* chunk = malloc(kBytes + BLOSC2_MAX_OVERHEAD);
  if (blosc2_compress_ctx(cctx, items, count * 4, chunk, kBytes + BLOSC2_MAX_OVERHEAD) <= 0)
    abort();
  blosc2_free_ctx(cctx);
  return chunk;
}

static void show_items(blosc2_schunk* schunk) {
  memset(back, 0, sizeof(back));
  printf("  slice %d", blosc2_schunk_get_slice_buffer(schunk, 9990, 20010, back));
  printf(" %016llx\n", (unsigned long long)digest(back, 10020 * 4));
  for (int i = 0; i < 300; ++i) items[i] = -i;
  printf("  set %d\n", blosc2_schunk_set_slice_buffer(schunk, 9900, 10200, items));
  const int64_t coords[4] = {3, 25000, 10001, 3};
  printf("  sparse %d", blosc2_schunk_get_sparse_buffer(schunk, 4, coords, back));
  printf(" %d %d %d %d\n", back[0], back[1], back[2], back[3]);
}

static void show_edits(blosc2_schunk* schunk) {
  printf("  append %lld\n",
         (long long)blosc2_schunk_append_chunk(schunk, make_chunk(7, kItems), false));
  uint8_t* chunk = make_chunk(100, kItems);
  printf("  insert %lld\n", (long long)blosc2_schunk_insert_chunk(schunk, 1, chunk, true));
  printf("  update %lld\n", (long long)blosc2_schunk_update_chunk(schunk, 0, chunk, true));
  printf("  insert past the end %lld\n",
         (long long)blosc2_schunk_insert_chunk(schunk, 99, chunk, true));
  printf("  update past the end %lld\n",
         (long long)blosc2_schunk_update_chunk(schunk, 99, chunk, true));
  printf("  delete past the end %lld\n", (long long)blosc2_schunk_delete_chunk(schunk, 99));
  free(chunk);
  show_state("edited", schunk);
  int64_t order[5] = {4, 2, 0, 1, 3};
  printf("  reorder %d\n", blosc2_schunk_reorder_offsets(schunk, order));
  order[0] = 2;
  printf("  reorder twice %d\n", blosc2_schunk_reorder_offsets(schunk, order) < 0);
  printf("  delete %lld\n", (long long)blosc2_schunk_delete_chunk(schunk, 2));
  show_state("reordered", schunk);
  uint8_t* got = NULL;
  bool needs_free = true;
  printf("  get %d", blosc2_schunk_get_chunk(schunk, 1, &got, &needs_free) > 0);
  printf(" %d", needs_free);
  printf(" lazy %d", blosc2_schunk_get_lazychunk(schunk, 1, &got, &needs_free) > 0);
  printf(" %d", needs_free);
  printf(" none %d\n", blosc2_schunk_get_chunk(schunk, 9, &got, &needs_free));
}

static void show_layers(blosc2_schunk* schunk) {
  uint8_t content[100];
  for (int i = 0; i < 100; ++i) content[i] = (uint8_t)i;
  printf("  vlmeta add %d %d", blosc2_vlmeta_add(schunk, "first", content, 100, NULL),
         blosc2_vlmeta_add(schunk, "second", content, 3, NULL));
  printf(" again %d", blosc2_vlmeta_add(schunk, "first", content, 3, NULL));
  printf(" update %d", blosc2_vlmeta_update(schunk, "first", content + 10, 50, NULL));
  printf(" none %d\n", blosc2_vlmeta_update(schunk, "third", content, 3, NULL));
  uint8_t* got = NULL;
  int32_t size = 0;
  printf("  get %d", blosc2_vlmeta_get(schunk, "first", &got, &size));
  printf(" %d %016llx", size, (unsigned long long)digest(got, (size_t)size));
  free(got);
  printf(" none %d", blosc2_vlmeta_get(schunk, "third", &got, &size));
  printf(" exists %d %d", blosc2_vlmeta_exists(schunk, "second"),
         blosc2_vlmeta_exists(schunk, "third"));
  char* names[8];
  printf(" names %d", blosc2_vlmeta_get_names(schunk, names));
  printf(" %s %s", names[0], names[1]);
  printf(" delete %d", blosc2_vlmeta_delete(schunk, "second"));
  printf(" twice %d left %d\n", blosc2_vlmeta_delete(schunk, "second"), schunk->nvlmetalayers);
  printf("  meta update %d", blosc2_meta_update(schunk, "layer", content + 50, 20));
  printf(" shorter %d", blosc2_meta_update(schunk, "layer", content, 5));
  printf(" get %d", blosc2_meta_get(schunk, "layer", &got, &size));
  printf(" %d %016llx\n", size, (unsigned long long)digest(got, (size_t)size));
  free(got);
}

static void show_buffers(blosc2_schunk* schunk, bool contiguous) {
  uint8_t* cframe = NULL;
  bool needs_free = false;
  const int64_t size = blosc2_schunk_to_buffer(schunk, &cframe, &needs_free);
  printf("  to buffer %d needs free %d, %d\n", size > 0, needs_free, contiguous);
  for (int copy = 1; copy >= 0; --copy) {
    blosc2_schunk* opened = blosc2_schunk_from_buffer(cframe, size, copy != 0);
    printf("  from buffer %d\n", opened != NULL);
    if (opened == NULL) continue;
    show_state(copy ? "copy" : "in place", opened);
    printf("  layers %d %d compcode %d clevel %d contiguous %d\n", opened->nmetalayers,
           opened->nvlmetalayers, opened->compcode, opened->clevel, opened->storage->contiguous);
    if (copy) { /* C-Blosc2 moves a buffer in place when it grows */
      printf("  append %lld\n",
             (long long)blosc2_schunk_append_chunk(opened, make_chunk(5, 1234), false));
      show_state("appended", opened);
    }
    blosc2_schunk_free(opened);
  }
  printf("  from part %d\n", blosc2_schunk_from_buffer(cframe, size - 1, true) != NULL);
  if (needs_free) free(cframe);
}

static void show_copy(blosc2_schunk* schunk) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  cparams.compcode = BLOSC_ZSTD;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  storage.cparams = &cparams;
  blosc2_schunk* copy = blosc2_schunk_copy(schunk, &storage);
  printf("  copy %d\n", copy != NULL);
  if (copy == NULL) return;
  show_state("copy", copy);
  printf("  layers %d %d compcode %d\n", copy->nmetalayers, copy->nvlmetalayers, copy->compcode);
  blosc2_schunk_free(copy);
}

static void show_filling(bool contiguous) {
  for (int kind = BLOSC2_SPECIAL_ZERO; kind <= BLOSC2_SPECIAL_UNINIT; ++kind) {
    blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
    cparams.typesize = 4;
    blosc2_storage storage = {.contiguous = contiguous, .cparams = &cparams};
    blosc2_schunk* schunk = blosc2_schunk_new(&storage);
    memset(back, 0, sizeof(back));
    const int64_t filled = blosc2_schunk_fill_special(schunk, 2500, kind, 4000);
    printf("  fill %d: %lld\n", kind, (long long)(filled < 0 ? -1 : filled));
    if (filled > 0 && kind != BLOSC2_SPECIAL_UNINIT) show_state("filled", schunk);
    if (filled > 0) {
      printf("  fill again %lld\n", (long long)blosc2_schunk_fill_special(schunk, 10, kind, 4000));
    }
    if (filled > 0) {
      int64_t* offsets = blosc2_frame_get_offsets(schunk);
      printf("  offsets %d", offsets != NULL);
      printf(" %llx\n", offsets != NULL ? (unsigned long long)offsets[filled - 1] : 0);
      free(offsets);
    }
    blosc2_schunk_free(schunk);
  }
}

static void show_kind(bool contiguous) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  cparams.compcode = BLOSC_LZ4;
  cparams.nthreads = 2;
  cparams.blocksize = 8000;
  blosc2_storage storage = {.contiguous = contiguous, .cparams = &cparams};
  blosc2_schunk* schunk = blosc2_schunk_new(&storage);
  printf("super-chunk %d contiguous %d chunksize %d\n", schunk != NULL, contiguous,
         schunk->chunksize);
  uint8_t content[20] = {1, 2, 3};
  printf("  meta add %d", blosc2_meta_add(schunk, "layer", content, 20));
  printf(" again %d\n", blosc2_meta_add(schunk, "layer", content, 20));
  for (int32_t n = 0; n < 3; ++n) {
    for (int32_t i = 0; i < kItems; ++i) items[i] = n * kItems + i;
    printf("  append buffer %lld\n", (long long)blosc2_schunk_append_buffer(schunk, items, kBytes));
  }
  show_state("appended", schunk);
  show_items(schunk);
  show_edits(schunk);
  show_layers(schunk);
  show_buffers(schunk, contiguous);
  show_copy(schunk);
  blosc2_cparams* got = NULL;
  printf("  parameters %d", blosc2_schunk_get_cparams(schunk, &got));
  printf(" %d %d %d\n", got->compcode, got->typesize, got->nthreads);
  free(got);
  printf("  length %d\n", blosc2_schunk_frame_len(schunk) > 0);
  printf("  free %d\n", blosc2_schunk_free(schunk));
  show_filling(contiguous);
}

void show_super_chunks(void) {
  show_kind(false);
  show_kind(true);
}
