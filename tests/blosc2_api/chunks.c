/* Chunks: made and read with contexts. */
#include <blosc2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario.h"
#include <blosc2/filters-registry.h>

enum { kSize = 200000, kRoom = kSize + 4096 };

static uint8_t items[kSize];
static uint8_t chunk[kRoom];
static uint8_t back[kSize];

/* Prints the fields of a header that do not depend on how well a library compresses. */
static void show_header(const uint8_t* bytes) {
  int32_t nbytes = 0, cbytes = 0, blocksize = 0;
  const int code = blosc2_cbuffer_sizes(bytes, &nbytes, &cbytes, &blocksize);
  size_t typesize = 0;
  int flags = 0, version = 0, versionlz = 0;
  blosc1_cbuffer_metainfo(bytes, &typesize, &flags);
  blosc2_cbuffer_versions(bytes, &version, &versionlz);
  const char* library = blosc2_cbuffer_complib(bytes);
  printf("  header %d: nbytes %d blocksize %d typesize %zu flags %02x version %d %d library %s\n",
         code, nbytes, blocksize, typesize, (unsigned)(flags & 0xFD), version, versionlz,
         library != NULL ? library : "none");
  if (cbytes > kRoom) printf("  too large\n");
}

static void show_round_trip(const char* name, blosc2_cparams cparams, int32_t size) {
  blosc2_context* cctx = blosc2_create_cctx(cparams);
  printf("%s: context %d\n", name, cctx != NULL);
  if (cctx == NULL) return;
  make_items(items, (size_t)size, cparams.typesize);
  const int cbytes = blosc2_compress_ctx(cctx, items, size, chunk, kRoom);
  printf("  compressed %d\n", cbytes > 0 ? 1 : cbytes);
  if (cbytes > 0) {
    show_header(chunk);
    size_t valid = 0;
    printf("  valid %d", blosc1_cbuffer_validate(chunk, (size_t)cbytes, &valid));
    printf(" %zu", valid);
    printf(" %d\n", blosc1_cbuffer_validate(chunk, (size_t)cbytes - 1, &valid));
    blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
    dparams.nthreads = cparams.nthreads;
    blosc2_context* dctx = blosc2_create_dctx(dparams);
    memset(back, 0xAA, sizeof(back));
    printf("  read %d", blosc2_decompress_ctx(dctx, chunk, cbytes, back, size));
    printf(" %016llx\n", (unsigned long long)digest(back, (size_t)size));
    printf("  too small %d", blosc2_decompress_ctx(dctx, chunk, cbytes, back, size - 1));
    printf(" cut %d", blosc2_decompress_ctx(dctx, chunk, cbytes - 1, back, size) < 0);
    printf(" wrong context %d\n", blosc2_decompress_ctx(cctx, chunk, cbytes, back, size));
    const int nitems = size / cparams.typesize;
    memset(back, 0, sizeof(back));
    printf("  items %d", blosc2_getitem_ctx(dctx, chunk, cbytes, nitems / 3, 5, back, kSize));
    printf(" %016llx", (unsigned long long)digest(back, 64));
    printf(" past the end %d", blosc2_getitem_ctx(dctx, chunk, cbytes, nitems, 5, back, kSize));
    printf(" none %d", blosc2_getitem_ctx(dctx, chunk, cbytes, 0, 0, back, kSize));
    printf(" negative %d %d", blosc2_getitem_ctx(dctx, chunk, cbytes, -1, 5, back, kSize),
           blosc2_getitem_ctx(dctx, chunk, cbytes, 0, -1, back, kSize));
    printf(" no room %d\n", blosc2_getitem_ctx(dctx, chunk, cbytes, 0, 5, back, 1));
    blosc2_free_ctx(dctx);
  }
  blosc2_cparams got;
  memset(&got, 0, sizeof(got));
  printf("  parameters %d: %d %d %d %d\n", blosc2_ctx_get_cparams(cctx, &got), got.compcode,
         got.clevel, got.typesize, got.nthreads);
  blosc2_free_ctx(cctx);
}

static void show_codecs(void) {
  static const uint8_t codecs[] = {BLOSC_BLOSCLZ, BLOSC_LZ4, BLOSC_LZ4HC, BLOSC_ZLIB, BLOSC_ZSTD};
  static const int32_t typesizes[] = {1, 2, 4, 8, 13, 255, 300};
  for (size_t i = 0; i < sizeof(codecs); ++i) {
    for (size_t t = 0; t < sizeof(typesizes) / sizeof(typesizes[0]); ++t) {
      blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
      cparams.compcode = codecs[i];
      cparams.typesize = typesizes[t];
      cparams.nthreads = (int16_t)(1 + t % 2);
      char name[64];
      snprintf(name, sizeof(name), "codec %d typesize %d", codecs[i], typesizes[t]);
      show_round_trip(name, cparams, 60000 / typesizes[t] * typesizes[t]);
    }
  }
}

static void show_parameters(void) {
  static const uint8_t pipelines[][BLOSC2_MAX_FILTERS] = {{0, 0, 0, 0, 0, 0},
                                                          {0, 0, 0, 0, 0, BLOSC_BITSHUFFLE},
                                                          {0, 0, 0, 0, BLOSC_DELTA, BLOSC_SHUFFLE},
                                                          {BLOSC_SHUFFLE, 0, 0, 0, 0, 0},
                                                          {0, 0, 0, 0, 0, 20},
                                                          {0, 0, 0, 0, 0, 40}};
  for (size_t i = 0; i < sizeof(pipelines) / sizeof(pipelines[0]); ++i) {
    blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
    memcpy(cparams.filters, pipelines[i], BLOSC2_MAX_FILTERS);
    show_round_trip("filters", cparams, 80000);
  }
  for (int clevel = 0; clevel <= 10; ++clevel) {
    blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
    cparams.clevel = (uint8_t)clevel;
    cparams.compcode = BLOSC_LZ4;
    show_round_trip("clevel", cparams, 160000);
  }
  for (int mode = 0; mode <= 5; ++mode) {
    blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
    cparams.splitmode = mode;
    show_round_trip("split", cparams, 80000);
  }
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.blocksize = 4096;
  show_round_trip("blocksize", cparams, 80000);
  show_round_trip("tiny", cparams, 24);
  cparams.use_dict = 1;
  show_round_trip("dictionary without", cparams, 80000);
  cparams.compcode = BLOSC_ZSTD;
  show_round_trip("dictionary", cparams, 80000);
  cparams.use_dict = 0;
  cparams.compcode = 200;
  show_round_trip("unknown codec", cparams, 80000);
}

static void show_special(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  const float value = 1.5f;
  blosc2_context* dctx = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
  for (int kind = 0; kind < 4; ++kind) {
    memset(chunk, 0xFF, 64);
    int size = 0;
    if (kind == 0) size = blosc2_chunk_zeros(cparams, 40000, chunk, kRoom);
    if (kind == 1) size = blosc2_chunk_nans(cparams, 40000, chunk, kRoom);
    if (kind == 2) size = blosc2_chunk_repeatval(cparams, 40000, chunk, kRoom, &value);
    if (kind == 3) size = blosc2_chunk_uninit(cparams, 40000, chunk, kRoom);
    memset(back, 0, sizeof(back));
    printf("special %d: %d %016llx", kind, size, (unsigned long long)digest(chunk, 36));
    printf(" %d", blosc2_decompress_ctx(dctx, chunk, size, back, kSize));
    printf(" %016llx", (unsigned long long)digest(back, 40000));
    printf(" %d\n", blosc2_getitem_ctx(dctx, chunk, size, 9990, 10, back, kSize));
  }
  printf("special of part of an item: %d, without room: %d\n",
         blosc2_chunk_zeros(cparams, 39999, chunk, kRoom),
         blosc2_chunk_zeros(cparams, 40000, chunk, 31));
  blosc2_free_ctx(dctx);
}

static void show_mask(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.blocksize = 8000;
  make_items(items, 80000, 8);
  blosc2_context* cctx = blosc2_create_cctx(cparams);
  blosc2_context* dctx = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
  const int cbytes = blosc2_compress_ctx(cctx, items, 80000, chunk, kRoom);
  bool mask[10] = {true, false, false, true, false, true, true, true, false, true};
  memset(back, 0x55, sizeof(back));
  printf("mask: %d", blosc2_set_maskout(dctx, mask, 10));
  printf(" %d", blosc2_decompress_ctx(dctx, chunk, cbytes, back, 80000));
  printf(" %016llx", (unsigned long long)digest(back, 80000));
  printf(" %d", blosc2_decompress_ctx(dctx, chunk, cbytes, back, 80000));
  printf(" %016llx\n", (unsigned long long)digest(back, 80000));
  blosc2_free_ctx(cctx);
  blosc2_free_ctx(dctx);
}

// Chunks that end with a part of an item. The libraries choose other blocks for them.
static void show_mask_of_parts(void) {
  bool mask[40] = {false};
  make_items(items, 80, 1);
  for (int32_t nbytes = 1; nbytes < 40; nbytes += 3) {
    for (int32_t typesize = 1; typesize < 33; typesize *= 2) {
      blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
      cparams.typesize = typesize;
      blosc2_context* cctx = blosc2_create_cctx(cparams);
      blosc2_context* dctx = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
      const int cbytes = blosc2_compress_ctx(cctx, items, nbytes, chunk, kRoom);
      int32_t blocksize = 0;
      blosc2_cbuffer_sizes(chunk, NULL, NULL, &blocksize);
      memset(back, 0x55, 80);
      printf("mask of %d and %d: %d", nbytes, typesize,
             blosc2_set_maskout(dctx, mask, (nbytes + blocksize - 1) / blocksize));
      printf(" %d", blosc2_decompress_ctx(dctx, chunk, cbytes, back, nbytes));
      printf(" %016llx\n", (unsigned long long)digest(back, 80));
      blosc2_free_ctx(cctx);
      blosc2_free_ctx(dctx);
    }
  }
}

static void show_variable_blocks(uint8_t compcode, int use_dict) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 1;
  cparams.compcode = compcode;
  cparams.use_dict = use_dict;
  blosc2_context* cctx = blosc2_create_cctx(cparams);
  blosc2_context* dctx = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
  const void* blocks[3] = {"hello", items, items + 7};
  const int32_t sizes[3] = {5, 1000, 333};
  make_items(items, 2000, 1);
  const int cbytes = blosc2_vlcompress_ctx(cctx, blocks, sizes, 3, chunk, kRoom);
  int32_t nblocks = 0;
  printf("variable blocks: %d", cbytes > 0);
  printf(" %d", blosc2_vlchunk_get_nblocks(chunk, cbytes, &nblocks));
  printf(" %d", nblocks);
  void* dests[3] = {NULL, NULL, NULL};
  int32_t destsizes[3] = {0, 0, 0};
  printf(" %d", blosc2_vldecompress_ctx(dctx, chunk, cbytes, dests, destsizes, 3));
  for (int i = 0; i < 3; ++i) {
    printf(" %d %016llx", destsizes[i], (unsigned long long)digest(dests[i], (size_t)destsizes[i]));
    free(dests[i]);
  }
  uint8_t* one = NULL;
  int32_t size = 0;
  printf(" one %d", blosc2_vldecompress_block_ctx(dctx, chunk, cbytes, 2, &one, &size));
  printf(" %016llx", (unsigned long long)digest(one, (size_t)size));
  free(one);
  printf(" none %d", blosc2_vldecompress_block_ctx(dctx, chunk, cbytes, 3, &one, &size));
  printf(" few %d\n", blosc2_vldecompress_ctx(dctx, chunk, cbytes, dests, destsizes, 2));
  blosc2_free_ctx(cctx);
  blosc2_free_ctx(dctx);
}

/* Filters of arrays take nothing without an array. */
static void show_array_filters(void) {
  for (int i = 0; i < 8; ++i) {
    blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
    cparams.compcode = i / 4 == 0 ? BLOSC_LZ4 : BLOSC_ZSTD;
    cparams.filters[4] = i % 2 == 0 ? BLOSC_FILTER_NDCELL : BLOSC_FILTER_NDMEAN;
    cparams.filters_meta[4] = 4;
    cparams.typesize = 8;
    blosc2_context* cctx = blosc2_create_cctx(cparams);
    memset(items, i / 2 % 2, kSize);
    const int cbytes = blosc2_compress_ctx(cctx, items, kSize, chunk, kRoom);
    printf("filter %d of arrays: %d", cparams.filters[4], cbytes > 0 ? cbytes : -1);
    for (int k = 0; k < cbytes && k < 32; ++k) printf(" %02x", chunk[k]);
    printf("\n");
    blosc2_free_ctx(cctx);
  }
}

/* Codecs of arrays code zeros without an array. */
static void show_zeros_of_array_codecs(void) {
  const uint8_t codecs[] = {32, 33, 34, 35}; /* NDLZ, and the three of ZFP */
  const int32_t sizes[] = {4000, kSize};
  for (int i = 0; i < 8; ++i) {
    blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
    cparams.compcode = codecs[i / 2];
    cparams.compcode_meta = 4;
    cparams.typesize = i < 2 ? 1 : 8;
    blosc2_context* cctx = blosc2_create_cctx(cparams);
    memset(items, 0, kSize);
    const int32_t size = sizes[i % 2];
    const int cbytes = blosc2_compress_ctx(cctx, items, size, chunk, kRoom);
    printf("zeros of codec %d: %d", cparams.compcode, cbytes);
    for (int k = 0; k < cbytes && k < 32; ++k) printf(" %02x", chunk[k]);
    printf("\n");
    blosc2_free_ctx(cctx);
  }
}

void show_chunks(void) {
  show_zeros_of_array_codecs();
  show_array_filters();
  show_codecs();
  show_parameters();
  show_special();
  show_mask();
  show_mask_of_parts();
  show_variable_blocks(BLOSC_BLOSCLZ, 0);
  show_variable_blocks(BLOSC_ZLIB, 1);
  show_variable_blocks(BLOSC_ZSTD, 1);
}
