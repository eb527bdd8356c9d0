#include "tools/bench/sqlite/runs.h"

#include <fcntl.h>
#include <optional>
#include <spawn.h>
#include <sys/wait.h>
#include <utility>

#include "absl/strings/str_cat.h"

#include "tools/bench/results/contest.h"
#include "tools/bench/sqlite/rows.h"
#include "tools/status.h"

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): POSIX has it so
extern char** environ;

namespace cairn::bench::sqlite {

namespace {

// Runs a program without its output.
absl::Status Call(std::vector<std::string> arguments) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return absl::ErrnoToStatus(error, arguments[0]);
  int state = 0;
  waitpid(child, &state, 0);
  if (!WIFEXITED(state) || WEXITSTATUS(state) != 0) {
    return absl::InternalError(arguments[0] + " failed");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Store> Runner::Prepare(Start start, const Contender& contender) const {
  ASSIGN_OR_RETURN(Store store, Store::Create(directory_, contender, page_size_));
  ASSIGN_OR_RETURN(Connection connection, store.Open(false));
  RETURN_IF_ERROR(connection.Execute(kCreateTable));
  if (start != Start::kEmpty) RETURN_IF_ERROR(connection.Execute(kCreateIndex));
  if (start == Start::kLoaded || start == Start::kShared) {
    RETURN_IF_ERROR(Load(connection, MakeRows(1, rows_)));
  }
  return store;
}

absl::StatusOr<Run> Runner::Time(const Workload& workload, const Contender& contender) {
  std::optional<Store> own;
  if (workload.start == Start::kShared) {
    if (!shared_.contains(contender.name)) {
      ASSIGN_OR_RETURN(Store store, Prepare(workload.start, contender));
      shared_.emplace(contender.name, std::move(store));
    }
  } else {
    ASSIGN_OR_RETURN(Store store, Prepare(workload.start, contender));
    own.emplace(std::move(store));
  }
  const Store& store = own ? *own : shared_.at(contender.name);

  Run run;
  Watch watch(store);
  {
    if (workload.cold) RETURN_IF_ERROR(store.DropCache());
    double start = Now(Clock::kWall);
    ASSIGN_OR_RETURN(Connection connection, store.Open(workload.durable));
    if (!workload.cold) {
      if (workload.start == Start::kShared) {
        std::vector<double> ignored;
        RETURN_IF_ERROR(workload.run(connection, ignored));
      }
      start = Now(Clock::kWall);
    }
    RETURN_IF_ERROR(workload.run(connection, run.commits));
    run.seconds = Now(Clock::kWall) - start;
  }
  run.most_bytes = watch.Stop();
  run.bytes = store.AllocatedBytes();
  return run;
}

absl::StatusOr<Run> Runner::TimeSpeedtest1(const std::string& program, const std::string& extension,
                                           int size, bool durable,
                                           const Contender& contender) const {
  ASSIGN_OR_RETURN(const Store store, Store::Create(directory_, contender, page_size_));
  std::vector<std::string> arguments = {
      program, extension, "--size", absl::StrCat(size), "--pagesize", absl::StrCat(page_size_)};
  if (!durable) arguments.push_back("--nosync");
  if (!contender.journal.empty()) {
    arguments.insert(arguments.end(), {"--journal", contender.journal});
  }
  arguments.push_back(absl::StrCat("file:", store.database(), "?", contender.parameters));
  Run run;
  Watch watch(store);
  const double start = Now(Clock::kWall);
  RETURN_IF_ERROR(Call(std::move(arguments)));
  run.seconds = Now(Clock::kWall) - start;
  run.most_bytes = watch.Stop();
  run.bytes = store.AllocatedBytes();
  return run;
}

}  // namespace cairn::bench::sqlite
