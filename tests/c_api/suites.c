// The suites of c_api_tests.
#include "tests/c_api/check.h"

const test_suite suites[] = {status_tests,     chunk_tests,
                             plugin_tests,     frame_tests,
                             array_tests,      writer_tests,
                             repair_tests,     thread_tests,
                             collection_tests, collection_history_tests,
                             log_tests,        log_edit_tests,
                             log_error_tests,  NULL};
