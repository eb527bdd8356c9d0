#include "tests/sqlite/differential/search_apart.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"

#include "engine/base/status.h"
#include "tests/sqlite/database.h"
#include "tests/sqlite/differential/differential.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {

namespace {

// A script that takes longer hangs, seconds.
constexpr unsigned kPatience = 120;
constexpr int kTrials = 400;  // of shorter scripts

// Facts that a child reports, also when it dies.
struct Report {
  std::atomic<uint64_t> seed;
  char text[8192];
};

class Child {
 public:
  Child()
      : report_(static_cast<Report*>(mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE,
                                          MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    if (report_ == MAP_FAILED) std::abort();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { munmap(report_, sizeof(Report)); }

  uint64_t seed() const { return report_->seed; }

  // Lets `body` run in a process of its own.
  absl::Status Run(absl::FunctionRef<absl::Status(Report& report)> body) {
    std::fflush(nullptr);
    report_->text[0] = '\0';
    const pid_t child = fork();
    if (child == 0) {
      alarm(kPatience);
      const absl::Status status = body(*report_);
      std::snprintf(report_->text, sizeof(report_->text), "%s",
                    std::string(status.message()).c_str());
      _exit(status.ok() ? 0 : 1);
    }
    int state = 0;
    if (child < 0 || waitpid(child, &state, 0) != child) return absl::InternalError("fork");
    if (WIFEXITED(state) && WEXITSTATUS(state) == 0) return absl::OkStatus();
    if (report_->text[0] != '\0') return absl::DataLossError(report_->text);
    return absl::DataLossError(WIFSIGNALED(state)
                                   ? absl::StrCat("the process dies of signal ", WTERMSIG(state))
                                   : "the process ends early");
  }

 private:
  Report* report_;
};

absl::Status RunScript(Manner manner, const Layout& layout, const Script& script) {
  const TempDir directory;
  Differential differential(manner, layout, directory.path());
  return differential.Run(script);
}

// Leaves out ever smaller pieces that are not needed for the sides to differ.
Script Shorten(Manner manner, const Layout& layout, Script script, absl::Status& difference) {
  Child child;
  int trials = 0;
  for (size_t piece = script.size() / 2; piece > 0; piece /= 2) {
    for (size_t at = 0; at < script.size() && trials < kTrials; ++trials) {
      Script shorter = script;
      const auto begin = shorter.begin() + static_cast<int64_t>(at);
      shorter.erase(begin, begin + static_cast<int64_t>(std::min(piece, shorter.size() - at)));
      const absl::Status tried = child.Run([&](Report&) -> absl::Status {
        CAIRN_RETURN_IF_ERROR(LoadSqliteExtension());
        return RunScript(manner, layout, shorter);
      });
      if (tried.ok()) {
        at += piece;
      } else {
        script = std::move(shorter);
        difference = tried;
      }
    }
  }
  return script;
}

}  // namespace

absl::Status SearchApart(Manner manner, uint64_t first, int64_t count, int steps) {
  Child child;
  absl::Status difference = child.Run([&](Report& report) -> absl::Status {
    CAIRN_RETURN_IF_ERROR(LoadSqliteExtension());
    for (int64_t i = 0; i < count; ++i) {
      report.seed = first + static_cast<uint64_t>(i);
      alarm(kPatience);
      ScriptMaker maker(manner, report.seed);
      const Script script = maker.Make(steps);
      CAIRN_RETURN_IF_ERROR(RunScript(manner, maker.layout(), script));
    }
    return absl::OkStatus();
  });
  if (difference.ok()) return difference;
  ScriptMaker maker(manner, child.seed());
  const std::string before(difference.message());
  std::fprintf(stderr, "seed %llu differs: looking for the shortest script\n",
               static_cast<unsigned long long>(child.seed()));
  const Script script = Shorten(manner, maker.layout(), maker.Make(steps), difference);
  std::string text =
      absl::StrCat("seed ", child.seed(), ", pages of ", maker.layout().page_size, ", auto_vacuum ",
                   maker.layout().auto_vacuum, maker.layout().is_utf16 ? ", UTF-16" : "",
                   maker.layout().has_frame_table ? ", with fr.f" : "",
                   maker.layout().shares_cache ? ", cache=shared" : "", "\n", before,
                   "\nshortest script, in which ", difference.message(), "\n");
  for (const Step& step : script) absl::StrAppend(&text, "  ", ToString(step), "\n");
  return absl::DataLossError(text);
}

}  // namespace cairn::test
