#include "tools/cairn/command_line.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "cairn/version.h"
#include "tools/cairn/commands/commands.h"
#include "tools/cairn/text/help.h"
#include "tools/cairn/text/suggestion.h"

namespace cairn::tool {

namespace {

struct NamedCommand {
  std::string_view name;
  void (*add)(CLI::App& app, Command& chosen);
};

// The commands are in the order in which --help lists them.
constexpr NamedCommand kCommands[] = {
    {"pack", AddPack},       {"copy", AddCopy},       {"append", AddAppend},
    {"cat", AddCat},         {"info", AddInfo},       {"list", AddList},
    {"history", AddHistory}, {"verify", AddVerify},   {"chunk", AddChunk},
    {"resize", AddResize},   {"meta", AddMeta},       {"backup", AddBackup},
    {"restore", AddRestore}, {"compact", AddCompact}, {"reclaim", AddReclaim},
    {"recover", AddRecover}, {"encode", AddEncode},   {"decode", AddDecode},
    {"log", AddLog},
};

// Adds only the named command if the line begins with one. Making all the options of the others,
// and of the program, takes longer than everything else that short commands do.
void AddCommands(std::string_view first_word, CLI::App& app, Command& chosen) {
  const auto named = std::ranges::find(kCommands, first_word, &NamedCommand::name);
  if (named != std::end(kCommands)) return named->add(app, chosen);
  app.set_version_flag("-V,--version", "cairn " + std::string(kVersion),
                       "Print the version and exit");
  // Both are taken out of the line before it is parsed. They are here for the help.
  app.add_flag("--anonymous")->description("Sign no request to an object store");
  app.add_flag("--verbose")
      ->description("Tell at the end what the command took: time, memory, disk");
  for (const NamedCommand& command : kCommands) command.add(app, chosen);
}

// Returns the program, its command and the verb of that, as far as the line names them.
std::vector<const CLI::App*> NamedApps(const CLI::App& app) {
  std::vector<const CLI::App*> named = {&app};
  for (auto next = app.get_subcommands(); !next.empty(); next = next.front()->get_subcommands()) {
    named.push_back(next.front());
  }
  return named;
}

std::vector<std::string> CommandsOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> OptionsOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (option->nonpositional()) names.push_back("--" + option->get_lnames().front());
  }
  return names;
}

// Complains of a line that ends where another command is expected. `word` is what follows, if
// anything.
std::string ComplainOfCommand(const CLI::App& app, std::string_view word) {
  const std::vector<std::string> commands = CommandsOf(app);
  if (!word.empty()) {
    return absl::StrFormat("unknown command '%s'%s", word, SuggestOneOf(commands, word));
  }
  if (app.get_parent() == nullptr) return "no command given";
  return absl::StrFormat("no command given; expected one of %s", absl::StrJoin(commands, ", "));
}

// Complains of words that no option or argument takes.
std::string ComplainOfWords(const CLI::App& app) {
  const std::vector<std::string> words = app.remaining();
  const auto option = std::ranges::find_if(
      words, [](std::string_view word) { return word.starts_with('-') && word != "-"; });
  if (option == words.end()) return absl::StrFormat("unexpected argument '%s'", words.front());
  const std::string name = option->substr(0, option->find('='));
  return absl::StrFormat("unknown option '%s'%s", name, SuggestOneOf(OptionsOf(app), name));
}

void Parse(CLI::App& app, int argc, const char* const* argv, ParsedCommandLine& parsed) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      std::ostringstream text;
      app.exit(error, text, text);
      parsed.text = text.str();
      return;
    }
    parsed.complaint = error.what();
  }
  const std::vector<const CLI::App*> named = NamedApps(app);
  const CLI::App& last = *named.back();
  parsed.name = absl::StrJoin(
      named, " ", [](std::string* out, const CLI::App* command) { *out += command->get_name(); });
  const auto position = std::ssize(named);
  const std::string_view next = position < argc ? argv[position] : "";
  const bool is_option = next.starts_with('-');
  if (!CommandsOf(last).empty() && (parsed.complaint.empty() || !is_option)) {
    parsed.complaint = ComplainOfCommand(last, is_option ? "" : next);
  } else if (!parsed.complaint.empty() && !last.remaining().empty()) {
    parsed.complaint = ComplainOfWords(last);
  }
}

// Takes a flag of the program out of a line, where it may stand anywhere. Returns true if it was
// there.
bool TakeFlag(std::string_view flag, std::vector<const char*>& words) {
  const auto end = std::ranges::find(words, std::string_view("--"));
  const auto rest = std::remove(words.begin(), end, flag);
  const bool found = rest != end;
  words.erase(rest, end);
  return found;
}

}  // namespace

ParsedCommandLine ParseCommandLine(int argc, const char* const* argv) {
  CLI::App app(
      "Packs files into Blosc2 frames, reads all or parts of them back, edits and checks them.",
      "cairn");
  app.require_subcommand(0, 1);
  app.formatter(std::make_shared<HelpFormatter>());
  app.footer(
      "FILE and FRAME are paths; '-' is standard input. Sizes are bytes or carry a unit: 64KiB\n"
      "and 64K are 65536, 1MB is 1000000. Exit status: 0 success, 1 damage or failure, 2 usage.\n"
      "\nExample:\n"
      "  cairn pack temps.f32 temps.b2frame --typesize 4 --codec zstd\n"
      "  cairn info temps.b2frame\n"
      "  cairn cat temps.b2frame --first-item 1000 --items 10 > ten.f32\n"
      "\nSee 'cairn COMMAND --help' for the options of a command.");
  ParsedCommandLine parsed;
  std::vector<const char*> words(argv, argv + argc);
  parsed.anonymous = TakeFlag("--anonymous", words);
  parsed.verbose = TakeFlag("--verbose", words);
  // `help COMMAND` is `COMMAND --help`.
  if (words.size() > 1 && words[1] == std::string_view("help")) {
    words.erase(words.begin() + 1);
    words.push_back("--help");
  }
  AddCommands(words.size() > 1 ? words[1] : "", app, parsed.command);
  Parse(app, static_cast<int>(words.size()), words.data(), parsed);
  return parsed;
}

}  // namespace cairn::tool
