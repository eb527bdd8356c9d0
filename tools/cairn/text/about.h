// Which file an error is about.
#ifndef CAIRN_TOOLS_CAIRN_TEXT_ABOUT_H_
#define CAIRN_TOOLS_CAIRN_TEXT_ABOUT_H_

#include <string>

#include "absl/status/status.h"

namespace cairn::tool {

// The same error with "<path>: " before its message where the engine reports a file's content
// and does not name the file; where it does, by the path as it was typed.
absl::Status About(const std::string& path, const absl::Status& status);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_TEXT_ABOUT_H_
