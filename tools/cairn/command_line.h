// What a command line asks for.
#ifndef CAIRN_TOOLS_CAIRN_COMMAND_LINE_H_
#define CAIRN_TOOLS_CAIRN_COMMAND_LINE_H_

#include <string>

#include "tools/cairn/commands/command.h"

namespace cairn::tool {

// One of command, text and complaint.
struct ParsedCommandLine {
  std::string name;       // as far as it was understood: "cairn chunk insert"
  Command command;        // to run
  std::string text;       // to print: what --help and --version ask for
  std::string complaint;  // about the line
};

// Runs and prints nothing.
ParsedCommandLine ParseCommandLine(int argc, const char* const* argv);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_COMMAND_LINE_H_
