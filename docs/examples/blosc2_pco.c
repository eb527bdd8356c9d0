// A program of C-Blosc2 reads a frame of doubles that Cairn coded by pco. C-Blosc2 loads the codec
// when it needs it: libblosc2_pco.so in LD_LIBRARY_PATH, or of the `blosc2_pco` that `python` has.
//
//   cc -std=c99 blosc2_pco.c $(pkg-config --cflags --libs blosc2) && ./a.out a.b2nd
#include <b2nd.h>
#include <blosc2.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  blosc2_init();
  blosc2_codec pco = {.compcode = 227, .compname = "pco", .complib = 227, .version = 1};
  if (blosc2_register_codec(&pco) < 0) return 1;

  b2nd_array_t* array = NULL;
  int code = b2nd_open(argv[1], &array);
  if (code < 0) {
    fprintf(stderr, "%s: %s\n", argv[1], print_error(code));
    return 1;
  }
  const int64_t size = array->nitems * (int64_t)sizeof(double);
  double* values = malloc((size_t)size);
  code = values == NULL ? BLOSC2_ERROR_MEMORY_ALLOC : b2nd_to_cbuffer(array, values, size);
  if (code < 0) {
    fprintf(stderr, "%s: %s\n", argv[1], print_error(code));
  } else {
    double sum = 0;
    for (int64_t i = 0; i < array->nitems; ++i) sum += values[i];
    printf("%lld numbers, sum %g\n", (long long)array->nitems, sum);
  }
  free(values);
  b2nd_free(array);
  blosc2_destroy();
  return code < 0;
}
