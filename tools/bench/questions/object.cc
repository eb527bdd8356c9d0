// Measures the cost of frames in an object store: requests, and the time that they take on slower
// ways.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "cairn/file_system.h"
#include "cairn/frame.h"
#include "cairn/object_store.h"
#include "tools/bench/contestants/stores.h"
#include "tools/bench/data/bucket.h"
#include "tools/bench/data/datasets.h"
#include "tools/bench/data/small_chunks.h"
#include "tools/bench/results/contest.h"
#include "tools/bench/results/session.h"
#include "tools/status.h"

namespace cairn::bench {

namespace {

constexpr int32_t kObjectChunk = 64 << 10;
constexpr int64_t kObjectChunks = 1000;
constexpr int64_t kManyChunks = 100'000;
constexpr int kCommitsBefore = 10;
constexpr int kRacing = 20;  // commits of each of two writers in a round

struct ObjectSetting {
  std::string bucket;
  std::string proxy;
  std::vector<int> latencies = {0, 10, 50};
};

CreateOptions FrameOptions(Layout layout, const std::shared_ptr<FileSystem>& files = nullptr) {
  CreateOptions options;
  options.compression = UsualCompression(DataSet::kA);
  options.chunksize = kObjectChunk;
  options.layout = layout;
  options.overwrite = files == nullptr;
  options.file_system = files;
  return options;
}

absl::Status AppendChunks(Writer& writer, DataSource& source, int64_t nchunks) {
  for (int64_t i = 0; i < nchunks; ++i) RETURN_IF_ERROR(writer.Append(source.Next()));
  return absl::OkStatus();
}

absl::Status Upload(ObjectStore& store, const std::string& path, const std::string& name) {
  ASSIGN_OR_RETURN(const auto file, PosixFileSystem()->Open(path, FileMode::kRead));
  ASSIGN_OR_RETURN(const int64_t size, file->Size());
  std::vector<std::byte> bytes(static_cast<size_t>(size));
  RETURN_IF_ERROR(file->ReadAt(0, bytes));
  return store.PutIfAbsent(name, bytes).status();
}

// Names of the frames that are only read.
class Frames {
 public:
  explicit Frames(std::string prefix) : prefix_(std::move(prefix)) {}

  const std::string& prefix() const { return prefix_; }
  std::string contiguous() const { return prefix_ + "contiguous"; }
  std::string many() const { return prefix_ + "many"; }
  std::string objects() const { return prefix_ + "objects"; }
  std::string committed() const { return prefix_ + "committed"; }
  std::string written(int latency) const { return absl::StrCat(prefix_, "written-", latency); }

  absl::Status Make(const std::shared_ptr<ObjectStore>& store, const std::string& scratch) const {
    DataSource source(DataSet::kA, kObjectChunk);
    ASSIGN_OR_RETURN(Writer local, Frame::BeginCreate(scratch, FrameOptions(Layout::kContiguous)));
    RETURN_IF_ERROR(AppendChunks(local, source, kObjectChunks));
    RETURN_IF_ERROR(local.Close());
    RETURN_IF_ERROR(Upload(*store, scratch, contiguous()));
    RETURN_IF_ERROR(BuildSmallChunks(scratch, FingerprintType::k64Bit, kManyChunks));
    RETURN_IF_ERROR(Upload(*store, scratch, many()));

    const std::shared_ptr<FileSystem> files = MakeObjectFileSystem(store);
    const CreateOptions options = FrameOptions(Layout::kSparse, files);
    ASSIGN_OR_RETURN(Writer sparse, Frame::BeginCreate(objects(), options));
    RETURN_IF_ERROR(AppendChunks(sparse, source, kObjectChunks));
    RETURN_IF_ERROR(sparse.Close());
    ASSIGN_OR_RETURN(Frame frame, Frame::Create(committed(), options));
    ASSIGN_OR_RETURN(Writer writer, frame.OpenWriter());
    for (int i = 0; i < kCommitsBefore; ++i) {
      RETURN_IF_ERROR(AppendChunks(writer, source, 1));
      RETURN_IF_ERROR(writer.Commit().status());
    }
    return absl::OkStatus();
  }

 private:
  const std::string prefix_;
};

using Step = std::function<absl::Status()>;

// Asks everything over one way.
class Asker {
 public:
  struct Tables {
    Growth requests;
    Growth milliseconds;
  };

  Asker(const ObjectSetting& setting, const Frames& frames, int latency, std::string endpoint,
        std::shared_ptr<ObjectStore> direct, Tables& tables)
      : setting_(setting),
        frames_(frames),
        latency_(latency),
        endpoint_(std::move(endpoint)),
        direct_(std::move(direct)),
        tables_(tables) {}

  absl::Status AskAll(int rounds) {
    rounds_ = rounds;
    ASSIGN_OR_RETURN(store_, OpenBucket(setting_.bucket, endpoint_));
    RETURN_IF_ERROR(AskReader("contiguous, 1,000 chunks", frames_.contiguous()));
    RETURN_IF_ERROR(AskReader("contiguous, 100,000 chunks", frames_.many()));
    RETURN_IF_ERROR(AskReader("object frame, 1,000 chunks", frames_.objects()));
    RETURN_IF_ERROR(AskToOpen(absl::StrCat("object frame, ", kCommitsBefore, " commits ago"),
                              frames_.committed()));
    RETURN_IF_ERROR(AskScan("contiguous", frames_.contiguous()));
    RETURN_IF_ERROR(AskScan("object frame", frames_.objects()));
    RETURN_IF_ERROR(AskRefresh());
    RETURN_IF_ERROR(AskWriter());
    return AskRace();
  }

 private:
  // Runs one round more than asked, because the first warms up. `share` operations are done at
  // once.
  absl::Status Measure(const std::string& name, const Step& prepare, const Step& run,
                       int share = 1) {
    std::vector<double> requests;
    std::vector<double> milliseconds;
    for (int round = 0; round <= rounds_; ++round) {
      RETURN_IF_ERROR(prepare());
      const int64_t before = Requests();
      const double begin = Now(Clock::kWall);
      RETURN_IF_ERROR(run());
      const double took = Now(Clock::kWall) - begin;
      if (round == 0) continue;
      requests.push_back(static_cast<double>(Requests() - before) / share);
      milliseconds.push_back(took * 1e3 / share);
    }
    Note(tables_.requests, name, Median(std::move(requests)));
    Note(tables_.milliseconds, name, Median(std::move(milliseconds)));
    return absl::OkStatus();
  }

  int64_t Requests() const {
    return store_->stats().requests() + (second_ == nullptr ? 0 : second_->stats().requests());
  }

  void Note(Growth& growth, const std::string& name, double value) const {
    auto curve = std::ranges::find(growth.curves, name, &Curve::name);
    if (curve == growth.curves.end()) {
      growth.curves.push_back({.name = name, .points = {}});
      curve = std::prev(growth.curves.end());
    }
    curve->points.emplace_back(latency_, value);
  }

  // Keeps nothing of what was read before.
  absl::Status Open(const std::string& path) {
    frame_.reset();
    files_ = MakeObjectFileSystem(store_);
    ASSIGN_OR_RETURN(frame_, Frame::Open(path, {.file_system = files_}));
    return absl::OkStatus();
  }

  absl::Status AskToOpen(const std::string& name, const std::string& path) {
    return Measure(
        "open: " + name, [] { return absl::OkStatus(); }, [&] { return Open(path); });
  }

  absl::Status AskReader(const std::string& name, const std::string& path) {
    RETURN_IF_ERROR(AskToOpen(name, path));
    int64_t number = 0;
    return Measure(
        "then one item: " + name, [&] { return Open(path); },
        [&]() -> absl::Status {
          const Snapshot snapshot = frame_->snapshot();
          std::byte item[8];
          number += int64_t{7919} * 4096;
          return snapshot.ReadItems(number % snapshot.info().nitems, MutableBytes(item));
        });
  }

  absl::Status AskScan(const std::string& name, const std::string& path) {
    std::vector<std::byte> all(kObjectChunks * kObjectChunk);
    return Measure(
        absl::StrCat("scan of ", kObjectChunks, " chunks: ", name), [&] { return Open(path); },
        [&] { return frame_->snapshot().ReadBytes(0, all); });
  }

  absl::StatusOr<Frame> MakeFrame() {
    files_ = MakeObjectFileSystem(store_);
    CreateOptions options = FrameOptions(Layout::kSparse, files_);
    options.overwrite = true;
    return Frame::Create(frames_.written(latency_), options);
  }

  absl::Status AskRefresh() {
    ASSIGN_OR_RETURN(frame_, MakeFrame());
    const auto refresh = [&] { return frame_->Refresh().status(); };
    RETURN_IF_ERROR(Measure(
        "Refresh without news", [] { return absl::OkStatus(); }, refresh));
    const std::shared_ptr<FileSystem> files = MakeObjectFileSystem(direct_);
    ASSIGN_OR_RETURN(Frame other, Frame::Open(frames_.written(latency_), {.file_system = files}));
    ASSIGN_OR_RETURN(Writer writer, other.OpenWriter());
    const auto commit = [&]() -> absl::Status {
      RETURN_IF_ERROR(AppendChunks(writer, source_, 1));
      return writer.Commit().status();
    };
    return Measure("Refresh with one commit", commit, refresh);
  }

  absl::Status AskWriter() {
    const std::string path = frames_.written(latency_);
    ASSIGN_OR_RETURN(frame_, MakeFrame());
    std::optional<Writer> writer;
    const auto open_anew = [&]() -> absl::Status {
      writer.reset();
      ASSIGN_OR_RETURN(store_, OpenBucket(setting_.bucket, endpoint_));
      return Open(path);
    };
    const auto open_again = [&]() -> absl::Status {
      writer.reset();
      return Open(path);
    };
    const auto open_writer = [&]() -> absl::Status {
      ASSIGN_OR_RETURN(writer, frame_->OpenWriter());
      return absl::OkStatus();
    };
    RETURN_IF_ERROR(Measure("OpenWriter, the first of a process", open_anew, open_writer));
    RETURN_IF_ERROR(Measure("OpenWriter, later", open_again, open_writer));
    for (const int64_t nchunks : {1, 8, 64}) {
      RETURN_IF_ERROR(Measure(
          absl::StrCat("commit of ", nchunks, nchunks == 1 ? " chunk" : " chunks"),
          [] { return absl::OkStatus(); },
          [&]() -> absl::Status {
            RETURN_IF_ERROR(AppendChunks(*writer, source_, nchunks));
            return writer->Commit().status();
          }));
    }
    const auto commit = [&]() -> absl::Status {
      RETURN_IF_ERROR(AppendChunks(*writer, source_, 1));
      return writer->Commit().status();
    };
    return Measure("checkpoint of one commit", commit, [&] { return writer->Checkpoint(); });
  }

  // Works as two processes do, each with connections of its own.
  absl::Status AskRace() {
    ASSIGN_OR_RETURN(frame_, MakeFrame());
    ASSIGN_OR_RETURN(second_, OpenBucket(setting_.bucket, endpoint_));
    const std::shared_ptr<FileSystem> files = MakeObjectFileSystem(second_);
    ASSIGN_OR_RETURN(Frame other, Frame::Open(frames_.written(latency_), {.file_system = files}));
    std::optional<Writer> writers[2];
    ASSIGN_OR_RETURN(writers[0], frame_->OpenWriter());
    ASSIGN_OR_RETURN(writers[1], other.OpenWriter());
    DataSource sources[2] = {{DataSet::kA, kObjectChunk, 2}, {DataSet::kA, kObjectChunk, 3}};
    const auto race = [&]() -> absl::Status {
      absl::Status results[2];
      std::vector<std::thread> threads;
      for (int w = 0; w < 2; ++w) {
        threads.emplace_back([&, w] {
          for (int i = 0; i < kRacing && results[w].ok(); ++i) {
            results[w].Update(AppendChunks(*writers[w], sources[w], 1));
            results[w].Update(writers[w]->Commit().status());
          }
        });
      }
      for (std::thread& thread : threads) thread.join();
      RETURN_IF_ERROR(results[0]);
      return results[1];
    };
    const absl::Status status = Measure(
        "commit of 1 chunk, two writers that race", [] { return absl::OkStatus(); }, race,
        2 * kRacing);
    for (std::optional<Writer>& writer : writers) writer.reset();
    return status;
  }

  const ObjectSetting& setting_;
  const Frames& frames_;
  const int latency_;
  const std::string endpoint_;
  const std::shared_ptr<ObjectStore> direct_;  // has no added latency
  Tables& tables_;
  int rounds_ = 1;
  DataSource source_ = DataSource(DataSet::kA, kObjectChunk);
  // Requests of these are counted.
  std::shared_ptr<ObjectStore> store_;
  std::shared_ptr<ObjectStore> second_;
  std::shared_ptr<FileSystem> files_;
  std::optional<Frame> frame_;
};

absl::Status AskOverAllWays(Session& session, const ObjectSetting& setting, const Frames& frames,
                            const std::shared_ptr<ObjectStore>& store) {
  Asker::Tables tables = {.requests = {.question = "requests to the object store, medians",
                                       .x_title = "ms added to each request",
                                       .y_title = "requests",
                                       .curves = {}},
                          .milliseconds = {.question = "time on the object store, medians",
                                           .x_title = "ms added to each request",
                                           .y_title = "milliseconds",
                                           .curves = {}}};
  ASSIGN_OR_RETURN(const std::string endpoint, EndpointOfEnvironment());
  for (const int latency : setting.latencies) {
    std::unique_ptr<SlowWay> way;
    if (latency > 0 && setting.proxy.empty()) {
      session.report.Note(absl::StrCat("no --proxy, so nothing with ", latency, " ms added"));
      continue;
    }
    if (latency > 0) {
      ASSIGN_OR_RETURN(way, SlowWay::Start(setting.proxy, endpoint, latency));
    }
    Asker asker(setting, frames, latency, way == nullptr ? endpoint : way->url(), store, tables);
    RETURN_IF_ERROR(asker.AskAll(session.rounds));
  }
  session.report.Add(std::move(tables.requests));
  session.report.Add(std::move(tables.milliseconds));
  return absl::OkStatus();
}

absl::Status RunObject(Session& session, const ObjectSetting& setting) {
  if (setting.bucket.empty()) {
    session.report.Note("no --bucket of an object store: skipped");
    return absl::OkStatus();
  }
  const absl::StatusOr<std::shared_ptr<ObjectStore>> store = OpenBucket(setting.bucket);
  if (!store.ok()) {
    session.report.Note(absl::StrCat("object store: ", store.status().message(), ": skipped"));
    return absl::OkStatus();
  }
  const Frames frames(absl::StrCat("cairn-bench-", getpid(), "/"));
  const std::string scratch = session.PathFor("object");
  absl::Status status = frames.Make(*store, scratch);
  RemoveStore(scratch);
  if (status.ok()) status = AskOverAllWays(session, setting, frames, *store);
  status.Update(RemoveObjects(**store, frames.prefix()));
  return status;
}

}  // namespace

void AddObject(CLI::App& app, Session& session) {
  CLI::App* const command = app.add_subcommand(
      "object", "Requests and time of frames in an object store, which the environment names");
  const auto setting = std::make_shared<ObjectSetting>();
  command->add_option("--bucket", setting->bucket, "A bucket of the store; without it, skipped");
  command->add_option("--proxy", setting->proxy, "The program object_proxy, which adds latency")
      ->check(CLI::ExistingFile);
  command->add_option("--latency-ms", setting->latencies, "Added to each request")
      ->check(CLI::Range(0, 10'000))
      ->capture_default_str();
  command->callback([setting, &session] {
    session.run = [setting, &session] { return RunObject(session, *setting); };
  });
}

}  // namespace cairn::bench
