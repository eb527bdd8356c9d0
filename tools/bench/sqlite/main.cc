// cairn-sqlite-bench: compares the cost of databases through the VFS `cairn` and through SQLite's
// own VFS.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include <CLI/CLI.hpp>

#include "tools/bench/sqlite/runs.h"
#include "tools/bench/sqlite/table.h"
#include "tools/status.h"

namespace cairn::bench::sqlite {

namespace {

constexpr char kReference[] = "WAL";

struct Options {
  int rounds = 3;
  int page_size = 4096;
  Sizes sizes;
  std::string directory = "/tmp";
  std::string extension = CAIRN_SQLITE_EXTENSION;
  std::string speedtest1;
  int speedtest1_size = 30;
  std::vector<std::string> works;
  std::vector<std::string> stores;
  std::vector<std::string> parameters;
  std::string table;
};

struct Work {
  std::string name;
  std::string text;
  int64_t ops;
  std::optional<double> time_goal;
  std::function<absl::StatusOr<Run>(const Contender&)> run;
};

std::vector<Contender> AllContenders(bool with_cairn, const std::vector<std::string>& parameters) {
  std::vector<Contender> all = {{.name = "DELETE", .parameters = "vfs=unix", .journal = "DELETE"},
                                {.name = kReference, .parameters = "vfs=unix", .journal = "WAL"}};
  if (!with_cairn) return all;
  all.push_back({.name = "Cairn", .parameters = "vfs=cairn", .journal = ""});
  all.push_back({.name = "Cairn zstd", .parameters = "vfs=cairn&codec=zstd", .journal = ""});
  for (const std::string& more : parameters) {
    all.push_back({.name = "Cairn " + more, .parameters = "vfs=cairn&" + more, .journal = ""});
  }
  return all;
}

std::optional<double> SizeGoal(const Work& work, const Contender& contender) {
  if (!work.name.starts_with("load") && !work.name.starts_with("read")) return std::nullopt;
  if (contender.name == "Cairn") return 0.55;
  if (contender.name == "Cairn zstd") return 0.35;
  return std::nullopt;
}

bool Chosen(const std::vector<std::string>& chosen, const std::string& name) {
  return chosen.empty() || std::find(chosen.begin(), chosen.end(), name) != chosen.end();
}

std::vector<Work> AllWorks(const Options& options, Runner& runner) {
  std::vector<Work> all;
  for (Workload& workload : AllWorkloads(options.sizes)) {
    all.push_back({.name = workload.name,
                   .text = absl::StrCat(workload.text, workload.durable ? "" : ", synchronous OFF"),
                   .ops = workload.ops,
                   .time_goal = workload.goal,
                   .run = [workload, &runner](const Contender& contender) {
                     return runner.Time(workload, contender);
                   }});
  }
  if (options.speedtest1.empty()) return all;
  for (const bool durable : {true, false}) {
    all.push_back({.name = durable ? "speedtest1" : "speedtest1-off",
                   .text = absl::StrCat("speedtest1 --size ", options.speedtest1_size,
                                        durable ? "" : ", synchronous OFF"),
                   .ops = 1,
                   .time_goal = std::nullopt,
                   .run = [=, &options, &runner](const Contender& contender) {
                     return runner.TimeSpeedtest1(options.speedtest1, options.extension,
                                                  options.speedtest1_size, durable, contender);
                   }});
  }
  return all;
}

// Runs a work by all contenders, who take turns.
absl::StatusOr<std::string> Compare(const Work& work, const std::vector<Contender>& contenders,
                                    int rounds) {
  std::vector<ContenderRuns> all;
  for (const Contender& contender : contenders) {
    const bool judged = contender.name.starts_with("Cairn");
    all.push_back({.name = contender.name,
                   .rounds = {},
                   .time_goal = judged ? work.time_goal : std::nullopt,
                   .size_goal = SizeGoal(work, contender)});
  }
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < contenders.size(); ++i) {
      ASSIGN_OR_RETURN(Run run, work.run(contenders[i]));
      all[i].rounds.push_back(std::move(run));
    }
  }
  const auto reference = std::find_if(
      all.begin(), all.end(), [](const ContenderRuns& runs) { return runs.name == kReference; });
  return TableRows(work.text, work.ops, all, reference == all.end() ? all.front() : *reference);
}

absl::Status CompareAll(const Options& options) {
  ASSIGN_OR_RETURN(const bool with_cairn, LoadExtension(options.extension));
  if (!with_cairn) std::printf("The extension brings no VFS `cairn`\n");
  std::vector<Contender> contenders = AllContenders(with_cairn, options.parameters);
  std::erase_if(contenders, [&](const Contender& contender) {
    return !Chosen(options.stores, contender.name);
  });
  if (contenders.empty()) return absl::InvalidArgumentError("no store has that name");
  std::string table = absl::StrFormat(
      "SQLite %s, pages of %d bytes, medians of %d rounds, ratios to %s\n\n%s",
      sqlite3_libversion(), options.page_size, options.rounds, kReference, TableHead());
  std::printf("%s", table.c_str());
  Runner runner(options.directory, options.page_size, options.sizes.rows);
  for (const Work& work : AllWorks(options, runner)) {
    if (!Chosen(options.works, work.name)) continue;
    ASSIGN_OR_RETURN(const std::string rows, Compare(work, contenders, options.rounds));
    std::printf("%s", rows.c_str());
    std::fflush(stdout);
    table += rows;
  }
  if (options.table.empty()) return absl::OkStatus();
  std::ofstream file(options.table, std::ios::binary);
  file << table;
  if (!file.flush().good()) return absl::InternalError("cannot write " + options.table);
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  CLI::App app(
      "Measures SQLite's databases in Cairn's frames beside those of SQLite's own VFS. Sizes are "
      "bytes allocated on disk, of all files of a database, at most (looked at each 5 ms) and once "
      "it is closed; times end with the last commit.",
      "cairn-sqlite-bench");
  Options options;
  app.add_option("--rounds", options.rounds, "Rounds, of which medians are taken")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--rows", options.sizes.rows, "Rows of a loaded database")
      ->check(CLI::Range(1000, 100000000))
      ->capture_default_str();
  app.add_option("--scale", options.sizes.scale, "Share of all operations that is done")
      ->check(CLI::Range(0.001, 100.0))
      ->capture_default_str();
  app.add_option("--page-size", options.page_size, "Bytes of a page")->capture_default_str();
  app.add_option("--dir", options.directory, "Where databases are made, and removed again")
      ->check(CLI::ExistingDirectory)
      ->capture_default_str();
  app.add_option("--extension", options.extension, "The extension")->capture_default_str();
  app.add_option("--work", options.works, "Only these of insert, insert-off, load ...");
  app.add_option("--store", options.stores, "Only these of DELETE, WAL, Cairn, \"Cairn zstd\"");
  app.add_option("--cairn", options.parameters, "One more store: parameters of its URI");
  app.add_option("--speedtest1", options.speedtest1, "Also SQLite's own benchmark: speedtest1.sh")
      ->check(CLI::ExistingFile);
  app.add_option("--speedtest1-size", options.speedtest1_size, "How much it does")
      ->capture_default_str();
  app.add_option("--table", options.table, "File for the results as a table in Markdown");
  CLI11_PARSE(app, argc, argv);
  if (const absl::Status status = CompareAll(options); !status.ok()) {
    std::fprintf(stderr, "cairn-sqlite-bench: %s\n", std::string(status.message()).c_str());
    return 1;
  }
  return 0;
}

}  // namespace

}  // namespace cairn::bench::sqlite

int main(int argc, char** argv) { return cairn::bench::sqlite::Main(argc, argv); }
