// Changes a collection in one commit, for tests: collect DIRECTORY COMMAND..., of
//   add NAME COUNT       an array of int32_t items 0, 1, 2, …
//   append NAME ITEM
//   remove NAME
//   hold                 says "held", and waits for the end of the input, before the commit
// Makes the collection if there is none.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cairn/cairn.h"

static cairn_status st;

static int add(cairn_collection_writer* writer, const char* name, int32_t count) {
  cairn_compression_options compression = CAIRN_COMPRESSION_OPTIONS_INIT;
  cairn_array_info array = {.struct_size = sizeof array, .ndim = 1, .dtype = "<i4"};
  cairn_create_options options = CAIRN_CREATE_OPTIONS_INIT;
  cairn_writer* member = NULL;
  int failed = 0;
  compression.typesize = sizeof(int32_t);
  options.compression = &compression;
  options.array = &array;
  failed = cairn_collection_writer_add(writer, name, &options, &member, &st);
  for (int32_t i = 0; i < count && !failed; ++i) {
    failed = cairn_writer_append_slices(member, 0, &i, sizeof i, &st);
  }
  cairn_writer_free(member);
  return failed;
}

static int append(cairn_collection_writer* writer, const char* name, int32_t item) {
  cairn_writer* member = NULL;
  const int failed = cairn_collection_writer_edit(writer, name, &member, &st) ||
                     cairn_writer_append_slices(member, 0, &item, sizeof item, &st);
  cairn_writer_free(member);
  return failed;
}

static int hold(void) {
  printf("held\n");
  fflush(stdout);
  while (getchar() != EOF) continue;
  return 0;
}

static int change(cairn_collection_writer* writer, int argc, char** argv) {
  int failed = 0;
  for (int i = 0; i < argc && !failed; ++i) {
    const int left = argc - i - 1;
    if (strcmp(argv[i], "add") == 0 && left >= 2) {
      failed = add(writer, argv[i + 1], atoi(argv[i + 2]));
      i += 2;
    } else if (strcmp(argv[i], "append") == 0 && left >= 2) {
      failed = append(writer, argv[i + 1], atoi(argv[i + 2]));
      i += 2;
    } else if (strcmp(argv[i], "remove") == 0 && left >= 1) {
      failed = cairn_collection_writer_remove(writer, argv[++i], &st);
    } else if (strcmp(argv[i], "hold") == 0) {
      failed = hold();
    } else {
      failed = 1;
    }
  }
  return failed;
}

int main(int argc, char** argv) {
  cairn_collection* collection = NULL;
  cairn_collection_writer* writer = NULL;
  cairn_writer_options options = CAIRN_WRITER_OPTIONS_INIT;
  int failed = argc < 2;
  options.wait_ms = 10000;
  if (!failed && cairn_collection_open(argv[1], NULL, &collection, &st) == CAIRN_NOT_FOUND) {
    failed = cairn_collection_create(argv[1], NULL, &collection, &st);
  }
  failed = failed || cairn_collection_open_writer(collection, &options, &writer, &st) ||
           change(writer, argc - 2, argv + 2) || cairn_collection_writer_close(writer, &st);
  if (failed) fprintf(stderr, "collect: %s\n", st.message);
  cairn_collection_writer_free(writer);
  cairn_collection_free(collection);
  return failed ? 1 : 0;
}
