// Measures how the time to open a frame and read a first item grows with its chunks and its
// commits.

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "cairn/frame.h"
#include "tools/bench/contestants/stores.h"
#include "tools/bench/data/datasets.h"
#include "tools/bench/data/small_chunks.h"
#include "tools/bench/results/contest.h"
#include "tools/bench/results/session.h"
#include "tools/status.h"

namespace cairn::bench {

namespace {

constexpr int kTimedOpens = 25;

// Returns the microseconds to open the frame and read one item somewhere.
absl::StatusOr<double> TimeToFirstItem(const std::string& path) {
  std::vector<double> times;
  for (uint64_t seed = 0; seed < kTimedOpens; ++seed) {
    std::mt19937_64 random(seed);
    const double begin = Now(Clock::kWall);
    ASSIGN_OR_RETURN(const Frame frame, Frame::Open(path));
    const Snapshot snapshot = frame.snapshot();
    std::byte item[kSmallItem];
    const auto number = static_cast<int64_t>(random() % snapshot.info().nitems);
    RETURN_IF_ERROR(snapshot.ReadItems(number, MutableBytes(item)));
    times.push_back((Now(Clock::kWall) - begin) * 1e6);
  }
  return Median(std::move(times));
}

absl::Status CompareAfterChunks(Session& session) {
  Growth growth{.question = "open and read a first item, real chunks, pages in memory",
                .x_title = "chunks in the frame",
                .y_title = "microseconds",
                .curves = {}};
  // Frames of other Blosc2s have neither fingerprints nor hashes of index pages.
  for (const auto& [name, fingerprint] :
       {std::pair{"sealed", FingerprintType::k64Bit}, {"as by C-Blosc2", FingerprintType::kNone}}) {
    Curve curve{.name = name, .points = {}};
    for (const int64_t nchunks : {1'000, 10'000, 100'000, 1'000'000, 10'000'000}) {
      const std::string path = session.PathFor("open");
      RETURN_IF_ERROR(BuildSmallChunks(path, fingerprint, nchunks));
      const absl::StatusOr<double> time = TimeToFirstItem(path);
      RemoveStore(path);
      if (!time.ok()) return time.status();
      curve.points.emplace_back(static_cast<double>(nchunks), *time);
    }
    growth.curves.push_back(std::move(curve));
  }
  session.report.Add(std::move(growth));
  return absl::OkStatus();
}

absl::Status CompareAfterCommits(Session& session) {
  Growth growth{.question = "open and read a first item after commits of 64 bytes",
                .x_title = "commits since the checkpoint",
                .y_title = "microseconds",
                .curves = {Curve{.name = "Cairn", .points = {}}}};
  DataSource source(DataSet::kA, kSmallChunk);
  for (const int64_t commits : {1, 1'000, 10'000, 60'000}) {
    const std::string path = session.PathFor("commits");
    CreateOptions options = SmallChunkOptions(FingerprintType::k64Bit);
    options.chunksize = 4096;
    ASSIGN_OR_RETURN(Frame frame, Frame::Create(path, options));
    ASSIGN_OR_RETURN(Writer writer, frame.OpenWriter());
    absl::Status status;
    for (int64_t i = 0; i < commits; ++i) {
      status.Update(writer.Append(source.Next().first(64)));
      status.Update(writer.Commit(Durability::kProcess).status());
    }
    if (!status.ok()) return status;
    const absl::StatusOr<double> time = TimeToFirstItem(path);
    RemoveStore(path);
    if (!time.ok()) return time.status();
    growth.curves.front().points.emplace_back(static_cast<double>(commits), *time);
  }
  session.report.Add(std::move(growth));
  return absl::OkStatus();
}

absl::Status RunOpen(Session& session) {
  const absl::Status status = CompareAfterChunks(session);
  return status.ok() ? CompareAfterCommits(session) : status;
}

}  // namespace

void AddOpen(CLI::App& app, Session& session) {
  CLI::App* const command =
      app.add_subcommand("open", "Opening a frame of many chunks or commits; needs 4 GB of disk");
  command->callback([&session] { session.run = [&session] { return RunOpen(session); }; });
}

}  // namespace cairn::bench
