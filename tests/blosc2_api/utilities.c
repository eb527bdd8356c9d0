/* Shuffles, indexes, clocks. */
#include <b2nd.h>
#include <blosc2.h>
#include <stdio.h>
#include <string.h>

#include "scenario.h"

void show_utilities(void) {
  uint8_t items[1003], shuffled[1003], back[1003];
  make_items(items, sizeof(items), 5);
  for (int32_t typesize = 1; typesize <= 256; typesize += typesize < 5 ? 1 : 63) {
    memset(shuffled, 0, sizeof(shuffled));
    printf("shuffle %d: %d", typesize, blosc2_shuffle(typesize, 1003, items, shuffled));
    printf(" %016llx", (unsigned long long)digest(shuffled, sizeof(shuffled)));
    memset(back, 0, sizeof(back));
    printf(" %d %016llx", blosc2_unshuffle(typesize, 1003, shuffled, back),
           (unsigned long long)digest(back, 1003));
    memset(shuffled, 0, sizeof(shuffled));
    printf(" bits %d", blosc2_bitshuffle(typesize, 1003, items, shuffled));
    printf(" %016llx", (unsigned long long)digest(shuffled, sizeof(shuffled)));
    memset(back, 0, sizeof(back));
    printf(" %d %016llx\n", blosc2_bitunshuffle(typesize, 1003, shuffled, back),
           (unsigned long long)digest(back, 1003));
  }
  int64_t shape[3] = {3, 4, 5}, index[3], strides[3] = {20, 5, 1}, i = 0;
  blosc2_unidim_to_multidim(3, shape, 33, index);
  blosc2_multidim_to_unidim(index, 3, strides, &i);
  printf("index %d %d %d %d\n", (int)index[0], (int)index[1], (int)index[2], (int)i);
  blosc_timestamp_t begin, end;
  blosc_set_timestamp(&begin);
  end = begin;
  end.tv_sec += 2;
  printf("clock %.3f %.0f\n", blosc_elapsed_secs(begin, end), blosc_elapsed_nsecs(begin, end));
  printf("remove %d %d\n", blosc2_remove_urlpath("no-such-file"),
         blosc2_remove_dir("no-such-file") < 0);
}
