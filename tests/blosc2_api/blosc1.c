/* Calls without a context, and the variables of the environment. */
#include <blosc2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario.h"

enum { kSize = 100000, kRoom = kSize + BLOSC2_MAX_OVERHEAD };

static uint8_t items[kSize];
static uint8_t chunk[kRoom];
static uint8_t back[kSize];

static void show(const char* name) {
  memset(back, 0, sizeof(back));
  const int size = blosc1_compress(5, BLOSC_SHUFFLE, 4, kSize, items, chunk, kRoom);
  size_t nbytes = 0, cbytes = 0, blocksize = 0, typesize = 0;
  int flags = 0;
  blosc1_cbuffer_sizes(chunk, &nbytes, &cbytes, &blocksize);
  blosc1_cbuffer_metainfo(chunk, &typesize, &flags);
  printf("%s: %d nbytes %zu blocksize %zu typesize %zu flags %02x library %s", name,
         size > 0 ? 1 : size, nbytes, blocksize, typesize, (unsigned)flags,
         blosc2_cbuffer_complib(chunk));
  printf(" read %d", blosc1_decompress(chunk, back, kSize));
  printf(" %016llx", (unsigned long long)digest(back, kSize));
  printf(" items %d", blosc1_getitem(chunk, 100, 10, back));
  printf(" %016llx\n", (unsigned long long)digest(back, 40));
}

void show_blosc1(void) {
  make_items(items, kSize, 4);
  show("default");
  printf("compressor %s: %d %d\n", blosc1_get_compressor(), blosc1_set_compressor("lz4"),
         blosc1_set_compressor("zstd"));
  show("zstd");
  printf("unknown %d user %d\n", blosc2_compname_to_compcode("nonsense"),
         blosc1_set_compressor("ndlz"));
  blosc1_set_compressor("lz4");
  blosc1_set_blocksize(16384);
  printf("blocksize %d\n", blosc1_get_blocksize());
  show("blocks");
  blosc1_set_blocksize(0);
  blosc1_set_splitmode(BLOSC_NEVER_SPLIT);
  show("unsplit");
  blosc1_set_splitmode(BLOSC_FORWARD_COMPAT_SPLIT);
  blosc2_set_delta(1);
  show("delta");
  blosc2_set_delta(0);
  printf("threads %d %d %d\n", blosc2_get_nthreads(), blosc2_set_nthreads(3),
         blosc2_get_nthreads());
  show("threads");
  printf("no threads %d, then %d\n", blosc2_set_nthreads(0), blosc2_get_nthreads());
  blosc2_set_nthreads(1);
  setenv("BLOSC_COMPRESSOR", "zlib", 1);
  setenv("BLOSC_TYPESIZE", "8", 1);
  setenv("BLOSC_SHUFFLE", "BITSHUFFLE", 1);
  setenv("BLOSC_CLEVEL", "3", 1);
  show("environment");
  setenv("BLOSC_CLEVEL", "0", 1);
  show("copied");
  unsetenv("BLOSC_COMPRESSOR");
  unsetenv("BLOSC_TYPESIZE");
  unsetenv("BLOSC_SHUFFLE");
  unsetenv("BLOSC_CLEVEL");
  setenv("BLOSC_NOLOCK", "1", 1);
  show("without the lock");
  unsetenv("BLOSC_NOLOCK");
  setenv("BLOSC_BLOSC1_COMPAT", "1", 1);
  show("for C-Blosc 1");
  blosc2_set_delta(1);
  for (int clevel = 0; clevel < 6; clevel += 5) {
    const int room = kSize + BLOSC_MIN_HEADER_LENGTH;
    const int size = blosc1_compress(clevel, BLOSC_SHUFFLE, 4, kSize, items, chunk, room);
    printf("and with delta %d read %d\n", size > 0, blosc1_decompress(chunk, back, kSize));
  }
  blosc2_set_delta(0);
  unsetenv("BLOSC_BLOSC1_COMPAT");
  printf("clevel %d, too little room %d\n", blosc2_compress(12, 1, 4, items, kSize, chunk, kRoom),
         blosc2_compress(5, 1, 4, items, 1000, chunk, 40));
  printf("version %d list %s\n", strcmp(blosc2_get_version_string(), BLOSC2_VERSION_STRING),
         blosc2_list_compressors());
  char* library = NULL;
  char* version = NULL;
  printf("library %d", blosc2_get_complib_info("lz4hc", &library, &version));
  printf(" %s %d\n", library, version != NULL);
  free(library);
  free(version);
  for (int code = -40; code <= 1; ++code) printf("error %d: %s\n", code, blosc2_error_string(code));
}
