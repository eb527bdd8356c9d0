/* N-dimensional arrays in memory. */
#include <b2nd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario.h"

enum { kMost = 40 * 50 * 6 };

static int32_t items[kMost];
static int32_t back[kMost];

typedef struct {
  int8_t ndim;
  int64_t shape[3];
  int32_t chunkshape[3];
  int32_t blockshape[3];
} geometry;

static const geometry geometries[] = {
    {1, {1000}, {300}, {70}},          {2, {40, 50}, {13, 20}, {5, 7}},
    {2, {40, 50}, {20, 50}, {10, 50}}, {3, {11, 13, 6}, {4, 5, 6}, {2, 5, 3}},
    {2, {0, 50}, {1, 20}, {1, 7}},     {1, {7}, {7}, {7}},
};

static void show_fields(const b2nd_array_t* array) {
  printf("  ndim %d nitems %lld extnitems %lld chunknitems %d extchunknitems %lld dtype %s %d\n",
         array->ndim, (long long)array->nitems, (long long)array->extnitems, array->chunknitems,
         (long long)array->extchunknitems, array->dtype, array->dtype_format);
  for (int i = 0; i < B2ND_MAX_DIM; i += 5) {
    printf("  %lld %d %lld %d %lld", (long long)array->shape[i], array->chunkshape[i],
           (long long)array->extshape[i], array->blockshape[i], (long long)array->extchunkshape[i]);
  }
  for (int i = 0; i < array->ndim; ++i) {
    printf("  %lld %lld %lld", (long long)array->item_array_strides[i],
           (long long)array->item_block_strides[i], (long long)array->block_chunk_strides[i]);
  }
  printf("\n");
}

static void show_slices(b2nd_array_t* array, const geometry* g) {
  int64_t start[3], stop[3], shape[3];
  for (int round = 0; round < 4; ++round) {
    int64_t count = 1;
    for (int i = 0; i < g->ndim; ++i) {
      start[i] = g->shape[i] * round / 5;
      stop[i] = g->shape[i] - g->shape[i] * (3 - round) / 7;
      shape[i] = stop[i] - start[i] + (round == 3);
      count *= shape[i];
    }
    memset(back, 0x11, sizeof(back));
    printf("  slice %d", b2nd_get_slice_cbuffer(array, start, stop, back, shape, count * 4));
    printf(" %016llx", (unsigned long long)digest(back, (size_t)count * 4));
    for (int64_t i = 0; i < count; ++i) back[i] = (int32_t)(1000 * round + i);
    printf(" set %d", b2nd_set_slice_cbuffer(back, shape, count * 4, start, stop, array));
    memset(back, 0, sizeof(back));
    printf(" all %d", b2nd_to_cbuffer(array, back, sizeof(back)));
    printf(" %016llx\n", (unsigned long long)digest(back, (size_t)array->nitems * 4));
  }
  /* Past the end of the array, to the end of its chunks and further. */
  for (int i = 0; i < g->ndim; ++i) {
    for (int further = 0; further < 2; ++further) {
      for (int k = 0; k < g->ndim; ++k) {
        start[k] = 0;
        stop[k] = shape[k] = k == i ? array->extshape[k] + further : 1;
      }
      printf("  past the end %d\n",
             b2nd_get_slice_cbuffer(array, start, stop, back, shape, shape[i] * 4));
    }
  }
}

static void show_array(const geometry* g, bool contiguous) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  blosc2_storage storage = {.contiguous = contiguous, .cparams = &cparams};
  blosc2_metalayer layer = {"mine", (uint8_t*)"content", 7};
  b2nd_context_t* context = b2nd_create_ctx(&storage, g->ndim, g->shape, g->chunkshape,
                                            g->blockshape, "<i4", DTYPE_NUMPY_FORMAT, &layer, 1);
  printf("array %d\n", context != NULL);
  int64_t count = 1;
  for (int i = 0; i < g->ndim; ++i) count *= g->shape[i];
  for (int i = 0; i < kMost; ++i) items[i] = 3 * i;
  b2nd_array_t* array = NULL;
  printf("  from buffer %d\n", b2nd_from_cbuffer(context, &array, items, count * 4));
  show_fields(array);
  memset(back, 0, sizeof(back));
  printf("  to buffer %d %d\n", b2nd_to_cbuffer(array, back, sizeof(back)),
         memcmp(items, back, (size_t)count * 4));
  printf("  too small %d\n", count > 0 ? b2nd_to_cbuffer(array, back, count * 4 - 1) : 0);
  if (count > 0) show_slices(array, g);
  uint8_t* cframe = NULL;
  int64_t size = 0;
  bool needs_free = false;
  printf("  to frame %d", b2nd_to_cframe(array, &cframe, &size, &needs_free));
  printf(" %d", needs_free);
  b2nd_array_t* opened = NULL;
  printf(" from frame %d\n", b2nd_from_cframe(cframe, size, true, &opened));
  show_fields(opened);
  memset(items, 0, sizeof(items));
  printf("  to buffer %d %016llx layers %d\n", b2nd_to_cbuffer(opened, items, sizeof(items)),
         (unsigned long long)digest(items, (size_t)count * 4), opened->sc->nmetalayers);
  b2nd_free(opened);
  if (needs_free) free(cframe);
  printf("  free %d", b2nd_free(array));
  printf(" %d\n", b2nd_free_ctx(context));
}

static void show_fillings(void) {
  const geometry* g = &geometries[1];
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  blosc2_storage storage = {.cparams = &cparams};
  b2nd_context_t* context =
      b2nd_create_ctx(&storage, g->ndim, g->shape, g->chunkshape, g->blockshape, NULL, 0, NULL, 0);
  const int32_t value = 77;
  for (int kind = 0; kind < 4; ++kind) {
    b2nd_array_t* array = NULL;
    int code = 0;
    if (kind == 0) code = b2nd_zeros(context, &array);
    if (kind == 1) code = b2nd_nans(context, &array);
    if (kind == 2) code = b2nd_full(context, &array, &value);
    if (kind == 3) code = b2nd_empty(context, &array);
    printf("filling %d: %d %s", kind, code, array->dtype);
    printf(" %d", b2nd_to_cbuffer(array, back, sizeof(back)));
    printf(" %016llx\n", (unsigned long long)digest(back, 40 * 50 * 4));
    b2nd_free(array);
  }
  b2nd_free_ctx(context);
  const int32_t none[2] = {0, 0};
  printf("no blocks %d",
         b2nd_create_ctx(&storage, 2, g->shape, g->chunkshape, none, NULL, 0, NULL, 0) != NULL);
  printf(" 17 dimensions %d\n",
         b2nd_create_ctx(&storage, 17, g->shape, g->chunkshape, none, NULL, 0, NULL, 0) != NULL);
}

static void show_meta(void) {
  const geometry* g = &geometries[3];
  uint8_t* meta = NULL;
  const int size = b2nd_serialize_meta(3, g->shape, g->chunkshape, g->blockshape, "<f8", 0, &meta);
  printf("meta %d %016llx", size, (unsigned long long)digest(meta, (size_t)size));
  int8_t ndim = 0, format = 0;
  int64_t shape[B2ND_MAX_DIM];
  int32_t chunkshape[B2ND_MAX_DIM], blockshape[B2ND_MAX_DIM];
  char* dtype = NULL;
  printf(" %d",
         b2nd_deserialize_meta(meta, size, &ndim, shape, chunkshape, blockshape, &dtype, &format));
  printf(" %d %lld %d %d %s", ndim, (long long)shape[2], chunkshape[1], blockshape[2], dtype);
  free(dtype);
  printf(" cut %d\n",
         b2nd_deserialize_meta(meta, 20, &ndim, shape, chunkshape, blockshape, &dtype, &format));
  free(meta);
}

static void show_printed_meta(void) {
  const geometry* g = &geometries[3];
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  const char* const dtypes[] = {NULL, "<f8"};
  for (size_t i = 0; i < 2; ++i) {
    b2nd_context_t* context =
        b2nd_create_ctx(&storage, 3, g->shape, g->chunkshape, g->blockshape, dtypes[i], 0, NULL, 0);
    b2nd_array_t* array = NULL;
    b2nd_zeros(context, &array);
    printf("printed %d\n", b2nd_print_meta(array));
    b2nd_free(array);
    b2nd_free_ctx(context);
  }
}

static void show_buffer_copy(void) {
  int32_t from[60], to[56];
  for (int i = 0; i < 60; ++i) from[i] = i;
  memset(to, 0, sizeof(to));
  const int64_t from_shape[3] = {3, 4, 5}, start[3] = {1, 1, 2}, stop[3] = {3, 3, 5};
  const int64_t to_shape[3] = {2, 7, 4}, place[3] = {0, 4, 1};
  printf("buffer %d", b2nd_copy_buffer2(3, 4, from, from_shape, start, stop, to, to_shape, place));
  printf(" %016llx\n", (unsigned long long)digest(to, sizeof(to)));
}

void show_arrays(void) {
  for (size_t i = 0; i < sizeof(geometries) / sizeof(geometries[0]); ++i) {
    show_array(&geometries[i], false);
    show_array(&geometries[i], true);
  }
  show_fillings();
  show_meta();
  show_printed_meta();
  show_buffer_copy();
}
