// The commands of `cairn log`, as in tools/cairn/commands/commands.h.
#ifndef CAIRN_TOOLS_CAIRN_LOG_COMMANDS_H_
#define CAIRN_TOOLS_CAIRN_LOG_COMMANDS_H_

#include <CLI/CLI.hpp>

#include "tools/cairn/commands/command.h"

namespace cairn::tool {

void AddLogCreate(CLI::App& group, Command& chosen);
void AddLogAppend(CLI::App& group, Command& chosen);
void AddLogImport(CLI::App& group, Command& chosen);
void AddLogQuery(CLI::App& group, Command& chosen);
void AddLogAgg(CLI::App& group, Command& chosen);
void AddLogLatest(CLI::App& group, Command& chosen);
void AddLogTail(CLI::App& group, Command& chosen);
void AddLogFollow(CLI::App& group, Command& chosen);
void AddLogStat(CLI::App& group, Command& chosen);
void AddLogRetain(CLI::App& group, Command& chosen);
void AddLogDelete(CLI::App& group, Command& chosen);
void AddLogAddField(CLI::App& group, Command& chosen);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_LOG_COMMANDS_H_
