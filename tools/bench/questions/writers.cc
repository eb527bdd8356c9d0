// Measures what writers cost each other: threads that share one, and writers that take turns.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "cairn/frame.h"
#include "engine/base/mutex.h"
#include "tools/bench/contestants/stores.h"
#include "tools/bench/results/contest.h"
#include "tools/bench/results/session.h"
#include "tools/status.h"

namespace cairn::bench {

namespace {

constexpr int64_t kCommits = 480;  // commits of a round
constexpr int64_t kTurns = 100;
constexpr int64_t kWrittenItem = 40;

// Edits and commits in turn, but waits for the disk together with other threads.
class SharedWriter {
 public:
  explicit SharedWriter(Writer* writer) : writer_(*writer) {}

  absl::Status CommitByThreads(int count) {
    std::vector<std::thread> threads;
    std::vector<absl::Status> results(static_cast<size_t>(count));
    for (absl::Status& result : results) {
      threads.emplace_back([this, &result, count] { result = CommitOften(kCommits / count); });
    }
    for (std::thread& thread : threads) thread.join();
    for (const absl::Status& result : results) RETURN_IF_ERROR(result);
    return absl::OkStatus();
  }

 private:
  absl::Status CommitOften(int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      ASSIGN_OR_RETURN(const Snapshot committed, CommitOnce());
      RETURN_IF_ERROR(writer_.Sync(committed));
    }
    return absl::OkStatus();
  }
  absl::StatusOr<Snapshot> CommitOnce() {
    const MutexLock lock(mutex_);
    RETURN_IF_ERROR(writer_.Append(Bytes(item_)));
    return writer_.Commit(Durability::kProcess);
  }

  const std::vector<std::byte> item_ = std::vector<std::byte>(kWrittenItem, std::byte{1});
  Mutex mutex_;
  Writer& writer_;  // needs the mutex, except to Sync
};

absl::Status CommitOnce(Writer& writer) {
  RETURN_IF_ERROR(writer.Append(Bytes(std::vector<std::byte>(kWrittenItem, std::byte{1}))));
  return writer.Commit(Durability::kMachine).status();
}

absl::Status CompareThreads(Session& session, const std::string& path) {
  ASSIGN_OR_RETURN(Frame frame, Frame::Create(path, {}));
  ASSIGN_OR_RETURN(Writer writer, frame.OpenWriter());
  SharedWriter shared(&writer);
  Contest contest({.text = "durable commit of 40 bytes", .ops = kCommits, .clock = Clock::kWall});
  contest.Add("1 thread, kMachine", [&] {
    for (int64_t i = 0; i < kCommits; ++i) RETURN_IF_ERROR(CommitOnce(writer));
    return absl::OkStatus();
  });
  for (const int count : {1, 4, 16}) {
    contest.Add(absl::StrCat(count, count == 1 ? " thread" : " threads", ", kProcess and Sync"),
                [&shared, count] { return shared.CommitByThreads(count); });
  }
  ASSIGN_OR_RETURN(Result result, contest.Run(session.rounds));
  session.report.Add(std::move(result));
  return absl::OkStatus();
}

// Returns the seconds that `step` takes, each time after `before`.
absl::StatusOr<Samples> TimeSteps(std::string name, const Contest::Step& before,
                                  const Contest::Step& step, int rounds) {
  Samples samples{.name = std::move(name), .rounds = {}};
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> took;
    for (int64_t i = 0; i < kTurns; ++i) {
      RETURN_IF_ERROR(before());
      const double begin = Now(Clock::kWall);
      RETURN_IF_ERROR(step());
      took.push_back(Now(Clock::kWall) - begin);
    }
    samples.single_ops.insert(samples.single_ops.end(), took.begin(), took.end());
    samples.rounds.push_back(Median(std::move(took)));
  }
  return samples;
}

// Compares turns after a journal of some length, which OpenWriter reads.
absl::Status CompareTurns(Session& session, const std::string& path) {
  ASSIGN_OR_RETURN(Frame frame, Frame::Create(path, {}));
  ASSIGN_OR_RETURN(Writer first, frame.OpenWriter());
  for (int i = 0; i < 2000; ++i) RETURN_IF_ERROR(CommitOnce(first));
  RETURN_IF_ERROR(first.Suspend());
  ASSIGN_OR_RETURN(Frame other, Frame::Open(path));
  std::optional<Writer> second;
  ASSIGN_OR_RETURN(second, other.OpenWriter());
  RETURN_IF_ERROR(second->Suspend());
  const auto commit_elsewhere = [&]() -> absl::Status {
    RETURN_IF_ERROR(second->Resume());
    RETURN_IF_ERROR(CommitOnce(*second));
    return second->Suspend();
  };
  const auto take_turn = [&]() -> absl::Status {
    RETURN_IF_ERROR(first.Resume());
    return first.Suspend();
  };
  const auto nothing = [] { return absl::OkStatus(); };
  std::vector<Samples> samples(3);
  ASSIGN_OR_RETURN(samples[0], TimeSteps("Resume and Suspend", nothing, take_turn, session.rounds));
  ASSIGN_OR_RETURN(samples[1], TimeSteps("the same after another writer's commit", commit_elsewhere,
                                         take_turn, session.rounds));
  second.reset();
  const auto open = [&]() -> absl::Status {
    ASSIGN_OR_RETURN(second, other.OpenWriter());
    second.reset();
    return absl::OkStatus();
  };
  ASSIGN_OR_RETURN(samples[2], TimeSteps("OpenWriter", nothing, open, session.rounds));
  session.report.Add(
      Judge({.text = "taking the writer's turn", .ops = 1, .clock = Clock::kWall}, samples));
  return absl::OkStatus();
}

absl::Status RunWriters(Session& session) {
  const std::string path = session.PathFor("writers");
  for (const auto& question : {CompareThreads, CompareTurns}) {
    RemoveStore(path);
    const absl::Status status = question(session, path);
    RemoveStore(path);
    RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

}  // namespace

void AddWriters(CLI::App& app, Session& session) {
  CLI::App* const command =
      app.add_subcommand("writers", "Threads that share a writer, and writers that take turns");
  command->callback([&session] { session.run = [&session] { return RunWriters(session); }; });
}

}  // namespace cairn::bench
