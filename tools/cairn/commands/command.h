// The function that main runs for a command line.
#ifndef CAIRN_TOOLS_CAIRN_COMMANDS_COMMAND_H_
#define CAIRN_TOOLS_CAIRN_COMMANDS_COMMAND_H_

#include <functional>

#include "absl/status/status.h"

namespace cairn::tool {

using Command = std::function<absl::Status()>;

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_COMMANDS_COMMAND_H_
