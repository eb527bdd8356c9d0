/* Times calls of C-Blosc2's interface. It is compiled once, and run with each of two libraries by
   same_program.py, which draws the table.

     calls make FILE CHUNKS     makes a file of many small chunks, or a directory if the name ends
                                with .b2d
     calls edit FILE            appends some to it, and updates chunks and a layer
     calls read FILE            opens it, and reads items at random
     calls arrays FOLDER        slices of arrays in memory and in files
     calls codecs               chunks in memory

   Each line of output is a name and microseconds. */
#include <b2nd.h>
#include <blosc2.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kChunkItems = 1000, kMostRuns = 2000, kBuffer = 4 << 20 };

static int32_t items[kChunkItems];
static double times[kMostRuns];

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* Prints the median of the times that were taken. */
static void report(const char* name, int runs) {
  qsort(times, (size_t)runs, sizeof(times[0]), compare);
  printf("%s %.3f\n", name, times[runs / 2]);
}

static void check(bool is_right, const char* what) {
  if (is_right) return;
  fprintf(stderr, "calls: %s failed\n", what);
  exit(1);
}

static uint64_t random_number(void) {
  static uint64_t state = 88172645463325252u;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static blosc2_cparams parameters(int32_t typesize, uint8_t codec) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = typesize;
  cparams.compcode = codec;
  cparams.nthreads = 1;
  return cparams;
}

static void append(blosc2_schunk* schunk, int64_t n) {
  for (int i = 0; i < kChunkItems; ++i) items[i] = (int32_t)n + i;
  check(blosc2_schunk_append_buffer(schunk, items, sizeof(items)) > 0, "append");
}

static void make(char* path, int64_t nchunks) {
  blosc2_cparams cparams = parameters(4, BLOSC_LZ4);
  const size_t length = strlen(path);
  const bool is_directory = length > 4 && strcmp(path + length - 4, ".b2d") == 0;
  blosc2_storage storage = {.contiguous = !is_directory, .urlpath = path, .cparams = &cparams};
  blosc2_schunk* schunk = blosc2_schunk_new(&storage);
  check(schunk != NULL, "create");
  check(blosc2_schunk_lock(schunk) >= 0, "lock"); /* one commit */
  for (int64_t i = 0; i < nchunks; ++i) append(schunk, i);
  check(blosc2_schunk_unlock(schunk) >= 0, "unlock");
  blosc2_schunk_free(schunk);
}

static void time_edits(const char* path) {
  blosc2_schunk* schunk = blosc2_schunk_open(path);
  check(schunk != NULL, "open");
  append(schunk, 0); /* the first one opens the file for writing */
  const int runs = 15;
  for (int i = 0; i < runs; ++i) {
    const double begin = now();
    append(schunk, i);
    times[i] = now() - begin;
  }
  report("append", runs);
  uint8_t chunk[sizeof(items) + BLOSC2_MAX_OVERHEAD];
  for (int i = 0; i < runs; ++i) {
    items[0] = -i;
    const int size = blosc2_compress_ctx(schunk->cctx, items, sizeof(items), chunk, sizeof(chunk));
    check(size > 0, "compress");
    const int64_t nchunk = (int64_t)(random_number() % (uint64_t)schunk->nchunks);
    const double begin = now();
    check(blosc2_schunk_update_chunk(schunk, nchunk, chunk, true) >= 0, "update");
    times[i] = now() - begin;
  }
  report("update a chunk", runs);
  uint8_t layer[100] = {0};
  check(blosc2_vlmeta_add(schunk, "layer", layer, sizeof(layer), NULL) >= 0, "layer");
  for (int i = 0; i < runs; ++i) {
    layer[0] = (uint8_t)i;
    const double begin = now();
    check(blosc2_vlmeta_update(schunk, "layer", layer, sizeof(layer), NULL) >= 0, "layer");
    times[i] = now() - begin;
  }
  report("update a vlmetalayer", runs);
  blosc2_schunk_free(schunk);
}

static void time_reads(const char* path) {
  const int runs = 200;
  for (int i = 0; i < runs; ++i) {
    const double begin = now();
    blosc2_schunk* schunk = blosc2_schunk_open(path);
    check(schunk != NULL, "open");
    blosc2_schunk_free(schunk);
    times[i] = now() - begin;
  }
  report("open and free", runs);
  blosc2_schunk* schunk = blosc2_schunk_open(path);
  for (int i = 0; i < kMostRuns; ++i) {
    const int64_t at = (int64_t)(random_number() % (uint64_t)(schunk->nchunks * kChunkItems));
    int32_t item = 0;
    const double begin = now();
    check(blosc2_schunk_get_slice_buffer(schunk, at, at + 1, &item) >= 0, "item");
    times[i] = now() - begin;
  }
  report("random item", kMostRuns);
  for (int i = 0; i < kMostRuns; ++i) {
    const int64_t at = (int64_t)(random_number() % (uint64_t)schunk->nchunks);
    const double begin = now();
    check(blosc2_schunk_decompress_chunk(schunk, at, items, sizeof(items)) > 0, "chunk");
    times[i] = now() - begin;
  }
  report("random chunk", kMostRuns);
  blosc2_schunk_free(schunk);
}

enum { kSide = 2000, kPart = 300, kSmallPart = 30 };

static void time_boxes(b2nd_array_t* array, const char* where, int64_t side) {
  static double data[kPart * kPart];
  const int64_t shape[2] = {side, side};
  const int runs = 60;
  for (int i = 0; i < runs; ++i) {
    const int64_t start[2] = {(int64_t)(random_number() % (uint64_t)(kSide - side)),
                              (int64_t)(random_number() % (uint64_t)(kSide - side))};
    const int64_t stop[2] = {start[0] + side, start[1] + side};
    const double begin = now();
    check(b2nd_get_slice_cbuffer(array, start, stop, data, shape, side * side * 8) >= 0, "slice");
    times[i] = now() - begin;
  }
  char name[100];
  snprintf(name, sizeof(name), "array of 32 MB %s: read %d x %d", where, (int)side, (int)side);
  report(name, runs);
}

static void time_array(const char* where, char* path) {
  static double data[kSide * kSide];
  double walk = 0;
  for (int i = 0; i < kSide * kSide; ++i) data[i] = walk += (double)(random_number() % 1000) / 8;
  const int64_t shape[2] = {kSide, kSide}, part[2] = {kPart, kPart};
  const int32_t chunkshape[2] = {500, 500}, blockshape[2] = {100, 100};
  blosc2_cparams cparams = parameters(8, BLOSC_LZ4);
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  dparams.nthreads = 1;
  blosc2_storage storage = {
      .contiguous = true, .urlpath = path, .cparams = &cparams, .dparams = &dparams};
  b2nd_context_t* context =
      b2nd_create_ctx(&storage, 2, shape, chunkshape, blockshape, "<f8", 0, NULL, 0);
  b2nd_array_t* array = NULL;
  char name[100];
  double begin = now();
  check(b2nd_from_cbuffer(context, &array, data, sizeof(data)) >= 0, "array");
  times[0] = now() - begin;
  snprintf(name, sizeof(name), "array of 32 MB %s: make", where);
  report(name, 1);
  time_boxes(array, where, kPart);
  time_boxes(array, where, kSmallPart);
  const int runs = 60;
  for (int i = 0; i < runs; ++i) {
    const int64_t start[2] = {(int64_t)(random_number() % (kSide - kPart)),
                              (int64_t)(random_number() % (kSide - kPart))};
    const int64_t stop[2] = {start[0] + kPart, start[1] + kPart};
    begin = now();
    check(b2nd_set_slice_cbuffer(data, part, kPart * kPart * 8, start, stop, array) >= 0, "write");
    times[i] = now() - begin;
  }
  snprintf(name, sizeof(name), "array of 32 MB %s: write 300 x 300", where);
  report(name, runs);
  b2nd_free(array);
  b2nd_free_ctx(context);
}

static void time_codecs(void) {
  uint8_t* data = malloc(kBuffer);
  uint8_t* chunk = malloc(kBuffer + BLOSC2_MAX_OVERHEAD);
  int64_t stamp = 1700000000000;
  for (int i = 0; i < kBuffer / 16; ++i) {
    stamp += 1000 + (int64_t)(random_number() % 20);
    const double value = (double)(random_number() % 100000) / 1000;
    memcpy(data + (size_t)i * 16, &stamp, 8);
    memcpy(data + (size_t)i * 16 + 8, &value, 8);
  }
  const uint8_t codecs[] = {BLOSC_BLOSCLZ, BLOSC_LZ4, BLOSC_LZ4HC, BLOSC_ZLIB, BLOSC_ZSTD};
  const char* const names[] = {"blosclz", "lz4", "lz4hc", "zlib", "zstd"};
  for (size_t i = 0; i < sizeof(codecs); ++i) {
    blosc2_context* cctx = blosc2_create_cctx(parameters(16, codecs[i]));
    blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
    dparams.nthreads = 1;
    blosc2_context* dctx = blosc2_create_dctx(dparams);
    const int runs = 7;
    int size = 0;
    for (int run = 0; run < runs; ++run) {
      const double begin = now();
      size = blosc2_compress_ctx(cctx, data, kBuffer, chunk, kBuffer + BLOSC2_MAX_OVERHEAD);
      times[run] = now() - begin;
    }
    check(size > 0, "compress");
    char name[100];
    snprintf(name, sizeof(name), "%s: compress 4 MiB", names[i]);
    report(name, runs);
    for (int run = 0; run < runs; ++run) {
      const double begin = now();
      check(blosc2_decompress_ctx(dctx, chunk, size, data, kBuffer) == kBuffer, "decompress");
      times[run] = now() - begin;
    }
    snprintf(name, sizeof(name), "%s: decompress 4 MiB", names[i]);
    report(name, runs);
    blosc2_free_ctx(cctx);
    blosc2_free_ctx(dctx);
  }
  free(data);
  free(chunk);
}

int main(int argc, char** argv) {
  blosc2_init();
  const char* what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "make") == 0 && argc == 4) {
    make(argv[2], atoll(argv[3]));
  } else if (strcmp(what, "edit") == 0 && argc == 3) {
    time_edits(argv[2]);
  } else if (strcmp(what, "read") == 0 && argc == 3) {
    time_reads(argv[2]);
  } else if (strcmp(what, "arrays") == 0 && argc == 3) {
    char path[4096];
    snprintf(path, sizeof(path), "%s/array.b2nd", argv[2]);
    time_array("in memory", NULL);
    time_array("in a file", path);
  } else if (strcmp(what, "codecs") == 0 && argc == 2) {
    time_codecs();
  } else {
    fprintf(stderr,
            "usage: calls make FILE CHUNKS | append FILE | read FILE | arrays FOLDER | codecs\n");
    return 2;
  }
  blosc2_destroy();
  return 0;
}
