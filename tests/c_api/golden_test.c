// The golden files read through the C API as through the C++ API: `golden_tests TABLE`, in their
// folder; see golden_test.py.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "cairn/cairn.h"

// Larger contents are left to the C++ tests.
static const int64_t kMaxHashed = 64 << 20;

typedef struct entry {
  char kind[20];
  char expect[20];
  long long offset, nchunks, nbytes;
  char hash[40];
  char path[200];
} entry;

typedef struct result {
  cairn_status status;
  bool hashed;
  char hash[40];
} result;

static void print_hash(XXH128_hash_t hash, char* text) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  for (int i = 0; i < 16; ++i) sprintf(text + 2 * i, "%02x", canonical.digest[i]);
}

static void* load(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  char* data = NULL;
  long end = 0;
  *size = 0;
  if (file == NULL) return NULL;
  if (fseek(file, 0, SEEK_END) == 0 && (end = ftell(file)) >= 0 && fseek(file, 0, SEEK_SET) == 0) {
    data = malloc((size_t)end + 1);
    *size = fread(data, 1, (size_t)end, file);
  }
  fclose(file);
  return data;
}

static void read_chunk(const entry* expected, result* to) {
  cairn_chunk_info info = {.struct_size = sizeof info};
  size_t size = 0;
  void* chunk = load(expected->path, &size);
  void* decoded = NULL;
  if (cairn_chunk_inspect(chunk, size, &info, &to->status) == CAIRN_OK &&
      info.nbytes <= kMaxHashed) {
    decoded = malloc((size_t)info.nbytes + 1);
    if (cairn_chunk_decompress(chunk, size, NULL, decoded, (size_t)info.nbytes, &to->status) ==
        CAIRN_OK) {
      print_hash(XXH3_128bits(decoded, (size_t)info.nbytes), to->hash);
      to->hashed = true;
    }
  }
  free(decoded);
  free(chunk);
}

static cairn_code read_metadata(const cairn_snapshot* snapshot, cairn_status* status) {
  cairn_code code = CAIRN_OK;
  for (size_t i = 0; code == CAIRN_OK && i < cairn_snapshot_metalayer_count(snapshot); ++i) {
    cairn_bytes* content = NULL;
    code = cairn_snapshot_get_metalayer(snapshot, cairn_snapshot_metalayer_name(snapshot, i),
                                        &content, status);
    cairn_bytes_free(content);
  }
  for (size_t i = 0; code == CAIRN_OK && i < cairn_snapshot_vlmetalayer_count(snapshot); ++i) {
    cairn_bytes* content = NULL;
    code = cairn_snapshot_get_vlmetalayer(snapshot, cairn_snapshot_vlmetalayer_name(snapshot, i),
                                          &content, status);
    cairn_bytes_free(content);
  }
  return code;
}

static cairn_code hash_chunks(const cairn_snapshot* snapshot, int64_t nchunks, result* to) {
  XXH3_state_t* hasher = XXH3_createState();
  cairn_code code = CAIRN_OK;
  XXH3_128bits_reset(hasher);
  for (int64_t i = 0; code == CAIRN_OK && i < nchunks; ++i) {
    int32_t nbytes = 0;
    code = cairn_snapshot_chunk_nbytes(snapshot, i, &nbytes, &to->status);
    if (code == CAIRN_OK && nbytes <= kMaxHashed) {
      void* decoded = malloc((size_t)nbytes + 1);
      code = cairn_snapshot_read_chunk(snapshot, i, decoded, (size_t)nbytes, &to->status);
      if (code == CAIRN_OK) XXH3_128bits_update(hasher, decoded, (size_t)nbytes);
      free(decoded);
    }
  }
  print_hash(XXH3_128bits_digest(hasher), to->hash);
  to->hashed = code == CAIRN_OK;
  XXH3_freeState(hasher);
  return code;
}

static void read_frame(const entry* expected, result* to) {
  cairn_open_options options = CAIRN_OPEN_OPTIONS_INIT;
  cairn_frame* frame = NULL;
  cairn_snapshot* snapshot = NULL;
  cairn_frame_info info = {.struct_size = sizeof info};
  options.offset = expected->offset;
  if (cairn_frame_open(expected->path, &options, &frame, &to->status) == CAIRN_OK &&
      cairn_frame_snapshot(frame, &snapshot, &to->status) == CAIRN_OK &&
      cairn_snapshot_info(snapshot, &info, &to->status) == CAIRN_OK &&
      read_metadata(snapshot, &to->status) == CAIRN_OK) {
    if (strcmp(expected->expect, "ok") == 0 && expected->nchunks >= 0 &&
        (info.nchunks != expected->nchunks || info.nbytes != expected->nbytes)) {
      to->status.code = CAIRN_INTERNAL;
      sprintf(to->status.message, "%lld chunks, %lld bytes", (long long)info.nchunks,
              (long long)info.nbytes);
    } else if (info.nbytes <= kMaxHashed) {
      hash_chunks(snapshot, info.nchunks, to);
    }
  }
  cairn_snapshot_free(snapshot);
  cairn_frame_free(frame);
}

static bool is_as_expected(const entry* expected, const result* got) {
  const bool same =
      !got->hashed || expected->hash[0] == '-' || strcmp(got->hash, expected->hash) == 0;
  const cairn_code code = got->status.code;
  if (strcmp(expected->expect, "ok") == 0) return code == CAIRN_OK && same;
  if (strcmp(expected->expect, "unsupported") == 0) return code == CAIRN_UNIMPLEMENTED;
  if (strcmp(expected->expect, "error") == 0) {
    return code != CAIRN_OK || (got->hashed && expected->hash[0] != '-' && same);
  }
  return true;  // it must do no harm
}

int main(int argc, char** argv) {
  FILE* table = argc == 2 ? fopen(argv[1], "r") : NULL;
  entry expected;
  int number = 0;
  bool ok = table != NULL;
  while (ok && fscanf(table, "%19s %19s %lld %lld %lld %39s %199s", expected.kind, expected.expect,
                      &expected.offset, &expected.nchunks, &expected.nbytes, expected.hash,
                      expected.path) == 7) {
    result got;
    memset(&got, 0, sizeof got);
    if (strcmp(expected.kind, "chunk") == 0) {
      read_chunk(&expected, &got);
    } else {
      read_frame(&expected, &got);
    }
    const bool passed = is_as_expected(&expected, &got);
    if (!passed) {
      printf("# expected %s %s, got %s %s: %s\n", expected.expect, expected.hash, got.hash,
             cairn_code_name(got.status.code), got.status.message);
    }
    printf("%s %d - %s\n", passed ? "ok" : "not ok", ++number, expected.path);
  }
  if (table != NULL) fclose(table);
  printf("1..%d\n", number);
  return ok && number > 0 ? 0 : 1;
}
