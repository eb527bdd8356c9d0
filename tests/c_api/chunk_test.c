// Chunks without a frame.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/c_api/check.h"

enum { kItems = 10000 };

static int32_t items[kItems];
static unsigned char chunk[kItems * 4 + 64];

static void fill_items(void) {
  for (int32_t i = 0; i < kItems; ++i) items[i] = i / 3;
}

static size_t compress(void) {
  cairn_compression_options options = CAIRN_COMPRESSION_OPTIONS_INIT;
  size_t cbytes = 0;
  fill_items();
  options.codec = CAIRN_CODEC_ZSTD;
  options.typesize = 4;
  options.blocksize = 4096;
  CHECK(sizeof chunk >= cairn_chunk_max_size(sizeof items));
  CHECK_OK(cairn_chunk_compress(items, sizeof items, &options, chunk, sizeof chunk, &cbytes, &st));
  return cbytes;
}

static void chunk_decodes_to_what_was_compressed(void) {
  static int32_t decoded[kItems];
  const size_t cbytes = compress();
  CHECK(cbytes > 32 && cbytes < sizeof items / 4);
  CHECK_OK(cairn_chunk_decompress(chunk, cbytes, NULL, decoded, sizeof decoded, &st));
  CHECK(memcmp(decoded, items, sizeof items) == 0);
}

static void sizes_stop_at_the_greatest(void) {
  CHECK(cairn_chunk_max_size(SIZE_MAX - 33) == SIZE_MAX - 1);
  CHECK(cairn_chunk_max_size(SIZE_MAX) == SIZE_MAX);
  CHECK(cairn_chunk_max_vlblocks_size(0, SIZE_MAX / 4) == SIZE_MAX);
  CHECK(cairn_chunk_max_vlblocks_size(SIZE_MAX - 40, 1) == SIZE_MAX);
}

static void single_items_decode(void) {
  int32_t part[7];
  const size_t cbytes = compress();
  CHECK_OK(cairn_chunk_decompress_items(chunk, cbytes, 1021, NULL, part, sizeof part, &st));
  CHECK(memcmp(part, items + 1021, sizeof part) == 0);
  CHECK_CODE(CAIRN_OUT_OF_RANGE,
             cairn_chunk_decompress_items(chunk, cbytes, kItems, NULL, part, sizeof part, &st));
}

static void header_is_described(void) {
  cairn_chunk_info info = {.struct_size = sizeof info};
  const size_t cbytes = compress();
  CHECK_OK(cairn_chunk_inspect(chunk, cbytes, &info, &st));
  CHECK(info.struct_size == sizeof info);
  CHECK(info.nbytes == sizeof items && info.cbytes == (int32_t)cbytes && info.typesize == 4);
  CHECK(info.blocksize == 4096 && info.nblocks == 10 && info.header_size == 32);
  CHECK(info.codec == CAIRN_CODEC_ZSTD && info.special == CAIRN_SPECIAL_NONE && !info.vlblocks);
  CHECK_CODE(CAIRN_DATA_LOSS, cairn_chunk_inspect(chunk, 5, &info, &st));
}

static void damage_is_reported(void) {
  static int32_t decoded[kItems];
  const size_t cbytes = compress();
  CHECK_CODE(CAIRN_DATA_LOSS,
             cairn_chunk_decompress(chunk, cbytes / 2, NULL, decoded, sizeof decoded, &st));
  CHECK(st.message[0] != '\0');
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_chunk_decompress(chunk, cbytes, NULL, decoded, 4, &st));
}

static void small_buffer_is_exhausted(void) {
  size_t cbytes = 77;
  fill_items();
  CHECK_CODE(CAIRN_RESOURCE_EXHAUSTED,
             cairn_chunk_compress(items, sizeof items, NULL, chunk, 40, &cbytes, &st));
  CHECK(cbytes == 77);
}

static void unknown_options_are_refused(void) {
  const int32_t bad[] = {-1, 256, 1 << 20};
  size_t cbytes = 0;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    cairn_compression_options options = CAIRN_COMPRESSION_OPTIONS_INIT;
    options.codec = bad[i];
    CHECK_CODE(CAIRN_INVALID_ARGUMENT,
               cairn_chunk_compress("abcd", 4, &options, chunk, sizeof chunk, &cbytes, &st));
    CHECK_MESSAGE("codec");
    options.codec = CAIRN_CODEC_LZ4;
    options.split_mode = bad[i];
    CHECK_CODE(CAIRN_INVALID_ARGUMENT,
               cairn_chunk_compress("abcd", 4, &options, chunk, sizeof chunk, &cbytes, &st));
    CHECK_MESSAGE("split_mode");
    options.split_mode = CAIRN_SPLIT_NEVER;
    options.nfilters = bad[i];
    CHECK_CODE(CAIRN_INVALID_ARGUMENT,
               cairn_chunk_compress("abcd", 4, &options, chunk, sizeof chunk, &cbytes, &st));
    CHECK_MESSAGE("filters");
  }
}

static void special_chunk_stores_its_value_once(void) {
  const int32_t value = 42;
  int32_t decoded[100] = {0};
  cairn_compression_options options = CAIRN_COMPRESSION_OPTIONS_INIT;
  cairn_bytes* made = NULL;
  options.typesize = 4;
  CHECK_OK(cairn_chunk_make_special(CAIRN_SPECIAL_REPEAT, sizeof decoded, &value, sizeof value,
                                    &options, &made, &st));
  CHECK(cairn_bytes_size(made) == 36);
  CHECK_OK(cairn_chunk_decompress(cairn_bytes_data(made), cairn_bytes_size(made), NULL, decoded,
                                  sizeof decoded, &st));
  CHECK(decoded[0] == 42 && decoded[99] == 42);
  cairn_bytes_free(made);
}

static void variable_blocks_keep_their_sizes(void) {
  const cairn_span blocks[] = {{"one", 3}, {"two blocks", 10}, {"3", 1}};
  unsigned char vl[40000];
  size_t cbytes = 0, nblocks = 0;
  int32_t sizes[3] = {0};
  cairn_compression_options options = CAIRN_COMPRESSION_OPTIONS_INIT;
  CHECK(sizeof vl >= cairn_chunk_max_vlblocks_size(14, 3));
  CHECK_OK(cairn_chunk_compress_vlblocks(blocks, 3, &options, vl, sizeof vl, &cbytes, &st));
  CHECK_OK(cairn_chunk_block_sizes(vl, cbytes, sizes, 3, &nblocks, &st));
  CHECK(nblocks == 3 && sizes[0] == 3 && sizes[1] == 10 && sizes[2] == 1);
  sizes[1] = 0;
  CHECK_OK(cairn_chunk_block_sizes(vl, cbytes, sizes, 1, &nblocks, &st));
  CHECK(nblocks == 3 && sizes[1] == 0);
  CHECK_OK(cairn_chunk_block_sizes(vl, cbytes, NULL, 0, &nblocks, &st));
}

static void compressor_makes_the_same_chunk(void) {
  static unsigned char same[sizeof chunk];
  static int32_t decoded[kItems];
  int32_t part[2] = {0};
  cairn_compression_options options = CAIRN_COMPRESSION_OPTIONS_INIT;
  cairn_compressor* compressor = NULL;
  cairn_decompressor* decompressor = NULL;
  size_t cbytes = 0;
  const size_t expected = compress();
  options.codec = CAIRN_CODEC_ZSTD;
  options.typesize = 4;
  options.blocksize = 4096;
  CHECK_OK(cairn_compressor_make(&options, &compressor, &st));
  CHECK_OK(cairn_decompressor_make(NULL, &decompressor, &st));
  for (int i = 0; i < 3; ++i) {
    CHECK_OK(cairn_compressor_compress(compressor, items, sizeof items, same, sizeof same, &cbytes,
                                       &st));
    CHECK(cbytes == expected && memcmp(same, chunk, expected) == 0);
    CHECK_OK(
        cairn_decompressor_decompress(decompressor, same, cbytes, decoded, sizeof decoded, &st));
    CHECK(memcmp(decoded, items, sizeof items) == 0);
    CHECK_OK(cairn_decompressor_decompress_items(decompressor, same, cbytes, 3000, part,
                                                 sizeof part, &st));
    CHECK(part[0] == 1000 && part[1] == 1000);
  }
  cairn_compressor_free(compressor);
  cairn_decompressor_free(decompressor);
}

static void codec_for_arrays_gets_the_shape_of_a_block(void) {
  static unsigned char plane[32 * 32];
  static unsigned char read[sizeof plane];
  const int32_t blockshape[] = {16, 32};
  cairn_compression_options options = CAIRN_COMPRESSION_OPTIONS_INIT;
  cairn_chunk_info info = {.struct_size = sizeof info};
  size_t cbytes = 0;
  for (size_t i = 0; i < sizeof plane; ++i) plane[i] = (unsigned char)(i % 32 / 8);
  options.codec = CAIRN_CODEC_NDLZ;
  options.codec_meta = 4;
  options.nfilters = 0;
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_chunk_compress(plane, sizeof plane, &options, chunk,
                                                          sizeof chunk, &cbytes, &st));
  options.blockshape = blockshape;
  options.ndim = 2;
  CHECK_OK(cairn_chunk_compress(plane, sizeof plane, &options, chunk, sizeof chunk, &cbytes, &st));
  CHECK_OK(cairn_chunk_inspect(chunk, cbytes, &info, &st));
  CHECK(info.blocksize == 512 && cbytes < sizeof plane / 2);
  CHECK_OK(cairn_chunk_decompress(chunk, cbytes, NULL, read, sizeof read, &st));
  CHECK(memcmp(read, plane, sizeof plane) == 0);
  options.ndim = -1;
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_chunk_compress(plane, sizeof plane, &options, chunk,
                                                          sizeof chunk, &cbytes, &st));
  CHECK_MESSAGE("blockshape");
}

const test_case chunk_tests[] = {
    TEST_CASE(chunk_decodes_to_what_was_compressed),
    TEST_CASE(sizes_stop_at_the_greatest),
    TEST_CASE(single_items_decode),
    TEST_CASE(header_is_described),
    TEST_CASE(damage_is_reported),
    TEST_CASE(small_buffer_is_exhausted),
    TEST_CASE(unknown_options_are_refused),
    TEST_CASE(special_chunk_stores_its_value_once),
    TEST_CASE(variable_blocks_keep_their_sizes),
    TEST_CASE(compressor_makes_the_same_chunk),
    TEST_CASE(codec_for_arrays_gets_the_shape_of_a_block),
    {NULL, NULL},
};
