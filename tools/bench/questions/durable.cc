// Measures the cost of a commit that survives a power cut.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cairn/frame.h"
#include "tools/bench/contestants/bare_file.h"
#include "tools/bench/contestants/peers.h"
#include "tools/bench/contestants/stores.h"
#include "tools/bench/data/datasets.h"
#include "tools/bench/results/contest.h"
#include "tools/bench/results/session.h"
#include "tools/status.h"

namespace cairn::bench {

namespace {

constexpr int32_t kSize = 1024;
constexpr int64_t kDurableOps = 50;  // operations of one contestant in a row

struct DurableContestant {
  std::string name;
  std::function<absl::Status(Bytes)> commit;
};

absl::Status Race(Session& session, const std::vector<DurableContestant>& contestants) {
  std::vector<Samples> samples;
  for (const DurableContestant& one : contestants)
    samples.push_back({.name = one.name, .rounds = {}});
  const std::vector<std::byte> data = MakeData(DataSet::kA, kSize, 1024);
  size_t next = 0;
  for (int round = 0; round <= 4 * session.rounds; ++round) {
    for (size_t i = 0; i < contestants.size(); ++i) {
      std::vector<double> took;
      for (int64_t op = 0; op < kDurableOps; ++op) {
        const Bytes piece = Bytes(data).subspan(next++ % 1024 * kSize, kSize);
        const double begin = Now(Clock::kWall);
        RETURN_IF_ERROR(contestants[i].commit(piece));
        took.push_back(Now(Clock::kWall) - begin);
      }
      if (round == 0) continue;
      samples[i].single_ops.insert(samples[i].single_ops.end(), took.begin(), took.end());
      samples[i].rounds.push_back(Median(std::move(took)));
    }
  }
  session.report.Add(Judge(
      {.text = "durable commit of 1 KiB", .ops = kDurableOps, .clock = Clock::kWall}, samples));
  return absl::OkStatus();
}

absl::Status RunDurable(Session& session) {
  std::vector<DurableContestant> contestants;
  const int64_t room = (4 * session.rounds + 2) * kDurableOps * 2 * kSize;
  ASSIGN_OR_RETURN(std::unique_ptr<BareFile> bare,
                   BareFile::Make(session.PathFor("durable-bare"), room));
  // The write has as many bytes as Cairn's commit: the items and 140 of a record.
  std::vector<std::byte> framed(kSize + 140);
  contestants.push_back({"limit: pwrite + fdatasync, written before", [&](Bytes raw) {
                           std::copy(raw.begin(), raw.end(), framed.begin());
                           return bare->Append(framed);
                         }});

  const std::string log_path = session.PathFor("durable-log");
  RemoveStore(log_path);
  ASSIGN_OR_RETURN(Frame log, Frame::Create(log_path, {}));
  ASSIGN_OR_RETURN(Writer writer, log.OpenWriter());
  contestants.push_back({"Cairn, items of a large chunk", [&](Bytes raw) {
                           RETURN_IF_ERROR(writer.Append(raw));
                           return writer.Commit(Durability::kMachine).status();
                         }});

  CompressionOptions compression;
  compression.codec = Codec::kLz4;
  std::vector<Engine> engines = PeerEngines();
  engines.insert(engines.begin(), CairnEngine());
  std::vector<std::unique_ptr<ChunkStore>> stores;
  for (const Engine& engine : engines) {
    if (engine.name.starts_with("C-Blosc2") || engine.name.starts_with("HDF5"))
      continue;  // it never syncs
    const std::string path = session.PathFor("durable-" + engine.name);
    RemoveStore(path);
    ASSIGN_OR_RETURN(std::unique_ptr<ChunkStore> store,
                     engine.make({.path = path, .chunksize = kSize, .compression = compression}));
    stores.push_back(std::move(store));
    contestants.push_back({engine.name + ", a chunk", [store = stores.back().get()](Bytes raw) {
                             RETURN_IF_ERROR(store->Append(raw));
                             return store->Commit(Durability::kMachine);
                           }});
  }
  const absl::Status status = Race(session, contestants);
  stores.clear();
  for (const Engine& engine : engines) RemoveStore(session.PathFor("durable-" + engine.name));
  RemoveStore(log_path);
  return status;
}

}  // namespace

void AddDurable(CLI::App& app, Session& session) {
  CLI::App* const command = app.add_subcommand("durable", "Commits that survive a power cut");
  command->callback([&session] { session.run = [&session] { return RunDurable(session); }; });
}

}  // namespace cairn::bench
