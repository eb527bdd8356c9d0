// Lets a program in another language tell callgrind what to count: see python_calls.py.

#include <valgrind/callgrind.h>

extern "C" {

__attribute__((visibility("default"))) void cairn_costs_begin() { CALLGRIND_START_INSTRUMENTATION; }
__attribute__((visibility("default"))) void cairn_costs_end() { CALLGRIND_STOP_INSTRUMENTATION; }

}  // extern "C"
