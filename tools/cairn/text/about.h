// Names the file that an error is about.
#ifndef CAIRN_TOOLS_CAIRN_TEXT_ABOUT_H_
#define CAIRN_TOOLS_CAIRN_TEXT_ABOUT_H_

#include <string>

#include "absl/status/status.h"

namespace cairn::tool {

// Returns the error with "<path>: " before its message if the engine reports a file's content and
// does not name the file. If it names the file, the path is shown as it was typed.
absl::Status About(const std::string& path, const absl::Status& status);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_TEXT_ABOUT_H_
