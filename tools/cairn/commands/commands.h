// The subcommands. Each Add… adds one to the parser. If the command line names it, it sets `chosen`
// to what main must run.
#ifndef CAIRN_TOOLS_CAIRN_COMMANDS_COMMANDS_H_
#define CAIRN_TOOLS_CAIRN_COMMANDS_COMMANDS_H_

#include <CLI/CLI.hpp>

#include "tools/cairn/commands/command.h"

namespace cairn::tool {

void AddPack(CLI::App& app, Command& chosen);
void AddCopy(CLI::App& app, Command& chosen);
void AddAppend(CLI::App& app, Command& chosen);
void AddResize(CLI::App& app, Command& chosen);
void AddChunk(CLI::App& app, Command& chosen);
void AddMeta(CLI::App& app, Command& chosen);
void AddBackup(CLI::App& app, Command& chosen);
void AddRestore(CLI::App& app, Command& chosen);
void AddCompact(CLI::App& app, Command& chosen);
void AddReclaim(CLI::App& app, Command& chosen);
void AddRecover(CLI::App& app, Command& chosen);
void AddCat(CLI::App& app, Command& chosen);
void AddEncode(CLI::App& app, Command& chosen);
void AddDecode(CLI::App& app, Command& chosen);
void AddInfo(CLI::App& app, Command& chosen);
void AddHistory(CLI::App& app, Command& chosen);
void AddList(CLI::App& app, Command& chosen);
void AddLog(CLI::App& app, Command& chosen);
void AddVerify(CLI::App& app, Command& chosen);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_COMMANDS_COMMANDS_H_
