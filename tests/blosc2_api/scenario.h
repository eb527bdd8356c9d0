/* What the parts of the scenario share. They print what they see, so that the outputs of two
   libraries can be compared. Sizes of compressed data are not printed: they may differ. */
#ifndef CAIRN_TESTS_BLOSC2_API_SCENARIO_H_
#define CAIRN_TESTS_BLOSC2_API_SCENARIO_H_

#include <stddef.h>
#include <stdint.h>

/* Returns a number for some bytes. */
uint64_t digest(const void* data, size_t size);

/* Fills memory with items that compress to about a third. */
void make_items(void* data, size_t size, int32_t typesize);

void show_chunks(void);
void show_blosc1(void);
void show_plugins(void);
void show_super_chunks(void);
void show_arrays(void);
void show_array_edits(void);
void show_files(void);
void show_sharing(void);
void show_callbacks(void);
void show_chunk_sizes(void);
void show_mapped_files(void);
void show_utilities(void);

#endif /* CAIRN_TESTS_BLOSC2_API_SCENARIO_H_ */
