// Repeats one kind of work, for profilers. profile.py asks where its time goes.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "cairn/frame.h"
#include "tools/bench/contestants/stores.h"
#include "tools/bench/data/datasets.h"
#include "tools/bench/results/contest.h"
#include "tools/bench/results/session.h"
#include "tools/status.h"

namespace cairn::bench {

namespace {

constexpr int64_t kReadItem = 8;  // bytes, of data A

struct WorkOptions {
  std::string kind = "read";
  double seconds = 5;
};

// Calls `step` until the time is over.
absl::Status RepeatFor(double seconds, const std::function<absl::Status()>& step) {
  const double end = Now(Clock::kWall) + seconds;
  while (Now(Clock::kWall) < end) {
    for (int i = 0; i < 100; ++i) {
      RETURN_IF_ERROR(step());
    }
  }
  return absl::OkStatus();
}

CreateOptions WorkFrameOptions(int32_t chunksize, int32_t blocksize) {
  CreateOptions options;
  options.compression = UsualCompression(DataSet::kA);
  options.compression.blocksize = blocksize;
  options.chunksize = chunksize;
  options.overwrite = true;
  return options;
}

absl::Status Append(const std::string& path, double seconds, int64_t appends_a_commit,
                    Durability durability = Durability::kProcess) {
  constexpr int32_t kChunk = 4096;
  ASSIGN_OR_RETURN(Frame frame, Frame::Create(path, WorkFrameOptions(kChunk, 0)));
  ASSIGN_OR_RETURN(Writer writer, frame.OpenWriter());
  const std::vector<std::byte> data = MakeData(DataSet::kA, kChunk, 1024);
  int64_t appended = 0;
  return RepeatFor(seconds, [&] {
    const auto at = static_cast<size_t>(appended % 1024) * kChunk;
    RETURN_IF_ERROR(writer.Append(Bytes(data).subspan(at, kChunk)));
    return ++appended % appends_a_commit == 0 ? writer.Commit(durability).status()
                                              : absl::OkStatus();
  });
}

struct Shape {
  int32_t chunksize = 4096;
  int32_t blocksize = 0;  // chosen
  int64_t nchunks = 10'000;
};

absl::StatusOr<Frame> MakeFrame(const std::string& path, const Shape& shape) {
  ASSIGN_OR_RETURN(Writer writer,
                   Frame::BeginCreate(path, WorkFrameOptions(shape.chunksize, shape.blocksize)));
  DataSource source(DataSet::kA, static_cast<size_t>(shape.chunksize));
  for (int64_t i = 0; i < shape.nchunks; ++i) {
    RETURN_IF_ERROR(writer.Append(source.Next()));
  }
  RETURN_IF_ERROR(writer.Close());
  return Frame::Open(path);
}

absl::Status ReadChunks(const std::string& path, double seconds, const Shape& shape) {
  ASSIGN_OR_RETURN(const Frame frame, MakeFrame(path, shape));
  const Snapshot snapshot = frame.snapshot();
  std::vector<std::byte> raw(static_cast<size_t>(shape.chunksize));
  std::mt19937_64 random(1);
  return RepeatFor(seconds, [&] {
    return snapshot.ReadChunk(static_cast<int64_t>(random() % shape.nchunks), raw);
  });
}

absl::Status ReadItems(const std::string& path, double seconds, const Shape& shape) {
  ASSIGN_OR_RETURN(const Frame frame, MakeFrame(path, shape));
  const Snapshot snapshot = frame.snapshot();
  std::byte item[kReadItem];
  std::mt19937_64 random(1);
  return RepeatFor(seconds, [&] {
    const auto number = static_cast<int64_t>(random() % snapshot.info().nitems);
    return snapshot.ReadItems(number, MutableBytes(item));
  });
}

using Work = std::function<absl::Status(const std::string& path, double seconds)>;

std::map<std::string, Work> Works() {
  const Shape large{.chunksize = 1 << 20, .blocksize = 64 << 10, .nchunks = 200};
  return {
      {"append", [](auto& path, double seconds) { return Append(path, seconds, 1000); }},
      {"commit", [](auto& path, double seconds) { return Append(path, seconds, 1); }},
      {"durable",
       [](auto& path, double seconds) { return Append(path, seconds, 1, Durability::kMachine); }},
      {"read", [](auto& path, double seconds) { return ReadChunks(path, seconds, {}); }},
      {"read-large", [=](auto& path, double seconds) { return ReadChunks(path, seconds, large); }},
      {"item", [=](auto& path, double seconds) { return ReadItems(path, seconds, large); }},
  };
}

absl::Status RunWork(Session& session, const WorkOptions& options) {
  const std::string path = session.PathFor("work");
  absl::Status status = Works().at(options.kind)(path, options.seconds);
  RemoveStore(path);
  return status;
}

}  // namespace

void AddWork(CLI::App& app, Session& session) {
  CLI::App* const command = app.add_subcommand("work", "One kind of work, for profilers");
  command->group("Tools");
  const auto options = std::make_shared<WorkOptions>();
  std::vector<std::string> kinds;
  for (const auto& [kind, work] : Works()) kinds.push_back(kind);
  command->add_option("--kind", options->kind, "What to do")
      ->check(CLI::IsMember(kinds))
      ->capture_default_str();
  command->add_option("--seconds", options->seconds, "How long")->capture_default_str();
  command->callback([&session, options] {
    session.run = [&session, options] { return RunWork(session, *options); };
  });
}

}  // namespace cairn::bench
