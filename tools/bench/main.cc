// cairn-bench: compares Cairn's speed with its peers and with the limits of the hardware.

#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include <CLI/CLI.hpp>

#include "tools/bench/contestants/peers.h"
#include "tools/bench/contestants/stores.h"
#include "tools/bench/results/session.h"

namespace cairn::bench {

std::string Session::PathFor(const std::string& name) const {
  return absl::StrCat(directory, "/cairn-bench-", getpid(), "-", name);
}

namespace {

int Fail(const std::string& why) {
  std::fprintf(stderr, "cairn-bench: %s\n", why.c_str());
  return 1;
}

constexpr char kQuestions[] = "Subcommands";  // their default group

bool Save(const std::string& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary);
  file << content;
  return file.flush().good();
}

// Returns the command without the file of the results, which says nothing about them.
std::string CommandOf(int argc, char** argv) {
  std::string command = "cairn-bench";
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--json") {
      ++i;
    } else if (!std::string_view(argv[i]).starts_with("--json=")) {
      absl::StrAppend(&command, " ", argv[i]);
    }
  }
  return command;
}

int Main(int argc, char** argv) {
  CLI::App app("Measures Cairn beside other engines and beside the bare codec or disk.",
               "cairn-bench");
  Session session;
  std::string json;
  app.add_option("--rounds", session.rounds, "Rounds, of which medians are taken")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--dir", session.directory, "Where stores are made, and removed again")
      ->check(CLI::ExistingDirectory)
      ->capture_default_str();
  app.add_option("--json", json, "File for the results, of which tools/bench/draw.py makes tables");
  app.add_flag_callback(
      "--list",
      [&app] {
        for (const CLI::App* command : app.get_subcommands({})) {
          if (command->get_group() != kQuestions) continue;
          std::printf("%s\n", command->get_name().c_str());
        }
        throw CLI::Success();
      },
      "Names the questions, one a line");
  app.require_subcommand(1);
  app.fallthrough();
  AddAppend(app, session);
  AddBloscLz(app, session);
  AddCodec(app, session);
  AddConcurrent(app, session);
  AddDurable(app, session);
  AddEdit(app, session);
  AddFields(app, session);
  AddFollow(app, session);
  AddIncompressible(app, session);
  AddItems(app, session);
  AddJournal(app, session);
  AddLog(app, session);
  AddMemory(app, session);
  AddNumbers(app, session);
  AddObject(app, session);
  AddOpen(app, session);
  AddPages(app, session);
  AddRead(app, session);
  AddSmallCommits(app, session);
  AddSpace(app, session);
  AddStalls(app, session);
  AddThreads(app, session);
  AddWork(app, session);
  AddWriters(app, session);
  CLI11_PARSE(app, argc, argv);
  for (const std::string& missing : MissingPeers()) {
    session.report.Note(missing + ": not found when this was built, skipped");
  }
  if (const absl::Status status = session.run(); !status.ok()) {
    return Fail(std::string(status.message()));
  }
  if (!json.empty() && !Save(json, session.report.ToJson(CommandOf(argc, argv)))) {
    return Fail("cannot write " + json);
  }
  return 0;
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) { return cairn::bench::Main(argc, argv); }
