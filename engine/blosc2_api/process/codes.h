// Turns statuses into the error codes of C-Blosc2.
#ifndef CAIRN_ENGINE_BLOSC2_API_PROCESS_CODES_H_
#define CAIRN_ENGINE_BLOSC2_API_PROCESS_CODES_H_

#include "absl/status/status.h"

namespace cairn::blosc2_api {

// Returns the code that stands for a status, which is negative for an error. Where the variable
// BLOSC_TRACE is set, the message of the error goes to the standard error output.
int CodeOf(const absl::Status& status);

// Prints a message as CodeOf does, and returns `code`.
int Failed(int code, const char* message);

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_PROCESS_CODES_H_
