// Parses the command line.
#ifndef CAIRN_TOOLS_CAIRN_COMMAND_LINE_H_
#define CAIRN_TOOLS_CAIRN_COMMAND_LINE_H_

#include <string>

#include "tools/cairn/commands/command.h"

namespace cairn::tool {

// Exactly one of command, text and complaint is set.
struct ParsedCommandLine {
  std::string name;        // as far as it was understood: "cairn chunk insert"
  Command command;         // to run
  std::string text;        // to print for --help or --version
  std::string complaint;   // about the line
  bool anonymous = false;  // requests to stores must not be signed
  bool verbose = false;
};

// Parses the line. Runs and prints nothing.
ParsedCommandLine ParseCommandLine(int argc, const char* const* argv);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_COMMAND_LINE_H_
