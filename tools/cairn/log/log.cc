// cairn log: the commands for time series of records.

#include "tools/cairn/commands/commands.h"
#include "tools/cairn/log/commands.h"

namespace cairn::tool {

void AddLog(CLI::App& app, Command& chosen) {
  CLI::App* group = app.add_subcommand("log", "Write, query and follow logs of records with times");
  group->require_subcommand(1);
  AddLogCreate(*group, chosen);
  AddLogAppend(*group, chosen);
  AddLogImport(*group, chosen);
  AddLogQuery(*group, chosen);
  AddLogAgg(*group, chosen);
  AddLogLatest(*group, chosen);
  AddLogTail(*group, chosen);
  AddLogFollow(*group, chosen);
  AddLogStat(*group, chosen);
  AddLogRetain(*group, chosen);
  AddLogDelete(*group, chosen);
  AddLogAddField(*group, chosen);
  group->footer("See 'cairn log COMMAND --help' for the options of a command.");
}

}  // namespace cairn::tool
