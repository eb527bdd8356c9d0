// Measures how large a frame gets that is updated for ever while others read it, and LMDB with the
// same updates.

#include <algorithm>
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
#include "tools/bench/contestants/peers.h"
#include "tools/bench/contestants/stores.h"
#include "tools/bench/data/datasets.h"
#include "tools/bench/results/contest.h"
#include "tools/bench/results/latencies.h"
#include "tools/bench/results/session.h"
#include "tools/status.h"

namespace cairn::bench {

namespace {

constexpr int64_t kSpaceChunks = 5000;
constexpr size_t kSpaceChunk = 4096;
constexpr int64_t kPoints = 100;
constexpr int64_t kRefreshEvery = 100;  // commits

struct SpaceCurves {
  Curve file{.name = "file", .points = {}};
  Curve disk{.name = "disk", .points = {}};
  Curve live{.name = "what lives", .points = {}};
  double excess = 0;  // the most MiB over twice the live bytes
};

enum class SpaceWorkload { kOneSize, kAnySize, kLog };

std::string TitleOf(SpaceWorkload workload) {
  switch (workload) {
    case SpaceWorkload::kOneSize:
      return "5,000 chunks of 4 KiB, updated at random";
    case SpaceWorkload::kAnySize:
      return "the same, stored in anything up to 4 KiB";
    case SpaceWorkload::kLog:
      break;
  }
  return "a log of 5,000 chunks that deletes its front as it grows";
}

// Makes the chunks.
class Chunks {
 public:
  explicit Chunks(SpaceWorkload workload) : any_size_(workload == SpaceWorkload::kAnySize) {}

  Bytes Next() {
    if (!any_size_) return source_.Next();
    // As much noise takes as much space.
    const size_t noise = random_() % kSpaceChunk;
    for (size_t i = 0; i < kSpaceChunk; ++i) chunk_[i] = std::byte(i < noise ? random_() : 0);
    return chunk_;
  }

 private:
  const bool any_size_;
  DataSource source_{DataSet::kA, kSpaceChunk};
  std::mt19937_64 random_{2};
  std::vector<std::byte> chunk_ = std::vector<std::byte>(kSpaceChunk);
};

// Two readers that follow, and, for the second fifth of the time, one that does not.
struct Readers {
  Frame first;
  Frame second;
  std::optional<Snapshot> held = {};

  absl::Status Follow() {
    RETURN_IF_ERROR(first.Refresh().status());
    return second.Refresh().status();
  }
};

// Returns the sizes of the file and of its blocks on disk.
absl::StatusOr<struct stat> SizesOf(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) return absl::InternalError("cannot look at " + path);
  return info;
}

absl::Status MeasureSpace(const std::string& path, const Snapshot& snapshot, int64_t updates,
                          SpaceCurves& sizes) {
  ASSIGN_OR_RETURN(const struct stat info, SizesOf(path));
  const auto x = static_cast<double>(updates);
  sizes.excess =
      std::max(sizes.excess, static_cast<double>(info.st_size - 2 * snapshot.info().cbytes) / kMiB);
  sizes.file.points.emplace_back(x, static_cast<double>(info.st_size) / kMiB);
  sizes.disk.points.emplace_back(x, static_cast<double>(info.st_blocks) * 512 / kMiB);
  sizes.live.points.emplace_back(x, static_cast<double>(snapshot.info().cbytes) / kMiB);
  return absl::OkStatus();
}

// Another engine that does the same updates, without readers.
class SpacePeer {
 public:
  static absl::StatusOr<std::unique_ptr<SpacePeer>> Make(const Engine& engine,
                                                         const std::string& path, Chunks& source) {
    RemoveStore(path);
    auto peer = std::make_unique<SpacePeer>();
    peer->name_ = peer->file_.name = engine.name;
    peer->path_ = path;
    ASSIGN_OR_RETURN(peer->store_, engine.make({.path = path,
                                                .chunksize = kSpaceChunk,
                                                .compression = UsualCompression(DataSet::kA)}));
    for (int64_t i = 0; i < kSpaceChunks; ++i) RETURN_IF_ERROR(peer->store_->Append(source.Next()));
    RETURN_IF_ERROR(peer->store_->Commit(Durability::kProcess));
    return peer;
  }
  ~SpacePeer() {
    store_.reset();
    if (!path_.empty()) RemoveStore(path_);
  }

  absl::Status Update(int64_t nchunk, Bytes chunk) {
    const double begin = Now(Clock::kWall);
    RETURN_IF_ERROR(store_->Update(nchunk, chunk));
    RETURN_IF_ERROR(store_->Commit(Durability::kProcess));
    commits_.Add(Now(Clock::kWall) - begin);
    return absl::OkStatus();
  }
  absl::Status Measure(int64_t updates) {
    ASSIGN_OR_RETURN(const struct stat info, SizesOf(path_));
    file_.points.emplace_back(static_cast<double>(updates),
                              static_cast<double>(info.st_size) / kMiB);
    return absl::OkStatus();
  }
  // Returns the curve of the measurements.
  Curve Finish(const std::string& title, Session& session) {
    commits_.Sort();
    session.report.Note(absl::StrFormat(
        "space: %s: %s: %.0f commits a second, in microseconds: %s; %.1f MiB at the end", title,
        name_, commits_.Rate(), commits_.ToString(), file_.points.back().second));
    return std::move(file_);
  }

 private:
  std::string name_;
  std::string path_;
  std::unique_ptr<ChunkStore> store_;
  Latencies commits_;
  Curve file_;
};

// Makes LMDB's peer, if it was found and can do what the workload asks for.
absl::StatusOr<std::vector<std::unique_ptr<SpacePeer>>> MakePeers(SpaceWorkload workload,
                                                                  Chunks& source,
                                                                  Session& session) {
  std::vector<std::unique_ptr<SpacePeer>> peers;
  for (const Engine& engine : PeerEngines()) {
    if (workload == SpaceWorkload::kLog || !engine.name.starts_with("LMDB")) continue;
    ASSIGN_OR_RETURN(peers.emplace_back(),
                     SpacePeer::Make(engine, session.PathFor("space-" + engine.name), source));
  }
  return peers;
}

absl::Status FillForUpdates(Frame& frame, Chunks& source) {
  ASSIGN_OR_RETURN(Writer writer, frame.OpenWriter());
  for (int64_t i = 0; i < kSpaceChunks; ++i) {
    RETURN_IF_ERROR(writer.Append(source.Next()));
  }
  return writer.Close();
}

absl::Status Edit(Writer& writer, SpaceWorkload workload, int64_t nchunk, Bytes chunk) {
  if (workload != SpaceWorkload::kLog) return writer.UpdateChunk(nchunk, chunk);
  RETURN_IF_ERROR(writer.Append(chunk));
  return writer.DeleteChunks(0, 1);
}

absl::Status Update(const std::string& path, SpaceWorkload workload, int64_t updates,
                    Session& session) {
  CreateOptions options;
  options.chunksize = kSpaceChunk;
  options.compression = UsualCompression(DataSet::kA);
  options.overwrite = true;
  ASSIGN_OR_RETURN(Frame frame, Frame::Create(path, options));
  Chunks source(workload);
  RETURN_IF_ERROR(FillForUpdates(frame, source));
  ASSIGN_OR_RETURN(Frame first, Frame::Open(path));
  ASSIGN_OR_RETURN(Frame second, Frame::Open(path));
  Readers readers{.first = std::move(first), .second = std::move(second)};
  ASSIGN_OR_RETURN(Writer writer, frame.OpenWriter());
  ASSIGN_OR_RETURN(const auto peers, MakePeers(workload, source, session));
  SpaceCurves sizes;
  Latencies commits;
  std::mt19937_64 random(1);
  for (int64_t i = 0; i < updates; ++i) {
    const auto nchunk = static_cast<int64_t>(random() % kSpaceChunks);
    const Bytes chunk = source.Next();
    const double begin = Now(Clock::kWall);
    RETURN_IF_ERROR(Edit(writer, workload, nchunk, chunk));
    ASSIGN_OR_RETURN(const Snapshot snapshot, writer.Commit(Durability::kProcess));
    commits.Add(Now(Clock::kWall) - begin);
    for (const auto& peer : peers) RETURN_IF_ERROR(peer->Update(nchunk, chunk));
    if (i % kRefreshEvery == 0) RETURN_IF_ERROR(readers.Follow());
    if (i == updates / 5) readers.held = snapshot;
    if (i == 2 * updates / 5) readers.held.reset();
    if (i % std::max<int64_t>(updates / kPoints, 1) == 0) {
      RETURN_IF_ERROR(MeasureSpace(path, snapshot, i, sizes));
      for (const auto& peer : peers) RETURN_IF_ERROR(peer->Measure(i));
    }
  }
  commits.Sort();
  const std::string title = TitleOf(workload);
  session.report.Note(absl::StrFormat(
      "space: %s: Cairn: %.0f commits a second, in microseconds: %s; %.1f MiB at "
      "the end, at most twice what lives and %.1f MiB",
      title, commits.Rate(), commits.ToString(), sizes.file.points.back().second, sizes.excess));
  RETURN_IF_ERROR(writer.Close());
  std::vector<Curve> curves = {std::move(sizes.file), std::move(sizes.disk), std::move(sizes.live)};
  for (const auto& peer : peers) curves.push_back(peer->Finish(title, session));
  session.report.Add(Growth{.question = title,
                            .x_title = "updates, a commit each",
                            .y_title = "MiB",
                            .curves = std::move(curves)});
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
      for (const SpaceWorkload workload :
           {SpaceWorkload::kOneSize, SpaceWorkload::kAnySize, SpaceWorkload::kLog}) {
        if (status.ok()) status = Update(path, workload, *updates, session);
        RemoveStore(path);
      }
      return status;
    };
  });
}

}  // namespace cairn::bench
