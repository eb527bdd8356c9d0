// Keys that a program writes, which the user's own settings name: credential_process.
#ifndef CAIRN_ENGINE_OBJECT_S3_KEYS_PROCESS_H_
#define CAIRN_ENGINE_OBJECT_S3_KEYS_PROCESS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/s3.h"

namespace cairn::object {

// Cuts a command into words. Quotes keep blanks in a word, and a backslash keeps what follows it,
// except between single quotes. Errors: kInvalidArgument if there is no word, or a quote is open.
absl::StatusOr<std::vector<std::string>> SplitCommand(std::string_view command);

// The source runs the program for each renewal, without a shell. The program has the time of a
// call, and 64 KiB for its output.
S3KeySource ProcessSource(std::string command);

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_S3_KEYS_PROCESS_H_
