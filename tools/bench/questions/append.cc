// Measures the cost of appending chunks, in batches and one by one, and how it grows with the
// frame.

#include <algorithm>
#include <cstdint>
#include <fcntl.h>
#include <memory>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "cairn/chunk.h"
#include "tools/bench/contestants/bare.h"
#include "tools/bench/contestants/peers.h"
#include "tools/bench/contestants/stores.h"
#include "tools/bench/data/datasets.h"
#include "tools/bench/data/samples.h"
#include "tools/bench/results/contest.h"
#include "tools/bench/results/session.h"
#include "tools/status.h"

namespace cairn::bench {

namespace {

constexpr int64_t kAppendedBefore = 10'000;  // chunks in a store when the contest begins
constexpr int64_t kAppendOps = 2000;

// Writes with the bare codec, and one write for each commit.
class BareLog final : public ChunkStore {
 public:
  static absl::StatusOr<std::unique_ptr<ChunkStore>> Make(const StoreParams& params) {
    ASSIGN_OR_RETURN(BareCodec codec, BareCodec::Make(params.compression));
    // Blocks and streams are cut as Cairn cuts them.
    const std::vector<std::byte> raw = MakeData(DataSet::kA, kSampleSize, 1);
    std::vector<std::byte> chunk(MaxCompressedSize(raw.size()));
    ASSIGN_OR_RETURN(const size_t size, CompressChunk(raw, params.compression, chunk));
    ASSIGN_OR_RETURN(const ChunkInfo info, InspectChunk(Bytes(chunk).first(size)));
    const int fd = ::open(params.path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) return absl::InternalError("cannot make " + params.path);
    return std::unique_ptr<ChunkStore>(new BareLog(std::move(codec), info, fd));
  }
  ~BareLog() override { ::close(fd_); }

  absl::Status Append(Bytes raw) override {
    const size_t begin = pending_.size();
    pending_.resize(begin + raw.size());
    ASSIGN_OR_RETURN(const size_t size,
                     codec_.Encode(raw, info_, MutableBytes(pending_).subspan(begin)));
    pending_.resize(begin + size);
    return absl::OkStatus();
  }
  absl::Status Commit(Durability /*durability*/) override {
    const auto size = static_cast<ssize_t>(pending_.size());
    if (::pwrite(fd_, pending_.data(), pending_.size(), end_) != size) {
      return absl::InternalError("cannot write the bare log");
    }
    end_ += size;
    pending_.clear();
    return absl::OkStatus();
  }
  absl::Status Read(int64_t /*nchunk*/, MutableBytes /*raw*/) override {
    return absl::UnimplementedError("the bare log is not read");
  }

 private:
  BareLog(BareCodec codec, const ChunkInfo& info, int fd)
      : codec_(std::move(codec)), info_(info), fd_(fd) {}

  BareCodec codec_;
  const ChunkInfo info_;
  const int fd_;
  int64_t end_ = 0;
  std::vector<std::byte> pending_;
};

struct AppendOptions {
  int64_t most = 40'000;
  std::vector<std::string> engines;  // empty: all
};

std::vector<Engine> Contestants(const AppendOptions& options) {
  std::vector<Engine> engines = PeerEngines();
  engines.insert(engines.begin(), CairnEngine());
  if (HaveKernels()) {
    engines.insert(engines.begin(), {.name = "limit: bare codec + pwrite", .make = BareLog::Make});
  }
  std::erase_if(engines, [&](const Engine& engine) {
    return !options.engines.empty() && !engine.name.starts_with("limit") &&
           std::ranges::find(options.engines, engine.name) == options.engines.end();
  });
  return engines;
}

// A store that is removed in the end.
class Filling {
 public:
  static absl::StatusOr<Filling> Make(const Session& session, const Engine& engine,
                                      const std::vector<std::byte>& data) {
    std::string path =
        session.PathFor("append-" + std::to_string(engine.name.size()) + engine.name.substr(0, 5));
    RemoveStore(path);
    ASSIGN_OR_RETURN(std::unique_ptr<ChunkStore> store,
                     engine.make({.path = path,
                                  .chunksize = kSampleSize,
                                  .compression = UsualCompression(DataSet::kA)}));
    return Filling(std::move(store), std::move(path), data);
  }
  Filling(Filling&&) = default;
  ~Filling() {
    if (store_ == nullptr) return;
    store_.reset();
    RemoveStore(path_);
  }

  absl::Status Append(int64_t count, int64_t batch) {
    for (int64_t i = 0; i < count; ++i) {
      RETURN_IF_ERROR(store_->Append(SampleAt(data_, static_cast<uint64_t>(nchunks_++))));
      if (nchunks_ % batch != 0) continue;
      RETURN_IF_ERROR(store_->Commit(Durability::kProcess));
    }
    return absl::OkStatus();
  }

 private:
  Filling(std::unique_ptr<ChunkStore> store, std::string path, const std::vector<std::byte>& data)
      : store_(std::move(store)), path_(std::move(path)), data_(data) {}

  std::unique_ptr<ChunkStore> store_;
  std::string path_;
  const std::vector<std::byte>& data_;
  int64_t nchunks_ = 0;
};

std::string Title(int64_t batch) {
  return absl::StrCat("append 4 KiB chunks, data A, LZ4-5 + shuffle, commit each ",
                      batch == 1 ? "one" : absl::StrCat(batch), ", no sync");
}

absl::Status CompareAppends(Session& session, const AppendOptions& options, int64_t batch,
                            const std::vector<std::byte>& data) {
  Contest contest({.text = absl::StrCat(Title(batch), ", from ", kAppendedBefore, " chunks on"),
                   .ops = kAppendOps,
                   .clock = Clock::kWall});
  std::vector<std::unique_ptr<Filling>> stores;
  for (const Engine& engine : Contestants(options)) {
    ASSIGN_OR_RETURN(Filling store, Filling::Make(session, engine, data));
    stores.push_back(std::make_unique<Filling>(std::move(store)));
    RETURN_IF_ERROR(stores.back()->Append(kAppendedBefore, 1000));
    contest.Add(engine.name,
                [batch, store = stores.back().get()] { return store->Append(kAppendOps, batch); });
  }
  ASSIGN_OR_RETURN(Result result, contest.Run(session.rounds));
  session.report.Add(std::move(result));
  return absl::OkStatus();
}

// Returns the microseconds for an append in each band of sizes, with everything that happens there.
absl::StatusOr<Curve> Grow(const Session& session, const Engine& engine,
                           const AppendOptions& options, int64_t batch,
                           const std::vector<std::byte>& data) {
  constexpr double kPatience = 30;  // seconds for one band
  ASSIGN_OR_RETURN(Filling store, Filling::Make(session, engine, data));
  Curve curve{.name = engine.name, .points = {}};
  int64_t from = 0;
  for (const int64_t to :
       {1'000, 3'000, 10'000, 40'000, 100'000, 300'000, 1'000'000, 3'000'000, 10'000'000}) {
    if (to > options.most) break;
    const double begin = Now(Clock::kWall);
    RETURN_IF_ERROR(store.Append(to - from, batch));
    const double each = (Now(Clock::kWall) - begin) / static_cast<double>(to - from);
    curve.points.emplace_back(to, 1e6 * each);
    if (each * 3 * static_cast<double>(to) > kPatience) break;
    from = to;
  }
  return curve;
}

absl::Status RunAppend(Session& session, const AppendOptions& options) {
  const std::vector<std::byte> data = MakeSamples();
  for (const int64_t batch : {1000, 1}) {
    RETURN_IF_ERROR(CompareAppends(session, options, batch, data));
    Growth growth{.question = Title(batch),
                  .x_title = "chunks in the frame",
                  .y_title = "microseconds an append",
                  .curves = {}};
    for (const Engine& engine : Contestants(options)) {
      ASSIGN_OR_RETURN(Curve curve, Grow(session, engine, options, batch, data));
      growth.curves.push_back(std::move(curve));
    }
    session.report.Add(std::move(growth));
  }
  return absl::OkStatus();
}

}  // namespace

void AddAppend(CLI::App& app, Session& session) {
  CLI::App* const command = app.add_subcommand("append", "Appends in batches and one by one");
  const auto options = std::make_shared<AppendOptions>();
  command->add_option("--most", options->most, "Chunks up to which the growth is followed")
      ->capture_default_str();
  command->add_option("--engine", options->engines,
                      "Engines beside the limit; all of them if none");
  command->callback([&session, options] {
    session.run = [&session, options] { return RunAppend(session, *options); };
  });
}

}  // namespace cairn::bench
