// Executors, and codecs and filters of a program's own.
#include <string.h>

#include "tests/c_api/check.h"

enum { kCodec = 200, kFilter = 201, kSize = 100000 };

static unsigned char data[kSize];
static unsigned char decoded[kSize];
static unsigned char chunk[kSize + 64];

// Halves blocks whose bytes come in equal pairs.
static cairn_code halve(void* context, const cairn_plugin_call* call, const void* src,
                        size_t src_size, void* dst, size_t size, size_t* cbytes) {
  ++*(int*)context;
  *cbytes = 0;
  if (call->struct_size != sizeof *call || call->typesize != 1) return CAIRN_INTERNAL;
  if (src_size / 2 > size || src_size % 2 != 0) return CAIRN_OK;
  for (size_t i = 0; i < src_size / 2; ++i) {
    ((unsigned char*)dst)[i] = ((const unsigned char*)src)[2 * i];
  }
  *cbytes = src_size / 2;
  return CAIRN_OK;
}

static cairn_code twice(void* context, const cairn_plugin_call* call, const void* src,
                        size_t src_size, void* dst, size_t size) {
  (void)context;
  (void)call;
  if (size != 2 * src_size) return CAIRN_DATA_LOSS;
  for (size_t i = 0; i < size; ++i) {
    ((unsigned char*)dst)[i] = ((const unsigned char*)src)[i / 2];
  }
  return CAIRN_OK;
}

static cairn_code refuse(void* context, const cairn_plugin_call* call, const void* src,
                         size_t src_size, void* dst, size_t size) {
  (void)context, (void)call, (void)src, (void)src_size, (void)dst, (void)size;
  return CAIRN_ABORTED;
}

static cairn_code flip(void* context, const cairn_plugin_call* call, const void* src, void* dst,
                       size_t size) {
  (void)context;
  for (size_t i = 0; i < size; ++i) {
    ((unsigned char*)dst)[i] = (unsigned char)(((const unsigned char*)src)[i] ^ call->meta);
  }
  return CAIRN_OK;
}

static cairn_registry* make_registry(int* calls, bool can_decode) {
  const cairn_codec_plugin codec = {sizeof codec, halve, can_decode ? twice : refuse, calls};
  const cairn_filter_plugin filter = {sizeof filter, flip, flip, NULL};
  cairn_registry* registry = NULL;
  CHECK_OK(cairn_registry_make(&registry, &st));
  CHECK_OK(cairn_registry_add_codec(registry, kCodec, &codec, &st));
  CHECK_OK(cairn_registry_add_filter(registry, kFilter, &filter, &st));
  return registry;
}

static void fill_data(void) {
  for (size_t i = 0; i < kSize; ++i) data[i] = (unsigned char)(i / 2 % 100);
}

static size_t compress(const cairn_registry* registry) {
  cairn_compression_options options = CAIRN_COMPRESSION_OPTIONS_INIT;
  size_t cbytes = 0;
  fill_data();
  options.codec = kCodec;
  options.split_mode = CAIRN_SPLIT_NEVER;
  options.filters[0].filter = kFilter;
  options.filters[0].meta = 85;
  options.registry = registry;
  CHECK_OK(cairn_chunk_compress(data, kSize, &options, chunk, sizeof chunk, &cbytes, &st));
  return cbytes;
}

static void registered_codec_and_filter_code_a_chunk(void) {
  int calls = 0;
  cairn_registry* registry = make_registry(&calls, true);
  cairn_decompression_options options = CAIRN_DECOMPRESSION_OPTIONS_INIT;
  const size_t cbytes = compress(registry);
  CHECK(calls > 0);
  CHECK(cbytes < kSize * 6 / 10);
  options.registry = registry;
  CHECK_OK(cairn_chunk_decompress(chunk, cbytes, &options, decoded, kSize, &st));
  CHECK(memcmp(decoded, data, kSize) == 0);
  CHECK_CODE(CAIRN_UNIMPLEMENTED, cairn_chunk_decompress(chunk, cbytes, NULL, decoded, kSize, &st));
  CHECK_MESSAGE("20");
  cairn_registry_free(registry);
}

static bool has_shape(const cairn_plugin_call* call, const int32_t* shape) {
  return call->ndim == 2 && memcmp(call->blockshape, shape, 2 * sizeof *shape) == 0;
}

// Halves blocks that have the shape in the context.
static cairn_code halve_shaped(void* context, const cairn_plugin_call* call, const void* src,
                               size_t src_size, void* dst, size_t size, size_t* cbytes) {
  int calls = 0;
  if (!has_shape(call, context)) return CAIRN_FAILED_PRECONDITION;
  return halve(&calls, call, src, src_size, dst, size, cbytes);
}

static cairn_code twice_shaped(void* context, const cairn_plugin_call* call, const void* src,
                               size_t src_size, void* dst, size_t size) {
  if (!has_shape(call, context)) return CAIRN_FAILED_PRECONDITION;
  return twice(NULL, call, src, src_size, dst, size);
}

static void codec_is_told_the_shape_of_a_block(void) {
  int32_t blockshape[] = {16, 32};
  const cairn_codec_plugin codec = {sizeof codec, halve_shaped, twice_shaped, blockshape};
  cairn_compression_options options = CAIRN_COMPRESSION_OPTIONS_INIT;
  cairn_decompression_options reading = CAIRN_DECOMPRESSION_OPTIONS_INIT;
  cairn_registry* registry = NULL;
  size_t cbytes = 0;
  fill_data();
  CHECK_OK(cairn_registry_make(&registry, &st));
  CHECK_OK(cairn_registry_add_codec(registry, kCodec, &codec, &st));
  options.codec = kCodec;
  options.split_mode = CAIRN_SPLIT_NEVER;
  options.registry = reading.registry = registry;
  CHECK_CODE(CAIRN_FAILED_PRECONDITION,
             cairn_chunk_compress(data, 1024, &options, chunk, sizeof chunk, &cbytes, &st));
  options.blockshape = blockshape;
  options.ndim = 2;
  CHECK_OK(cairn_chunk_compress(data, 1024, &options, chunk, sizeof chunk, &cbytes, &st));
  CHECK_CODE(CAIRN_FAILED_PRECONDITION,
             cairn_chunk_decompress(chunk, cbytes, &reading, decoded, 1024, &st));
  reading.blockshape = blockshape;
  reading.ndim = 2;
  CHECK_OK(cairn_chunk_decompress(chunk, cbytes, &reading, decoded, 1024, &st));
  CHECK(memcmp(decoded, data, 1024) == 0);
  cairn_registry_free(registry);
}

static void failure_of_a_plug_in_fails_the_call(void) {
  int calls = 0;
  cairn_registry* registry = make_registry(&calls, false);
  cairn_decompression_options options = CAIRN_DECOMPRESSION_OPTIONS_INIT;
  const size_t cbytes = compress(registry);
  options.registry = registry;
  CHECK_CODE(CAIRN_ABORTED, cairn_chunk_decompress(chunk, cbytes, &options, decoded, kSize, &st));
  CHECK_MESSAGE("codec 200");
  cairn_registry_free(registry);
}

static void ids_of_the_format_and_taken_ones_are_refused(void) {
  int calls = 0;
  const cairn_codec_plugin codec = {sizeof codec, halve, twice, &calls};
  const cairn_codec_plugin empty = {sizeof empty, NULL, twice, &calls};
  cairn_registry* registry = make_registry(&calls, true);
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_registry_add_codec(registry, 5, &codec, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_registry_add_codec(registry, 256, &codec, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_registry_add_codec(registry, 160 - 256, &codec, &st));
  CHECK_CODE(CAIRN_ALREADY_EXISTS, cairn_registry_add_codec(registry, kCodec, &codec, &st));
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_registry_add_codec(registry, 202, &empty, &st));
  CHECK_MESSAGE("compress is NULL");
  cairn_registry_free(registry);
}

static void executor_changes_no_byte(void) {
  static unsigned char same[kSize + 64];
  cairn_compression_options options = CAIRN_COMPRESSION_OPTIONS_INIT;
  cairn_decompression_options reading = CAIRN_DECOMPRESSION_OPTIONS_INIT;
  cairn_executor* executor = NULL;
  size_t alone = 0, together = 0;
  options.blocksize = 4096;
  CHECK_OK(cairn_executor_make(2, &executor, &st));
  CHECK_OK(cairn_chunk_compress(data, kSize, &options, chunk, sizeof chunk, &alone, &st));
  options.executor = executor;
  CHECK_OK(cairn_chunk_compress(data, kSize, &options, same, sizeof same, &together, &st));
  CHECK(alone == together && memcmp(chunk, same, alone) == 0);
  reading.executor = executor;
  CHECK_OK(cairn_chunk_decompress(chunk, alone, &reading, decoded, kSize, &st));
  CHECK(memcmp(decoded, data, kSize) == 0);
  cairn_executor_free(executor);
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_executor_make(-1, &executor, &st));
}

static void frame_shares_the_executor_and_the_registry_that_were_freed(void) {
  int calls = 0;
  cairn_registry* registry = make_registry(&calls, true);
  cairn_executor* executor = NULL;
  cairn_compression_options compression = CAIRN_COMPRESSION_OPTIONS_INIT;
  cairn_create_options options = CAIRN_CREATE_OPTIONS_INIT;
  cairn_frame* frame = NULL;
  cairn_writer* writer = NULL;
  cairn_snapshot* snapshot = NULL;
  CHECK_OK(cairn_executor_make(2, &executor, &st));
  fill_data();
  compression.codec = kCodec;
  compression.split_mode = CAIRN_SPLIT_NEVER;
  compression.registry = registry;
  compression.executor = executor;
  options.compression = &compression;
  CHECK_OK(cairn_frame_create_in_memory(&options, &frame, &st));
  cairn_registry_free(registry);
  cairn_executor_free(executor);
  CHECK_OK(cairn_frame_open_writer(frame, NULL, &writer, &st));
  CHECK_OK(cairn_writer_append(writer, data, kSize, &st));
  CHECK_OK(cairn_writer_close(writer, &st));
  cairn_writer_free(writer);
  CHECK_OK(cairn_frame_refresh(frame, &snapshot, &st));
  cairn_frame_free(frame);
  memset(decoded, 0, kSize);
  CHECK_OK(cairn_snapshot_read_bytes(snapshot, 0, decoded, kSize, &st));
  CHECK(memcmp(decoded, data, kSize) == 0);
  CHECK(calls > 0);
  cairn_snapshot_free(snapshot);
}

const test_case plugin_tests[] = {
    TEST_CASE(frame_shares_the_executor_and_the_registry_that_were_freed),
    TEST_CASE(registered_codec_and_filter_code_a_chunk),
    TEST_CASE(codec_is_told_the_shape_of_a_block),
    TEST_CASE(failure_of_a_plug_in_fails_the_call),
    TEST_CASE(ids_of_the_format_and_taken_ones_are_refused),
    TEST_CASE(executor_changes_no_byte),
    {NULL, NULL},
};
