// The options and results that all subcommands of cairn-bench share.
#ifndef CAIRN_TOOLS_BENCH_RESULTS_SESSION_H_
#define CAIRN_TOOLS_BENCH_RESULTS_SESSION_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include <CLI/CLI.hpp>

#include "tools/bench/results/report.h"

namespace cairn::bench {

struct Session {
  int rounds = 9;
  std::string directory = "/tmp";  // frames and peers' stores are made and removed there
  Report report;
  std::function<absl::Status()> run;  // runs the chosen subcommand

  // Returns a path in the directory that nothing else uses.
  std::string PathFor(const std::string& name) const;
};

// Each function adds one subcommand, which sets session.run.
void AddAppend(CLI::App& app, Session& session);
void AddBloscLz(CLI::App& app, Session& session);
void AddCodec(CLI::App& app, Session& session);
void AddConcurrent(CLI::App& app, Session& session);
void AddDurable(CLI::App& app, Session& session);
void AddEdit(CLI::App& app, Session& session);
void AddFields(CLI::App& app, Session& session);
void AddFollow(CLI::App& app, Session& session);
void AddIncompressible(CLI::App& app, Session& session);
void AddItems(CLI::App& app, Session& session);
void AddJournal(CLI::App& app, Session& session);
void AddLog(CLI::App& app, Session& session);
void AddMemory(CLI::App& app, Session& session);
void AddNumbers(CLI::App& app, Session& session);
void AddObject(CLI::App& app, Session& session);
void AddOpen(CLI::App& app, Session& session);
void AddPages(CLI::App& app, Session& session);
void AddRead(CLI::App& app, Session& session);
void AddSmallCommits(CLI::App& app, Session& session);
void AddSpace(CLI::App& app, Session& session);
void AddStalls(CLI::App& app, Session& session);
void AddThreads(CLI::App& app, Session& session);
void AddWork(CLI::App& app, Session& session);
void AddWriters(CLI::App& app, Session& session);

}  // namespace cairn::bench

#endif  // CAIRN_TOOLS_BENCH_RESULTS_SESSION_H_
