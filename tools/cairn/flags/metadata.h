// Parses named values of the command line.
#ifndef CAIRN_TOOLS_CAIRN_FLAGS_METADATA_H_
#define CAIRN_TOOLS_CAIRN_FLAGS_METADATA_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/types.h"

namespace cairn::tool {

// Reads "NAME=TEXT" or "NAME=@FILE", each as one layer. Errors: kInvalidArgument without a name and
// a '=', or if a name comes twice.
absl::StatusOr<std::vector<Metalayer>> ReadMetadata(const std::vector<std::string>& arguments);

// Returns a text such as "68656c6c6f".
std::string ToHex(Bytes content);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_FLAGS_METADATA_H_
