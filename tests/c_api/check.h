// The checks of the C tests, and their report: one TAP line for each case.
#ifndef CAIRN_TESTS_C_API_CHECK_H_
#define CAIRN_TESTS_C_API_CHECK_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cairn/cairn.h"

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

typedef struct test_case {
  const char* name;
  void (*run)(void);
} test_case;

#define TEST_CASE(function) \
  { #function, function }

// Ends with a case without a name.
typedef const test_case* test_suite;

extern const test_case status_tests[];
extern const test_case chunk_tests[];
extern const test_case plugin_tests[];
extern const test_case frame_tests[];
extern const test_case array_tests[];
extern const test_case writer_tests[];
extern const test_case collection_tests[];
extern const test_case collection_history_tests[];
extern const test_case repair_tests[];
extern const test_case thread_tests[];
extern const test_case log_tests[];
extern const test_case log_edit_tests[];
extern const test_case log_error_tests[];

// The suites of the program, and NULL.
extern const test_suite suites[];

// The status of the calls in CHECK_OK and CHECK_CODE.
extern cairn_status st;

// A failed check fails the case, which continues: calls take the NULL of a call that failed.
void fail(const char* file, int line, const char* what);

// Says that the case could not run; it then returns.
void skip(const char* why);

#define CHECK(condition) ((condition) ? (void)0 : fail(__FILE__, __LINE__, #condition))
#define CHECK_OK(call) CHECK_CODE(CAIRN_OK, call)
#define CHECK_CODE(code, call) check_code(__FILE__, __LINE__, #call, code, call)
void check_code(const char* file, int line, const char* what, cairn_code expected, cairn_code got);
// Checks that the message of the last call contains the text.
#define CHECK_MESSAGE(text) check_message(__FILE__, __LINE__, text)
void check_message(const char* file, int line, const char* text);

// Frames of int32_t items 0, 1, 2, … in chunks of `per_chunk` items, at `path`.
void make_frame(const char* path, int32_t nitems, int32_t per_chunk);
cairn_frame* open_frame(const char* path);
cairn_snapshot* snapshot_of(cairn_frame* frame);
cairn_frame_info info_of(const cairn_snapshot* snapshot);
// The newest committed state of the file.
cairn_snapshot* read_back(const char* path);
cairn_snapshot* make_and_read(const char* path, int32_t nitems, int32_t per_chunk);
int32_t item_of(const cairn_snapshot* snapshot, int64_t number);
// A frame, its writer, and the state that the case looks at; each may be NULL.
typedef struct opened {
  cairn_frame* frame;
  cairn_writer* writer;
  cairn_snapshot* now;
} opened;
// Opens a frame for reading; a new one of make_frame, and with its writer.
opened open_path(const char* path);
opened make_and_open(const char* path, int32_t nitems, int32_t per_chunk);
opened edit_frame(const char* path, int32_t nitems, int32_t per_chunk);
void open_writer(opened* to, const cairn_writer_options* options);
void append_item(opened* to, int32_t item);
// Makes a commit, or the newest one of any process, the state to look at.
void commit(opened* to);
void refresh(opened* to);
void close_writer(opened* to);
void free_opened(opened* to);

// Takes and frees the bytes. Returns true if they are those of the text.
bool content_is(cairn_bytes* content, const char* text);
// Overwrites one byte of a file.
void flip_byte(const char* path, int64_t offset);

#endif  // CAIRN_TESTS_C_API_CHECK_H_
