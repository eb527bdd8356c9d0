// Writes the data of a frame to standard output by means of C-Blosc2.
#include <blosc2.h>
#include <stdio.h>
#include <stdlib.h>

static int WriteAll(blosc2_schunk* schunk) {
  for (int64_t i = 0; i < schunk->nchunks; ++i) {
    int32_t size = schunk->chunksize;
    void* data = malloc((size_t)size);
    size = blosc2_schunk_decompress_chunk(schunk, i, data, size);
    const int bad = size < 0 || fwrite(data, 1, (size_t)size, stdout) != (size_t)size;
    free(data);
    if (bad) return 1;
  }
  return fflush(stdout) != 0;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  blosc2_init();
  blosc2_schunk* schunk = blosc2_schunk_open(argv[1]);
  const int status = schunk == NULL ? 1 : WriteAll(schunk);
  if (schunk != NULL) blosc2_schunk_free(schunk);
  blosc2_destroy();
  return status;
}
