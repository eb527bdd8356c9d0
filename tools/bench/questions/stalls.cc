// Measures how long the slowest commits of a large frame take, and how long it takes to open it
// meanwhile.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"

#include "cairn/frame.h"
#include "tools/bench/contestants/stores.h"
#include "tools/bench/data/datasets.h"
#include "tools/bench/results/contest.h"
#include "tools/bench/results/latencies.h"
#include "tools/bench/results/session.h"
#include "tools/status.h"

namespace cairn::bench {

namespace {

constexpr size_t kStallsChunk = 4096;
constexpr int64_t kFillCommit = 100'000;
constexpr int64_t kStallsOpens = 20;

struct StallsSetting {
  int64_t chunks = 10'000'000;
  int64_t commits = 2'000'000;
  bool updates = false;
};

// The data of all chunks compresses to some 50 bytes, because only the number of chunks counts.
class SmallChunks {
 public:
  Bytes Next() {
    ++number_;
    for (size_t at = 0; at < chunk_.size(); at += 256) {
      chunk_[at] = static_cast<std::byte>(number_ >> (at / 256 % 4 * 8));
    }
    return chunk_;
  }

 private:
  uint64_t number_ = 0;
  std::array<std::byte, kStallsChunk> chunk_{};
};

absl::Status FillForCommits(Frame& frame, int64_t chunks, SmallChunks& source) {
  ASSIGN_OR_RETURN(Writer writer, frame.OpenWriter());
  for (int64_t i = 1; i <= chunks; ++i) {
    RETURN_IF_ERROR(writer.Append(source.Next()));
    if (i % kFillCommit == 0) RETURN_IF_ERROR(writer.Commit(Durability::kProcess).status());
  }
  return writer.Close();
}

// The seconds of each commit, and of opening the frame from time to time.
struct Times {
  Latencies commits;
  Latencies opens;
};

absl::StatusOr<Times> TimeCommitsAndOpens(const std::string& path, Frame& frame,
                                          const StallsSetting& setting, SmallChunks& source) {
  Times times;
  std::mt19937_64 random(1);
  ASSIGN_OR_RETURN(Writer writer, frame.OpenWriter());
  for (int64_t i = 1; i <= setting.commits; ++i) {
    const Bytes chunk = source.Next();
    const auto nchunk = static_cast<int64_t>(random() % static_cast<uint64_t>(setting.chunks));
    const double begin = Now(Clock::kWall);
    RETURN_IF_ERROR(setting.updates ? writer.UpdateChunk(nchunk, chunk) : writer.Append(chunk));
    RETURN_IF_ERROR(writer.Commit(Durability::kProcess).status());
    times.commits.Add(Now(Clock::kWall) - begin);
    if (i % std::max<int64_t>(setting.commits / kStallsOpens, 1) != 0) continue;
    const double before = Now(Clock::kWall);
    ASSIGN_OR_RETURN(const Frame reader, Frame::Open(path));
    times.opens.Add(Now(Clock::kWall) - before);
  }
  RETURN_IF_ERROR(writer.Close());
  return times;
}

absl::Status MeasureStalls(const std::string& path, const StallsSetting& setting,
                           Session& session) {
  CreateOptions options;
  options.chunksize = kStallsChunk;
  options.compression.codec = Codec::kLz4;
  options.compression.clevel = 1;
  options.overwrite = true;
  ASSIGN_OR_RETURN(Frame frame, Frame::Create(path, options));
  SmallChunks source;
  RETURN_IF_ERROR(FillForCommits(frame, setting.chunks, source));
  ASSIGN_OR_RETURN(Times times, TimeCommitsAndOpens(path, frame, setting, source));
  times.commits.Sort();
  times.opens.Sort();
  session.report.Note(absl::StrFormat(
      "stalls: commit in microseconds: %s; Open in milliseconds: median %.1f, longest %.1f",
      times.commits.ToString(), 1e3 * times.opens.Quantile(0.5), 1e3 * times.opens.longest()));
  session.report.Add(Growth{
      .question = absl::StrFormat("commits of a chunk each to a frame of %d", setting.chunks),
      .x_title = "microseconds",
      .y_title = "commits of a million that take longer",
      .curves = {times.commits.Histogram(setting.updates ? "updates" : "appends")}});
  return absl::OkStatus();
}

}  // namespace

void AddStalls(CLI::App& app, Session& session) {
  CLI::App* const command =
      app.add_subcommand("stalls", "The slowest of many small commits to a frame of many chunks");
  const auto setting = std::make_shared<StallsSetting>();
  command->add_option("--chunks", setting->chunks, "Of 4 KiB, before the commits")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--commits", setting->commits, "How many")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_flag("--updates", setting->updates, "Chunks at random, instead of new ones");
  command->callback([setting, &session] {
    session.run = [setting, &session] {
      const std::string path = session.PathFor("stalls");
      const absl::Status status = MeasureStalls(path, *setting, session);
      RemoveStore(path);
      return status;
    };
  });
}

}  // namespace cairn::bench
