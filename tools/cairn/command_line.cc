#include "tools/cairn/command_line.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <sstream>
#include <string_view>

#include "tools/cairn/commands.h"
#include "tools/cairn/help.h"

namespace cairn::tool {

namespace {

constexpr char kSeeHelp[] = "; see 'cairn --help'";

struct NamedCommand {
  std::string_view name;
  void (*add)(CLI::App& app, Command& chosen);
};

// In the order in which --help lists them.
constexpr NamedCommand kCommands[] = {
    {"pack", AddPack},       {"copy", AddCopy},       {"append", AddAppend},
    {"cat", AddCat},         {"info", AddInfo},       {"history", AddHistory},
    {"verify", AddVerify},   {"chunk", AddChunk},     {"resize", AddResize},
    {"meta", AddMeta},       {"compact", AddCompact}, {"reclaim", AddReclaim},
    {"recover", AddRecover}, {"encode", AddEncode},   {"decode", AddDecode},
};

// A line that begins with a command is that command's alone. To make all the options of the others
// takes longer than everything else that short commands do.
void AddCommands(std::string_view first_word, CLI::App& app, Command& chosen) {
  const auto named = std::ranges::find(kCommands, first_word, &NamedCommand::name);
  if (named != std::end(kCommands)) return named->add(app, chosen);
  for (const NamedCommand& command : kCommands) command.add(app, chosen);
}

void Parse(CLI::App& app, int argc, const char* const* argv, ParsedCommandLine& parsed) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      std::ostringstream text;
      app.exit(error, text, text);
      parsed.text = text.str();
    } else {
      parsed.complaint = std::string(error.what()) + kSeeHelp;
    }
    return;
  }
  if (app.get_subcommands().empty()) {
    parsed.complaint = std::string("no command given") + kSeeHelp;
  }
}

}  // namespace

ParsedCommandLine ParseCommandLine(int argc, const char* const* argv) {
  CLI::App app(
      "Packs files into Blosc2 frames, reads them back whole or in part, edits and checks them.",
      "cairn");
  app.set_version_flag("--version", "cairn " CAIRN_VERSION, "Print the version and exit");
  app.require_subcommand(0, 1);
  app.formatter(std::make_shared<HelpFormatter>());
  app.footer(
      "FILE and FRAME are paths; '-' is standard input. Sizes are bytes or carry a unit:\n"
      "64KiB is 65536, 1MB is 1000000. Exit status: 0 fine, 1 damage or failure, 2 usage.\n"
      "\nExample:\n"
      "  cairn pack --typesize 4 --codec zstd temps.b2frame temps.f32\n"
      "  cairn info temps.b2frame\n"
      "  cairn cat temps.b2frame --first-item 1000 --items 10 > ten.f32\n"
      "\n'cairn COMMAND --help' tells more.");
  ParsedCommandLine parsed;
  AddCommands(argc > 1 ? argv[1] : "", app, parsed.command);
  Parse(app, argc, argv, parsed);
  return parsed;
}

}  // namespace cairn::tool
