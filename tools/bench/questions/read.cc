// Measures the time to read a random chunk of a frame whose pages are in memory.

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

#include "cairn/frame.h"
#include "tools/bench/contestants/bare.h"
#include "tools/bench/contestants/peers.h"
#include "tools/bench/contestants/stores.h"
#include "tools/bench/data/datasets.h"
#include "tools/bench/results/contest.h"
#include "tools/bench/results/session.h"
#include "tools/status.h"

namespace cairn::bench {

namespace {

struct ReadWorkload {
  DataSet set = DataSet::kA;
  int32_t chunksize = 4096;
  int64_t nchunks = 10000;
  int64_t reads = 10000;  // reads in a round
};

absl::Status FillForReads(ChunkStore& store, const ReadWorkload& workload) {
  DataSource source(workload.set, static_cast<size_t>(workload.chunksize));
  for (int64_t i = 0; i < workload.nchunks; ++i) {
    RETURN_IF_ERROR(store.Append(source.Next()));
  }
  return store.Commit(Durability::kProcess);
}

// Every chunk of the data, coded by Cairn and taken apart for the bare codec.
class BareChunks {
 public:
  static absl::StatusOr<BareChunks> Make(const ReadWorkload& workload) {
    const CompressionOptions options = UsualCompression(workload.set);
    ASSIGN_OR_RETURN(BareCodec codec, BareCodec::Make(options));
    BareChunks bare(std::move(codec));
    DataSource source(workload.set, static_cast<size_t>(workload.chunksize));
    std::vector<std::byte> chunk(MaxCompressedSize(static_cast<size_t>(workload.chunksize)));
    for (int64_t i = 0; i < workload.nchunks; ++i) {
      ASSIGN_OR_RETURN(const size_t size, CompressChunk(source.Next(), options, chunk));
      bare.stored_.emplace_back(chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(size));
      ASSIGN_OR_RETURN(std::vector<StoredBlock> blocks, TakeApart(bare.stored_.back()));
      bare.blocks_.push_back(std::move(blocks));
    }
    return bare;
  }
  absl::Status Read(int64_t nchunk, MutableBytes dst) {
    return codec_.Decode(blocks_[static_cast<size_t>(nchunk)], dst);
  }

 private:
  explicit BareChunks(BareCodec codec) : codec_(std::move(codec)) {}
  BareCodec codec_;
  std::vector<std::vector<std::byte>> stored_;
  std::vector<std::vector<StoredBlock>> blocks_;
};

absl::Status CompareReads(Session& session, const ReadWorkload& workload) {
  std::mt19937_64 random(7);
  std::vector<int64_t> order(static_cast<size_t>(workload.reads));
  for (int64_t& nchunk : order) nchunk = static_cast<int64_t>(random() % workload.nchunks);
  std::vector<std::byte> raw(static_cast<size_t>(workload.chunksize));

  Contest contest({.text = absl::StrCat("random chunk read, ", workload.chunksize / 1024,
                                        " KiB, data ", NameOf(workload.set), ", ", workload.nchunks,
                                        " chunks, LZ4-5 + shuffle"),
                   .ops = workload.reads});
  std::unique_ptr<BareChunks> bare;
  if (HaveKernels() && workload.set != DataSet::kC) {
    ASSIGN_OR_RETURN(BareChunks made, BareChunks::Make(workload));
    bare = std::make_unique<BareChunks>(std::move(made));
    contest.Add("limit: bare LZ4 + kernel", [&] {
      absl::Status status;
      for (const int64_t nchunk : order) status.Update(bare->Read(nchunk, raw));
      return status;
    });
  } else {
    session.report.Note("no limit: it needs compressed chunks and the kernels of C-Blosc2");
  }
  std::vector<Engine> engines = PeerEngines();
  engines.insert(engines.begin(), CairnEngine());
  std::vector<std::unique_ptr<ChunkStore>> stores;
  for (const Engine& engine : engines) {
    const std::string path = session.PathFor(engine.name);
    RemoveStore(path);
    ASSIGN_OR_RETURN(std::unique_ptr<ChunkStore> store,
                     engine.make({.path = path,
                                  .chunksize = workload.chunksize,
                                  .compression = UsualCompression(workload.set)}));
    RETURN_IF_ERROR(FillForReads(*store, workload));
    stores.push_back(std::move(store));
    contest.Add(engine.name, [&order, &raw, store = stores.back().get()] {
      absl::Status status;
      for (const int64_t nchunk : order) status.Update(store->Read(nchunk, raw));
      return status;
    });
  }
  absl::StatusOr<Result> result = contest.Run(session.rounds);
  stores.clear();
  for (const Engine& engine : engines) RemoveStore(session.PathFor(engine.name));
  if (!result.ok()) return result.status();
  session.report.Add(*std::move(result));
  return absl::OkStatus();
}

absl::Status RunRead(Session& session) {
  for (const DataSet set : {DataSet::kA, DataSet::kB, DataSet::kC}) {
    for (const ReadWorkload& size :
         {ReadWorkload{.chunksize = 4 << 10, .nchunks = 10000, .reads = 10000},
          ReadWorkload{.chunksize = 64 << 10, .nchunks = 4000, .reads = 2000},
          ReadWorkload{.chunksize = 1 << 20, .nchunks = 200, .reads = 200}}) {
      ReadWorkload workload = size;
      workload.set = set;
      RETURN_IF_ERROR(CompareReads(session, workload));
    }
  }
  return absl::OkStatus();
}

}  // namespace

void AddRead(CLI::App& app, Session& session) {
  CLI::App* const command = app.add_subcommand("read", "Random chunks of a warm frame");
  command->callback([&session] { session.run = [&session] { return RunRead(session); }; });
}

}  // namespace cairn::bench
