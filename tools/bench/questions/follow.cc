// Measures the time until a process that waits for a commit of another process has its item.

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "absl/strings/str_format.h"

#include "cairn/frame.h"
#include "tools/bench/contestants/stores.h"
#include "tools/bench/results/latencies.h"
#include "tools/bench/results/session.h"
#include "tools/status.h"

namespace cairn::bench {

namespace {

using SteadyClock = std::chrono::steady_clock;  // one clock for all processes

struct FollowSetting {
  int64_t commits = 5000;
  int pause_us = 1000;
};

// Commits items, each of which is the time right before its commit.
absl::Status CommitTimes(const std::string& path, const FollowSetting& setting) {
  ASSIGN_OR_RETURN(Frame frame, Frame::Open(path));
  ASSIGN_OR_RETURN(Writer writer, frame.OpenWriter());
  for (int64_t i = 0; i < setting.commits; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(setting.pause_us));
    const int64_t now[] = {SteadyClock::now().time_since_epoch().count()};
    RETURN_IF_ERROR(writer.Append(now));
    RETURN_IF_ERROR(writer.Commit(Durability::kProcess).status());
  }
  return writer.Close();
}

absl::Status MeasureFollowing(Session& session, const FollowSetting& setting, Layout layout) {
  const std::string path = session.PathFor("follow");
  CreateOptions options;
  options.compression.typesize = sizeof(int64_t);
  options.layout = layout;
  ASSIGN_OR_RETURN(Frame frame, Frame::Create(path, options));
  const pid_t child = fork();
  if (child < 0) return absl::InternalError("no process for the writer");
  if (child == 0) std::_Exit(CommitTimes(path, setting).ok() ? 0 : 1);
  Latencies latencies;
  Snapshot seen = frame.snapshot();
  while (seen.info().nitems < setting.commits) {
    ASSIGN_OR_RETURN(const Snapshot now, frame.WaitForCommit(seen, std::chrono::seconds(60)));
    if (now == seen) return absl::InternalError("the writer is silent");
    const bool more = now.info().nitems > seen.info().nitems;
    seen = now;
    if (!more) continue;
    int64_t made[1];
    RETURN_IF_ERROR(seen.ReadItems(seen.info().nitems - 1, made));
    latencies.Add(std::chrono::duration<double>(SteadyClock::now().time_since_epoch() -
                                                SteadyClock::duration(made[0]))
                      .count());
  }
  int result = 0;
  if (waitpid(child, &result, 0) != child || result != 0) {
    return absl::InternalError("the writer failed");
  }
  RemoveStore(path);
  latencies.Sort();
  session.report.Note(absl::StrFormat(
      "%s frame, a commit every %d us, from before it to the item in another process, "
      "microseconds: %s",
      layout == Layout::kSparse ? "sparse" : "contiguous", setting.pause_us, latencies.ToString()));
  return absl::OkStatus();
}

}  // namespace

void AddFollow(CLI::App& app, Session& session) {
  CLI::App* const command =
      app.add_subcommand("follow", "Commits that another process waits for: their latency");
  const auto setting = std::make_shared<FollowSetting>();
  command->add_option("--commits", setting->commits, "How many")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--pause-us", setting->pause_us, "Before each")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  command->callback([setting, &session] {
    session.run = [setting, &session]() -> absl::Status {
      RETURN_IF_ERROR(MeasureFollowing(session, *setting, Layout::kContiguous));
      return MeasureFollowing(session, *setting, Layout::kSparse);
    };
  });
}

}  // namespace cairn::bench
