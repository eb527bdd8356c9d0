// How large a frame gets that is updated for ever, beside readers.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"

#include "cairn/frame.h"
#include "tools/bench/contestants/stores.h"
#include "tools/bench/data/datasets.h"
#include "tools/bench/results/session.h"
#include "tools/status.h"

namespace cairn::bench {

namespace {

constexpr int64_t kChunks = 5000;
constexpr size_t kChunk = 4096;
constexpr int64_t kPoints = 100;
constexpr int64_t kRefreshEvery = 100;  // commits

struct Sizes {
  Curve file{.name = "file", .points = {}};
  Curve disk{.name = "disk", .points = {}};
  Curve live{.name = "what lives", .points = {}};
  double excess = 0;  // the most MiB over twice what lives
};

enum class Workload { kOneSize, kAnySize, kLog };

std::string TitleOf(Workload workload) {
  switch (workload) {
    case Workload::kOneSize:
      return "5,000 chunks of 4 KiB, updated at random";
    case Workload::kAnySize:
      return "the same, stored in anything up to 4 KiB";
    case Workload::kLog:
      break;
  }
  return "a log of 5,000 chunks that deletes its front as it grows";
}

// Makes the chunks.
class Chunks {
 public:
  explicit Chunks(Workload workload) : any_size_(workload == Workload::kAnySize) {}

  Bytes Next() {
    if (!any_size_) return source_.Next();
    // As much noise takes as much space.
    const size_t noise = random_() % kChunk;
    for (size_t i = 0; i < kChunk; ++i) chunk_[i] = std::byte(i < noise ? random_() : 0);
    return chunk_;
  }

 private:
  const bool any_size_;
  DataSource source_{DataSet::kA, kChunk};
  std::mt19937_64 random_{2};
  std::vector<std::byte> chunk_ = std::vector<std::byte>(kChunk);
};

// Two readers that follow, and for the second fifth of the time one that does not.
struct Readers {
  Frame first;
  Frame second;
  std::optional<Snapshot> held = {};

  absl::Status Follow() {
    RETURN_IF_ERROR(first.Refresh().status());
    return second.Refresh().status();
  }
};

absl::Status Measure(const std::string& path, const Snapshot& snapshot, int64_t updates,
                     Sizes& sizes) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) return absl::InternalError("cannot look at " + path);
  constexpr double kMiB = 1 << 20;
  const auto x = static_cast<double>(updates);
  sizes.excess =
      std::max(sizes.excess, static_cast<double>(info.st_size - 2 * snapshot.info().cbytes) / kMiB);
  sizes.file.points.emplace_back(x, static_cast<double>(info.st_size) / kMiB);
  sizes.disk.points.emplace_back(x, static_cast<double>(info.st_blocks) * 512 / kMiB);
  sizes.live.points.emplace_back(x, static_cast<double>(snapshot.info().cbytes) / kMiB);
  return absl::OkStatus();
}

absl::Status Fill(Frame& frame, Chunks& source) {
  ASSIGN_OR_RETURN(Writer writer, frame.OpenWriter());
  for (int64_t i = 0; i < kChunks; ++i) {
    RETURN_IF_ERROR(writer.Append(source.Next()));
  }
  return writer.Close();
}

absl::Status Edit(Writer& writer, Workload workload, int64_t nchunk, Bytes chunk) {
  if (workload != Workload::kLog) return writer.UpdateChunk(nchunk, chunk);
  RETURN_IF_ERROR(writer.Append(chunk));
  return writer.DeleteChunks(0, 1);
}

absl::Status Update(const std::string& path, Workload workload, int64_t updates, Session& session) {
  using Clock = std::chrono::steady_clock;
  CreateOptions options;
  options.chunksize = kChunk;
  options.compression = UsualCompression(DataSet::kA);
  options.overwrite = true;
  ASSIGN_OR_RETURN(Frame frame, Frame::Create(path, options));
  Chunks source(workload);
  RETURN_IF_ERROR(Fill(frame, source));
  ASSIGN_OR_RETURN(Frame first, Frame::Open(path));
  ASSIGN_OR_RETURN(Frame second, Frame::Open(path));
  Readers readers{.first = std::move(first), .second = std::move(second)};
  ASSIGN_OR_RETURN(Writer writer, frame.OpenWriter());
  Sizes sizes;
  std::mt19937_64 random(1);
  Clock::duration longest{};
  const auto begin = Clock::now();
  for (int64_t i = 0; i < updates; ++i) {
    const auto before = Clock::now();
    RETURN_IF_ERROR(
        Edit(writer, workload, static_cast<int64_t>(random() % kChunks), source.Next()));
    ASSIGN_OR_RETURN(const Snapshot snapshot, writer.Commit(Durability::kProcess));
    longest = std::max(longest, Clock::now() - before);
    if (i % kRefreshEvery == 0) RETURN_IF_ERROR(readers.Follow());
    if (i == updates / 5) readers.held = snapshot;
    if (i == 2 * updates / 5) readers.held.reset();
    if (i % std::max<int64_t>(updates / kPoints, 1) == 0) {
      RETURN_IF_ERROR(Measure(path, snapshot, i, sizes));
    }
  }
  const std::chrono::duration<double> took = Clock::now() - begin;
  session.report.Note(
      absl::StrFormat("space: %s: %.0f commits a second, the longest %.1f ms; at most twice what "
                      "lives and %.1f MiB",
                      TitleOf(workload), static_cast<double>(updates) / took.count(),
                      std::chrono::duration<double, std::milli>(longest).count(), sizes.excess));
  RETURN_IF_ERROR(writer.Close());
  session.report.Add(
      Growth{.question = TitleOf(workload),
             .x_title = "updates, a commit each",
             .y_title = "MiB",
             .curves = {std::move(sizes.file), std::move(sizes.disk), std::move(sizes.live)}});
  return absl::OkStatus();
}

}  // namespace

void AddSpace(CLI::App& app, Session& session) {
  CLI::App* const command =
      app.add_subcommand("space", "Size of a frame that is updated at random, beside readers");
  const auto updates = std::make_shared<int64_t>(1'000'000);
  command->add_option("--updates", *updates, "How many")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->callback([updates, &session] {
    session.run = [updates, &session] {
      const std::string path = session.PathFor("space");
      absl::Status status;
      for (const Workload workload : {Workload::kOneSize, Workload::kAnySize, Workload::kLog}) {
        if (status.ok()) status = Update(path, workload, *updates, session);
        RemoveStore(path);
      }
      return status;
    };
  });
}

}  // namespace cairn::bench
