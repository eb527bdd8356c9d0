/* Files that are mapped, and files that are locked. */
#include <blosc2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scenario.h"

enum { kItems = 5000, kBytes = kItems * 4 };

static int32_t items[kItems];
static int32_t back[kItems];

static void show(const char* what, blosc2_schunk* schunk) {
  printf("  %s: nchunks %lld nbytes %lld", what, (long long)schunk->nchunks,
         (long long)schunk->nbytes);
  for (int64_t i = 0; i < schunk->nchunks; ++i) {
    const int size = blosc2_schunk_decompress_chunk(schunk, i, back, kBytes);
    printf(" %016llx", (unsigned long long)digest(back, size > 0 ? (size_t)size : 0));
  }
  printf("\n");
}

static void append(blosc2_schunk* schunk, int32_t first) {
  for (int32_t i = 0; i < kItems; ++i) items[i] = first + i;
  printf("  append %d\n", blosc2_schunk_append_buffer(schunk, items, kBytes) >= 0);
}

static void show_vlmetalayer(blosc2_schunk* schunk) {
  uint8_t* content = NULL;
  int32_t size = 0;
  const int number = blosc2_vlmeta_get(schunk, "layer", &content, &size);
  printf("  vlmetalayer %d size %d\n", number, size);
  free(content);
}

/* Opens the file in a mode, changes it, and shows what another handle sees then. */
static void show_mode(const char* path, const char* mode, int64_t offset) {
  blosc2_stdio_mmap mapped = BLOSC2_STDIO_MMAP_DEFAULTS;
  mapped.mode = mode;
  blosc2_io io = {.id = BLOSC2_IO_FILESYSTEM_MMAP, .params = &mapped};
  blosc2_schunk* schunk = blosc2_schunk_open_offset_udio(path, offset, &io);
  printf("mode %s at %d: %d\n", mode, offset > 0, schunk != NULL);
  if (schunk == NULL) return;
  show("opened", schunk);
  if (mode[0] != 'r' || mode[1] != '\0') {
    append(schunk, 1000);
    for (int i = 0; i < 300; ++i) items[i] = -i;
    printf("  set items %d\n", blosc2_schunk_set_slice_buffer(schunk, 100, 400, items));
    uint8_t content[50] = {9, 8, 7};
    printf("  vlmeta %d\n", blosc2_vlmeta_add(schunk, "layer", content, 50, NULL));
    show("edited", schunk);
    show_vlmetalayer(schunk);
  }
  blosc2_schunk_free(schunk);
  schunk = blosc2_schunk_open_offset(path, offset);
  show("afterwards", schunk);
  show_vlmetalayer(schunk);
  blosc2_schunk_free(schunk);
}

static void show_modes(void) {
  char path[] = "mapped.b2frame";
  blosc2_stdio_mmap mapped = BLOSC2_STDIO_MMAP_DEFAULTS;
  mapped.mode = "w+";
  mapped.initial_mapping_size = 1000;
  blosc2_io io = {.id = BLOSC2_IO_FILESYSTEM_MMAP, .params = &mapped};
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  blosc2_storage storage = {.contiguous = true, .urlpath = path, .cparams = &cparams, .io = &io};
  blosc2_schunk* schunk = blosc2_schunk_new(&storage);
  printf("mapped %d\n", schunk != NULL);
  for (int32_t n = 0; n < 3; ++n) append(schunk, n * kItems);
  show("written", schunk);
  blosc2_schunk_free(schunk);
  show_mode(path, "r", 0);
  show_mode(path, "c", 0);
  show_mode(path, "r+", 0);
  for (int i = 0; i < 2; ++i) {
    mapped = BLOSC2_STDIO_MMAP_DEFAULTS;
    mapped.mode = i == 0 ? "r" : "c";
    schunk = blosc2_schunk_open_udio(path, &io);
    printf("  free %d %d\n", i, blosc2_schunk_free(schunk));
  }

  blosc2_stdio_mmap* on_heap = malloc(sizeof(*on_heap));
  memcpy(on_heap, &BLOSC2_STDIO_MMAP_DEFAULTS, sizeof(*on_heap));
  on_heap->needs_free = true;
  io.params = on_heap;
  schunk = blosc2_schunk_open_udio(path, &io);
  show("freed with the struct", schunk);
  const int64_t offset = blosc2_schunk_append_file(schunk, "other.b2frame");
  printf("  at offsets %d %d\n", offset == 0,
         blosc2_schunk_append_file(schunk, "other.b2frame") > 0);
  blosc2_schunk_free(schunk);
  show_mode("other.b2frame", "r", offset);
  blosc2_remove_urlpath("other.b2frame");
  blosc2_remove_urlpath(path);
}

static void show_bytes(void* stream, int64_t count) {
  char memory[64] = {0};
  void* at = memory;
  const int64_t read = blosc2_stdio_mmap_read(&at, 1, count, 0, stream);
  printf("  size %lld read %lld", (long long)blosc2_stdio_mmap_size(stream), (long long)read);
  if (read > 0) printf(" %016llx", (unsigned long long)digest(at, (size_t)read));
  printf("\n");
}

static void show_functions(const char* mode) {
  blosc2_stdio_mmap mapped = BLOSC2_STDIO_MMAP_DEFAULTS;
  mapped.mode = mode;
  mapped.initial_mapping_size = 64;
  void* stream = blosc2_stdio_mmap_open("bytes.bin", "rb+", &mapped);
  printf("functions %s: %d\n", mode, stream != NULL);
  if (stream == NULL) return;
  if (mode[0] == 'w') {
    printf("  write %lld", (long long)blosc2_stdio_mmap_write("0123456789", 2, 5, 0, stream));
    printf(" %lld\n", (long long)blosc2_stdio_mmap_write("abcdefgh", 1, 8, 6, stream));
  }
  show_bytes(stream, 14);
  if (mode[0] != 'r' || mode[1] != '\0') {
    static char many[9000];
    const int64_t more = mode[0] == 'c' ? 100 : 9000; /* C-Blosc2 crashes past the last page */
    memset(many, 'm', sizeof(many));
    printf("  more %lld\n", (long long)blosc2_stdio_mmap_write(many, 1, more, 10, stream));
    show_bytes(stream, 10 + more);
    printf("  truncate %d\n", blosc2_stdio_mmap_truncate(stream, 12));
    show_bytes(stream, 12);
  }
  void* at = stream;
  printf("  past the end %lld", (long long)blosc2_stdio_mmap_read(&at, 1, 1, 1 << 20, stream));
  printf(" %d\n", at == NULL);
  printf("  close %d", blosc2_stdio_mmap_close(stream));
  printf(" destroy %d", blosc2_stdio_mmap_destroy(&mapped));
  printf(" again %d\n", blosc2_stdio_mmap_destroy(&mapped));
  char bytes[20] = {0};
  FILE* file = fopen("bytes.bin", "rb");
  const size_t read = fread(bytes, 1, sizeof(bytes), file);
  fclose(file);
  printf("  file %zu %016llx\n", read, (unsigned long long)digest(bytes, read));
}

static void show_locking(void) {
  char path[] = "locked.b2frame";
  blosc2_stdio_params params = BLOSC2_STDIO_PARAMS_DEFAULTS;
  for (int locks = 0; locks < 2; ++locks) {
    params.locking = locks != 0;
    blosc2_io io = {.id = BLOSC2_IO_FILESYSTEM, .params = &params};
    blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
    cparams.typesize = 4;
    blosc2_storage storage = {.contiguous = true, .urlpath = path, .cparams = &cparams, .io = &io};
    blosc2_schunk* schunk = blosc2_schunk_new(&storage);
    append(schunk, 1);
    printf("locking %d: lock file %d\n", locks, access("locked.b2frame.b2lock", F_OK) == 0);
    printf("  lock %d", blosc2_schunk_lock(schunk));
    printf(" %d", blosc2_schunk_lock(schunk));
    append(schunk, 2);
    printf("  unlock %d", blosc2_schunk_unlock(schunk));
    printf(" %d\n", blosc2_schunk_unlock(schunk));
    show("locked", schunk);
    blosc2_schunk_free(schunk);
    printf("  remove %d", blosc2_remove_urlpath(path));
    printf(" lock file %d\n", access("locked.b2frame.b2lock", F_OK) == 0);
  }
}

void show_mapped_files(void) {
  show_modes();
  show_functions("w+");
  show_functions("r");
  show_functions("c");
  show_functions("r+");
  unlink("bytes.bin");
  show_locking();
}
