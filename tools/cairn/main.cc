// cairn: pack files into Blosc2 frames, read them back, look into them, edit them, check them.

#include <csignal>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "tools/cairn/commands.h"
#include "tools/cairn/complain.h"
#include "tools/cairn/exit.h"
#include "tools/cairn/help.h"
#include "tools/cairn/lost_pages.h"

namespace cairn::tool {
namespace {

constexpr char kSeeHelp[] = "; see 'cairn --help'";

// Gives an exit code when the command line leaves nothing to run.
std::optional<ExitCode> Parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      app.exit(error);  // prints what --help and --version ask for
      return kExitFine;
    }
    Complain(std::string(error.what()) + kSeeHelp);
    return kExitUsage;
  }
  if (!app.get_subcommands().empty()) return std::nullopt;
  Complain(std::string("no command given") + kSeeHelp);
  return kExitUsage;
}

ExitCode Run(const Command& command) {
  absl::Status status;
  try {
    status = command();
  } catch (const std::bad_alloc&) {
    status = absl::ResourceExhaustedError("out of memory");
  }
  if (!status.ok() && !absl::IsCancelled(status)) Complain(std::string(status.message()));
  return ExitCodeOf(status);
}

int Main(int argc, char** argv) {
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
  Command chosen;
  AddPack(app, chosen);
  AddCopy(app, chosen);
  AddAppend(app, chosen);
  AddCat(app, chosen);
  AddInfo(app, chosen);
  AddHistory(app, chosen);
  AddVerify(app, chosen);
  AddChunk(app, chosen);
  AddMeta(app, chosen);
  AddCompact(app, chosen);
  AddReclaim(app, chosen);
  AddRecover(app, chosen);
  AddEncode(app, chosen);
  AddDecode(app, chosen);
  if (const std::optional<ExitCode> code = Parse(app, argc, argv)) return *code;
  return Run(chosen);
}

}  // namespace
}  // namespace cairn::tool

int main(int argc, char** argv) {
  // A closed pipe and a file size limit shall be errors of write, not deaths.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  cairn::tool::ReportLostPages();
  return cairn::tool::Main(argc, argv);
}
