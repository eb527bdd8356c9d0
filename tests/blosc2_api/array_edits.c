/* Edits, copies, views and selections of n-dimensional arrays, in memory and in files. */
#include <b2nd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario.h"

enum { kMost = 20000 };

static int32_t items[kMost];
static int32_t back[kMost];

static void show(const char* what, int code, const b2nd_array_t* array) {
  memset(back, 0, sizeof(back));
  printf("  %s: %d shape", what, code);
  for (int i = 0; i < array->ndim; ++i) printf(" %lld", (long long)array->shape[i]);
  printf(" chunks %lld", (long long)array->sc->nchunks);
  printf(" all %d", b2nd_to_cbuffer(array, back, sizeof(back)));
  printf(" %016llx\n", (unsigned long long)digest(back, sizeof(back)));
}

static b2nd_array_t* make_array(blosc2_storage* storage, int64_t rows) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  storage->cparams = &cparams;
  const int64_t shape[2] = {rows, 30};
  const int32_t chunkshape[2] = {10, 12}, blockshape[2] = {5, 4};
  for (int i = 0; i < kMost; ++i) items[i] = 7 * i + 1;
  b2nd_context_t* context =
      b2nd_create_ctx(storage, 2, shape, chunkshape, blockshape, "<i4", 0, NULL, 0);
  b2nd_array_t* array = NULL;
  const int code = b2nd_from_cbuffer(context, &array, items, rows * 30 * 4);
  printf("array of %d: %d\n", (int)rows, code);
  b2nd_free_ctx(context);
  return array;
}

static void show_resizing(b2nd_array_t* array) {
  int64_t shape[2] = {35, 40};
  show("grow", b2nd_resize(array, shape, NULL), array);
  shape[0] = 22;
  shape[1] = 25;
  show("shrink", b2nd_resize(array, shape, NULL), array);
  shape[0] = 30;
  shape[1] = 20;
  show("both", b2nd_resize(array, shape, NULL), array);
  show("append", b2nd_append(array, items, 7 * 20 * 4, 0), array);
  show("append columns", b2nd_append(array, items, 37 * 4 * 4, 1), array);
  show("append part", b2nd_append(array, items, 99, 1), array);
  show("insert rows", b2nd_insert(array, items, 10 * 24 * 4, 0, 10), array);
  show("insert anywhere", b2nd_insert(array, items, 10 * 24 * 4, 0, 11), array);
  show("delete rows", b2nd_delete(array, 0, 20, 10), array);
  show("delete last rows", b2nd_delete(array, 0, 33, 4), array);
  show("delete columns", b2nd_delete(array, 1, 12, 12), array);
  show("no such axis", b2nd_delete(array, 2, 0, 1), array);
}

static void show_copies(b2nd_array_t* array, blosc2_storage* storage) {
  const int64_t shape[2] = {1, 1}, start[2] = {3, 2}, stop[2] = {17, 11};
  const int32_t chunkshape[2] = {6, 5}, blockshape[2] = {3, 5};
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  blosc2_storage in_memory = {.contiguous = storage->contiguous, .cparams = &cparams};
  b2nd_context_t* context =
      b2nd_create_ctx(&in_memory, 2, shape, chunkshape, blockshape, "<i4", 0, NULL, 0);
  b2nd_array_t* other = NULL;
  int code = b2nd_get_slice(context, &other, array, start, stop);
  show("slice", code, other);
  b2nd_free(other);
  code = b2nd_copy(context, array, &other);
  show("copy", code, other);
  b2nd_array_t* joined = NULL;
  code = b2nd_concatenate(context, other, array, 0, true, &joined);
  show("concatenated", code, joined);
  b2nd_free(joined);
  code = b2nd_concatenate(context, other, array, 1, false, &joined);
  show("concatenated in place", code, joined);
  b2nd_free(other);
  b2nd_free_ctx(context);
}

static void show_selections(b2nd_array_t* array) {
  int64_t rows[4] = {5, 1, 19, 5}, columns[3] = {11, 0, 7};
  int64_t* selection[2] = {rows, columns};
  int64_t sizes[2] = {4, 3};
  int32_t got[12];
  printf("  selection %d",
         b2nd_get_orthogonal_selection(array, selection, sizes, got, sizes, sizeof(got)));
  printf(" %016llx", (unsigned long long)digest(got, sizeof(got)));
  rows[3] = 6;
  for (int i = 0; i < 12; ++i) got[i] = -i;
  printf(" set %d\n",
         b2nd_set_orthogonal_selection(array, selection, sizes, got, sizes, sizeof(got)));
  show("selected", 0, array);
  const int64_t coords[5] = {100, 3, 99, 0, 3};
  printf("  sparse %d", b2nd_get_sparse_cbuffer(array, 5, coords, got, sizeof(got)));
  printf(" %016llx", (unsigned long long)digest(got, 20));
  const int64_t none[1] = {100000};
  printf(" none %d\n", b2nd_get_sparse_cbuffer(array, 1, none, got, sizeof(got)));
  int64_t start[2] = {3, 2}, stop[2] = {25, 11};
  int64_t* chunks = NULL;
  const int64_t count = blosc2_get_slice_nchunks(array->sc, start, stop, &chunks);
  printf("  chunks of a slice %lld %016llx\n", (long long)count,
         (unsigned long long)digest(chunks, (size_t)count * sizeof(int64_t)));
  free(chunks);
}

// A view without a dimension in which chunks are longer than the array cannot be read.
static void show_squeezed_chunks(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  blosc2_storage storage = {.contiguous = true, .cparams = &cparams};
  const int64_t shape[4] = {2, 1, 3, 3};
  const int32_t chunkshape[4] = {3, 4, 3, 5}, blockshape[4] = {2, 4, 1, 4};
  b2nd_context_t* context =
      b2nd_create_ctx(&storage, 4, shape, chunkshape, blockshape, "<i4", 0, NULL, 0);
  b2nd_array_t* array = NULL;
  b2nd_array_t* view = NULL;
  int32_t sevens[18], got[18] = {0};
  for (int i = 0; i < 18; ++i) sevens[i] = 7;
  printf("chunks of a squeezed array %d", b2nd_from_cbuffer(context, &array, sevens, 72));
  printf(" %d", b2nd_squeeze(array, &view));
  printf(" %d", b2nd_to_cbuffer(view, got, sizeof(got)));
  const int64_t start[3] = {0, 0, 0}, stop[3] = {1, 1, 1};
  printf(" %d", b2nd_get_slice_cbuffer(view, start, stop, got, stop, sizeof(got)));
  printf(" %016llx\n", (unsigned long long)digest(got, sizeof(got)));
  b2nd_free(view);
  b2nd_free(array);
  b2nd_free_ctx(context);
}

static void show_views(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  blosc2_storage storage = {.cparams = &cparams};
  const int64_t shape[3] = {1, 40, 1};
  const int32_t chunkshape[3] = {1, 15, 1}, blockshape[3] = {1, 6, 1};
  b2nd_context_t* context =
      b2nd_create_ctx(&storage, 3, shape, chunkshape, blockshape, "<i4", 0, NULL, 0);
  b2nd_array_t* array = NULL;
  b2nd_array_t* view = NULL;
  printf("views %d", b2nd_from_cbuffer(context, &array, items, 160));
  printf(" %d\n", b2nd_squeeze(array, &view));
  show("squeezed", view->sc->view, view);
  uint8_t* cframe = NULL;
  int64_t size = 0;
  bool needs_free = false;
  printf("  to frame %d %d\n", b2nd_to_cframe(view, &cframe, &size, &needs_free), needs_free);
  b2nd_array_t* opened = NULL;
  printf("  from frame %d\n", b2nd_from_cframe(cframe, size, true, &opened));
  show("opened", 0, opened);
  b2nd_free(opened);
  if (needs_free) free(cframe);
  b2nd_free(view);
  const bool index[3] = {false, true, false};
  printf("  squeeze more %d\n", b2nd_squeeze_index(array, &view, index) < 0);
  const bool axes[4] = {false, true, false, false};
  printf("  expand %d\n", b2nd_expand_dims(array, &view, axes, 4));
  show("expanded", view->ndim, view);
  b2nd_free(view);
  b2nd_free(array);
  b2nd_free_ctx(context);
}

static void show_kind(bool contiguous, char* path) {
  blosc2_storage storage = {.contiguous = contiguous, .urlpath = path};
  b2nd_array_t* array = make_array(&storage, 25);
  show_selections(array);
  show_copies(array, &storage);
  show_resizing(array);
  if (path != NULL) {
    b2nd_free(array);
    printf("  open %d\n", b2nd_open(path, &array));
    show("opened", 0, array);
    show("append", b2nd_append(array, items, array->shape[1] * 4, 0), array);
    b2nd_array_t* other = NULL;
    printf("  open again %d\n", b2nd_open(path, &other));
    show("other", 0, other);
    b2nd_free(other);
    printf("  save %d\n", b2nd_save(array, "saved.b2nd"));
    printf("  open %d\n", b2nd_open("saved.b2nd", &other));
    show("saved", 0, other);
    b2nd_free(other);
    blosc2_remove_urlpath("saved.b2nd");
  }
  b2nd_free(array);
  if (path != NULL) printf("  remove %d\n", blosc2_remove_urlpath(path));
}

void show_array_edits(void) {
  show_kind(false, NULL);
  show_kind(true, NULL);
  show_views();
  show_squeezed_chunks();
  show_kind(true, "array.b2nd");
  show_kind(false, "array.sparse");
}
