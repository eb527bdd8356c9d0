/* Codecs and filters of the program's own, and its steps before and after the filters. */
#include <blosc2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario.h"

enum { kSize = 64000, kRoom = kSize + 4096 };

static uint8_t items[kSize];
static uint8_t chunk[kRoom];
static uint8_t back[kSize];

/* Keeps every other byte, if the others are the same. */
static int encode(const uint8_t* input, int32_t size, uint8_t* output, int32_t room, uint8_t meta,
                  blosc2_cparams* cparams, const void* header) {
  (void)header; /* C-Blosc2 gives the uncompressed bytes of the chunk here */
  if (meta != 7 || cparams->clevel != 5) return -1;
  if (room < (size + 1) / 2) return 0;
  for (int32_t i = 0; i < size; i += 2) {
    if (i + 1 < size && input[i] != input[i + 1]) return 0;
    output[i / 2] = input[i];
  }
  return (size + 1) / 2;
}

static int decode(const uint8_t* input, int32_t size, uint8_t* output, int32_t room, uint8_t meta,
                  blosc2_dparams* dparams, const void* header) {
  (void)dparams;
  if (meta != 7 || ((const uint8_t*)header)[3] != 2) return -1;
  for (int32_t i = 0; i < room && i / 2 < size; ++i) output[i] = input[i / 2];
  return room;
}

static int add(const uint8_t* input, uint8_t* output, int32_t size, uint8_t meta,
               blosc2_cparams* cparams, uint8_t id) {
  (void)cparams;
  for (int32_t i = 0; i < size; ++i) output[i] = (uint8_t)(input[i] + meta + id);
  return 0;
}

static int subtract(const uint8_t* input, uint8_t* output, int32_t size, uint8_t meta,
                    blosc2_dparams* dparams, uint8_t id) {
  (void)dparams;
  for (int32_t i = 0; i < size; ++i) output[i] = (uint8_t)(input[i] - meta - id);
  return 0;
}

static int number_blocks(blosc2_prefilter_params* params) {
  if (params->ttmp_nbytes < (size_t)params->output_size || params->nchunk != -1) return -1;
  const uint8_t step = *(uint8_t*)params->user_data;
  for (int32_t i = 0; i < params->output_size; ++i) {
    params->output[i] = (uint8_t)(params->input[i] + step * params->nblock);
  }
  return params->output_offset == params->nblock * 8000 ? 0 : -1;
}

static int unnumber_blocks(blosc2_postfilter_params* params) {
  const uint8_t step = *(uint8_t*)params->user_data;
  for (int32_t i = 0; i < params->size; ++i) {
    params->output[i] = (uint8_t)(params->input[i] - step * params->nblock);
  }
  return params->offset == params->nblock * 8000 ? 0 : -1;
}

static int refuse(blosc2_prefilter_params* params) {
  (void)params;
  return 1;
}

static void show_registries(void) {
  blosc2_codec codec = {.compcode = 244,
                        .compname = "halves",
                        .complib = 1,
                        .version = 1,
                        .encoder = encode,
                        .decoder = decode};
  blosc2_filter filter = {
      .id = 180, .name = "add", .version = 1, .forward = add, .backward = subtract};
  printf("register %d", blosc2_register_codec(&codec));
  printf(" again %d", blosc2_register_codec(&codec));
  codec.compname = "other";
  printf(" with another name %d", blosc2_register_codec(&codec));
  codec.compcode = 159;
  printf(" of the format %d", blosc2_register_codec(&codec));
  printf(" filter %d", blosc2_register_filter(&filter));
  filter.id = 159;
  printf(" of the format %d\n", blosc2_register_filter(&filter));
  const char* name = NULL;
  printf("names %d", blosc2_compcode_to_compname(244, &name));
  printf(" %s %d %d", name, blosc2_compname_to_compcode("halves"),
         blosc2_compname_to_compcode("grok"));
  printf(" none %d\n", blosc2_compcode_to_compname(250, &name));
}

/* Returns the parameters of chunks that the codec and the filter of the program make. */
static blosc2_cparams own_parameters(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.compcode = 244;
  cparams.compcode_meta = 7;
  cparams.typesize = 2;
  cparams.blocksize = 8000;
  for (int i = 0; i < BLOSC2_MAX_FILTERS; ++i) cparams.filters[i] = 0;
  cparams.filters[3] = 180;
  cparams.filters_meta[3] = 9;
  return cparams;
}

static void show_own_codec(void) {
  for (int i = 0; i < kSize; ++i) items[i] = (uint8_t)(i / 2);
  blosc2_context* cctx = blosc2_create_cctx(own_parameters());
  blosc2_context* dctx = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
  const int size = blosc2_compress_ctx(cctx, items, kSize, chunk, kRoom);
  printf("own codec: %d codec %d filter %d meta %d", size, chunk[0x16], chunk[0x13], chunk[0x1B]);
  memset(back, 0, sizeof(back));
  printf(" read %d", blosc2_decompress_ctx(dctx, chunk, size, back, kSize));
  printf(" %d", memcmp(items, back, kSize));
  printf(" items %d", blosc2_getitem_ctx(dctx, chunk, size, 5000, 100, back, kSize));
  printf(" %d\n", memcmp(items + 10000, back, 200));
  blosc2_free_ctx(cctx);
  blosc2_free_ctx(dctx);
}

/* Files whose chunks are coded by the program, by the handle that made them and by another. */
static void show_own_codec_in_files(char* path, bool contiguous) {
  blosc2_cparams cparams = own_parameters();
  blosc2_storage storage = {.contiguous = contiguous, .urlpath = path, .cparams = &cparams};
  blosc2_schunk* schunk = blosc2_schunk_new(&storage);
  for (int i = 0; i < 4 && schunk != NULL; ++i) {
    printf("  append %lld", (long long)blosc2_schunk_append_buffer(schunk, items, kSize));
    memset(back, 0, sizeof(back));
    printf(" read %d", blosc2_schunk_decompress_chunk(schunk, i, back, kSize));
    printf(" %d\n", memcmp(items, back, kSize));
    blosc2_schunk_free(schunk);
    schunk = blosc2_schunk_open(path);
  }
  if (schunk != NULL) blosc2_schunk_free(schunk);
  blosc2_remove_urlpath(path);
}

/* A super-chunk refuses a chunk, which the program frees, whatever it has said of copies. */
static void show_refused_chunk(char* path) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 1;
  blosc2_storage storage = {.contiguous = path != NULL, .urlpath = path, .cparams = &cparams};
  blosc2_schunk* schunk = blosc2_schunk_new(&storage);
  blosc2_schunk_append_buffer(schunk, items, 1000);
  const void* blocks[2] = {items, items + 500};
  const int32_t sizes[2] = {500, 400};
  for (int i = 0; i < 3; ++i) {
    uint8_t* refused = malloc(2000);
    blosc2_vlcompress_ctx(schunk->cctx, blocks, sizes, 2, refused, 2000);
    int64_t code = 0;
    if (i == 0) code = blosc2_schunk_append_chunk(schunk, refused, false);
    if (i == 1) code = blosc2_schunk_insert_chunk(schunk, 0, refused, false);
    if (i == 2) code = blosc2_schunk_insert_chunk(schunk, 9, refused, false);
    printf("  refused %d", code < 0);
    free(refused);
  }
  printf(" of %lld\n", (long long)schunk->nchunks);
  blosc2_schunk_free(schunk);
  if (path != NULL) blosc2_remove_urlpath(path);
}

static void show_prefilters(int16_t nthreads) {
  uint8_t step = 3;
  blosc2_prefilter_params preparams;
  memset(&preparams, 0, sizeof(preparams));
  preparams.user_data = &step;
  blosc2_postfilter_params postparams;
  memset(&postparams, 0, sizeof(postparams));
  postparams.user_data = &step;
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.blocksize = 8000;
  cparams.nthreads = nthreads;
  cparams.prefilter = number_blocks;
  cparams.preparams = &preparams;
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  dparams.nthreads = nthreads;
  dparams.postfilter = unnumber_blocks;
  dparams.postparams = &postparams;
  make_items(items, kSize, 8);
  blosc2_context* cctx = blosc2_create_cctx(cparams);
  blosc2_context* plain = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
  blosc2_context* dctx = blosc2_create_dctx(dparams);
  const int size = blosc2_compress_ctx(cctx, items, kSize, chunk, kRoom);
  printf("prefilter: %d", size > 0);
  printf(" %d", blosc2_decompress_ctx(plain, chunk, size, back, kSize));
  printf(" %016llx", (unsigned long long)digest(back, kSize));
  printf(" %d", blosc2_decompress_ctx(dctx, chunk, size, back, kSize));
  printf(" %d", memcmp(items, back, kSize));
  printf(" items %d", blosc2_getitem_ctx(dctx, chunk, size, 500, 400, back, kSize));
  printf(" %d\n", memcmp(items + 4000, back, 3200));
  blosc2_free_ctx(cctx);
  cparams.prefilter = refuse;
  cctx = blosc2_create_cctx(cparams);
  printf("refused %d\n", blosc2_compress_ctx(cctx, items, kSize, chunk, kRoom) < 0);
  blosc2_free_ctx(cctx);
  blosc2_free_ctx(plain);
  blosc2_free_ctx(dctx);
}

void show_plugins(void) {
  show_registries();
  show_own_codec();
  char file[] = "own.b2frame";
  char folder[] = "own.sparse";
  show_own_codec_in_files(file, true);
  show_own_codec_in_files(folder, false);
  show_refused_chunk(NULL);
  show_refused_chunk(file);
  show_prefilters(1);
  show_prefilters(4);
}
