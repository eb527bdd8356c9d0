/* A program for the interface of C-Blosc2. It is compiled once and run with two libraries. */
#include "scenario.h"

#include <blosc2.h>
#include <string.h>

uint64_t digest(const void* data, size_t size) {
  const unsigned char* bytes = data;
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 1099511628211u;
  return hash;
}

void make_items(void* data, size_t size, int32_t typesize) {
  unsigned char* bytes = data;
  uint32_t noise = 12345;
  for (size_t i = 0; i < size; ++i) {
    const size_t item = i / (size_t)typesize;
    noise = noise * 1664525u + 1013904223u;
    bytes[i] = i % (size_t)typesize == 0 ? (unsigned char)(item + (noise >> 30))
                                         : (unsigned char)(item >> 8);
  }
}

int main(void) {
  setbuf(stdout, NULL);
  blosc2_init();
  show_chunks();
  show_blosc1();
  show_plugins();
  show_super_chunks();
  show_arrays();
  show_files();
  show_callbacks();
  show_chunk_sizes();
  show_mapped_files();
  show_array_edits();
  show_sharing();
  show_utilities();
  blosc2_destroy();
  return 0;
}
