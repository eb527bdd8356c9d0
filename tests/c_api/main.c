// Runs all cases, in the working directory: `c_api_tests`, or `c_api_tests NAME` for one.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/c_api/check.h"

cairn_status st;

static bool failed;
static const char* skipped;

void fail(const char* file, int line, const char* what) {
  printf("# %s:%d: %s\n", file, line, what);
  failed = true;
}

void skip(const char* why) { skipped = why; }

void check_code(const char* file, int line, const char* what, cairn_code expected, cairn_code got) {
  if (got == expected && st.code == expected) return;
  printf("# %s instead of %s: %s\n", cairn_code_name(got), cairn_code_name(expected), st.message);
  fail(file, line, what);
}

void check_message(const char* file, int line, const char* text) {
  if (strstr(st.message, text) != NULL) return;
  printf("# not in the message: %s\n", text);
  fail(file, line, st.message);
}

void make_frame(const char* path, int32_t nitems, int32_t per_chunk) {
  cairn_compression_options compression = CAIRN_COMPRESSION_OPTIONS_INIT;
  cairn_create_options options = CAIRN_CREATE_OPTIONS_INIT;
  cairn_writer* writer = NULL;
  int32_t* items = calloc((size_t)nitems + 1, sizeof(int32_t));
  for (int32_t i = 0; i < nitems; ++i) items[i] = i;
  compression.typesize = sizeof(int32_t);
  options.compression = &compression;
  options.chunksize = per_chunk * (int32_t)sizeof(int32_t);
  options.overwrite = true;
  CHECK_OK(cairn_frame_build(path, &options, &writer, &st));
  CHECK_OK(cairn_writer_append(writer, items, (size_t)nitems * sizeof(int32_t), &st));
  CHECK_OK(cairn_writer_close(writer, &st));
  cairn_writer_free(writer);
  free(items);
}

cairn_frame* open_frame(const char* path) {
  cairn_frame* frame = NULL;
  CHECK_OK(cairn_frame_open(path, NULL, &frame, &st));
  return frame;
}

cairn_snapshot* snapshot_of(cairn_frame* frame) {
  cairn_snapshot* snapshot = NULL;
  CHECK_OK(cairn_frame_refresh(frame, &snapshot, &st));
  return snapshot;
}

cairn_frame_info info_of(const cairn_snapshot* snapshot) {
  cairn_frame_info info = {.struct_size = sizeof info};
  CHECK_OK(cairn_snapshot_info(snapshot, &info, &st));
  return info;
}

cairn_snapshot* read_back(const char* path) {
  cairn_frame* frame = open_frame(path);
  cairn_snapshot* snapshot = snapshot_of(frame);
  cairn_frame_free(frame);
  return snapshot;
}

cairn_snapshot* make_and_read(const char* path, int32_t nitems, int32_t per_chunk) {
  make_frame(path, nitems, per_chunk);
  return read_back(path);
}

int32_t item_of(const cairn_snapshot* snapshot, int64_t number) {
  int32_t item = -1;
  CHECK_OK(cairn_snapshot_read_items(snapshot, number, &item, sizeof item, &st));
  return item;
}

opened open_path(const char* path) { return (opened){.frame = open_frame(path)}; }

opened make_and_open(const char* path, int32_t nitems, int32_t per_chunk) {
  make_frame(path, nitems, per_chunk);
  return open_path(path);
}

opened edit_frame(const char* path, int32_t nitems, int32_t per_chunk) {
  opened made = make_and_open(path, nitems, per_chunk);
  open_writer(&made, NULL);
  return made;
}

void open_writer(opened* to, const cairn_writer_options* options) {
  CHECK_OK(cairn_frame_open_writer(to->frame, options, &to->writer, &st));
}

void append_item(opened* to, int32_t item) {
  CHECK_OK(cairn_writer_append(to->writer, &item, sizeof item, &st));
}

void commit(opened* to) {
  cairn_snapshot_free(to->now);
  CHECK_OK(cairn_writer_commit(to->writer, CAIRN_DURABILITY_PROCESS, &to->now, &st));
}

void refresh(opened* to) {
  cairn_snapshot_free(to->now);
  to->now = snapshot_of(to->frame);
}

void close_writer(opened* to) {
  CHECK_OK(cairn_writer_close(to->writer, &st));
  cairn_writer_free(to->writer);
  to->writer = NULL;
}

void free_opened(opened* to) {
  cairn_snapshot_free(to->now);
  cairn_writer_free(to->writer);
  cairn_frame_free(to->frame);
}

bool content_is(cairn_bytes* content, const char* text) {
  const bool is = cairn_bytes_size(content) == strlen(text) &&
                  memcmp(cairn_bytes_data(content), text, strlen(text)) == 0;
  cairn_bytes_free(content);
  return is;
}

void flip_byte(const char* path, int64_t offset) {
  FILE* file = fopen(path, "r+b");
  int byte = EOF;
  CHECK(file != NULL);
  if (file == NULL) return;
  CHECK(fseek(file, (long)offset, SEEK_SET) == 0);
  byte = fgetc(file);
  CHECK(byte != EOF);
  CHECK(fseek(file, (long)offset, SEEK_SET) == 0);
  CHECK(fputc(byte ^ 0xFF, file) != EOF);
  CHECK(fclose(file) == 0);
}

int main(int argc, char** argv) {
  int number = 0;
  bool ok = true;
  for (const test_suite* suite = suites; *suite != NULL; ++suite) {
    for (const test_case* test = *suite; test->name != NULL; ++test) {
      if (argc > 1 && strcmp(argv[1], test->name) != 0) continue;
      failed = false;
      skipped = NULL;
      test->run();
      printf("%s %d - %s%s%s\n", failed ? "not ok" : "ok", ++number, test->name,
             skipped != NULL ? " # SKIP " : "", skipped != NULL ? skipped : "");
      fflush(stdout);
      ok = ok && !failed;
    }
  }
  printf("1..%d\n", number);
  return ok ? 0 : 1;
}
