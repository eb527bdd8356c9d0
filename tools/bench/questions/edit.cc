// Measures the cost of changing chunks in the middle of a frame, and its metadata.

#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "cairn/chunk.h"
#include "cairn/frame.h"
#include "tools/bench/contestants/peers.h"
#include "tools/bench/contestants/stores.h"
#include "tools/bench/data/datasets.h"
#include "tools/bench/data/samples.h"
#include "tools/bench/results/contest.h"
#include "tools/bench/results/session.h"
#include "tools/status.h"

namespace cairn::bench {

namespace {

constexpr int64_t kEditOps = 200;

// A closed frame of real chunks, opened for writing.
class Edited {
 public:
  static absl::StatusOr<std::unique_ptr<Edited>> Make(const std::string& path, int64_t nchunks,
                                                      const std::vector<std::byte>& data) {
    CreateOptions options;
    options.compression = UsualCompression(DataSet::kA);
    options.chunksize = kSampleSize;
    options.overwrite = true;
    ASSIGN_OR_RETURN(Frame frame, Frame::Create(path, options));
    ASSIGN_OR_RETURN(Writer writer, frame.OpenWriter());
    for (int64_t i = 0; i < nchunks; ++i) {
      absl::Status status = writer.Append(SampleAt(data, static_cast<uint64_t>(i)));
      if (status.ok() && i % 10'000 == 0) status = writer.Commit(Durability::kProcess).status();
      if (!status.ok()) return status;
    }
    RETURN_IF_ERROR(writer.Checkpoint());
    return std::unique_ptr<Edited>(
        new Edited(path, std::move(frame), std::move(writer), nchunks, data));
  }
  ~Edited() {
    writer_.reset();
    RemoveStore(path_);
  }
  Edited(const Edited&) = delete;
  Edited& operator=(const Edited&) = delete;

  absl::Status Update() { return writer_->UpdateChunk(Anywhere(), SampleAt(data_, random_())); }
  absl::Status Insert() { return writer_->InsertCompressed(nchunks_ / 2, chunk_); }
  absl::Status Delete() { return writer_->DeleteChunks(nchunks_ / 2, 1); }
  absl::Status SetVlmetalayer() {
    const uint64_t value = random_();
    std::vector<std::byte> content(64);
    std::memcpy(content.data(), &value, sizeof(value));
    RETURN_IF_ERROR(writer_->SetVlmetalayer("note", content));
    return writer_->Commit(Durability::kProcess).status();
  }
  absl::Status Commit() { return writer_->Commit(Durability::kProcess).status(); }

 private:
  Edited(std::string path, Frame frame, Writer writer, int64_t nchunks,
         const std::vector<std::byte>& data)
      : path_(std::move(path)),
        frame_(std::move(frame)),
        writer_(std::make_unique<Writer>(std::move(writer))),
        nchunks_(nchunks),
        data_(data),
        chunk_(MaxCompressedSize(kSampleSize)) {
    chunk_.resize(
        CompressChunk(SampleAt(data, 7), UsualCompression(DataSet::kA), chunk_).value_or(0));
  }
  int64_t Anywhere() { return static_cast<int64_t>(random_() % static_cast<uint64_t>(nchunks_)); }

  const std::string path_;
  Frame frame_;
  std::unique_ptr<Writer> writer_;
  const int64_t nchunks_;
  const std::vector<std::byte>& data_;
  std::vector<std::byte> chunk_;
  std::mt19937_64 random_;
};

Contest::Step RepeatEdit(std::function<absl::Status()> op) {
  return [op = std::move(op)] {
    absl::Status status;
    for (int64_t i = 0; i < kEditOps && status.ok(); ++i) status = op();
    return status;
  };
}

// Fills a store of another engine for updates.
absl::StatusOr<std::unique_ptr<ChunkStore>> StoreForUpdates(const Engine& engine,
                                                            const std::string& path,
                                                            int64_t nchunks,
                                                            const std::vector<std::byte>& data) {
  RemoveStore(path);
  ASSIGN_OR_RETURN(
      std::unique_ptr<ChunkStore> store,
      engine.make(
          {.path = path, .chunksize = kSampleSize, .compression = UsualCompression(DataSet::kA)}));
  for (int64_t i = 0; i < nchunks; ++i) {
    absl::Status status = store->Append(SampleAt(data, static_cast<uint64_t>(i)));
    if (status.ok() && i % 1000 == 999) status = store->Commit(Durability::kProcess);
    if (!status.ok()) return status;
  }
  RETURN_IF_ERROR(store->Commit(Durability::kProcess));
  return store;
}

absl::Status CompareEdits(Session& session, int64_t nchunks, const std::vector<std::byte>& data) {
  ASSIGN_OR_RETURN(std::unique_ptr<Edited> made,
                   Edited::Make(session.PathFor("edit"), nchunks, data));
  Edited& frame = *made;
  const auto add = [&](Contest& contest) -> absl::Status {
    ASSIGN_OR_RETURN(Result result, contest.Run(session.rounds));
    session.report.Add(std::move(result));
    return frame.Commit();
  };
  const std::string of = absl::StrCat(", ", nchunks, " chunks of 4 KiB");

  Contest update({.text = "update of a random chunk, staged" + of, .ops = kEditOps});
  update.Add("Cairn", RepeatEdit([&] { return frame.Update(); }));
  std::vector<std::unique_ptr<ChunkStore>> stores;
  std::vector<std::string> paths;
  std::mt19937_64 random(3);
  for (const Engine& engine : PeerEngines()) {
    const bool lmdb = engine.name.starts_with("LMDB");
    // C-Blosc2 rewrites everything that follows, which takes a second each in a large frame.
    if (!lmdb && !(engine.name.starts_with("C-Blosc2") && nchunks <= 10'000)) continue;
    paths.push_back(session.PathFor("edit-" + engine.name));
    ASSIGN_OR_RETURN(std::unique_ptr<ChunkStore> store,
                     StoreForUpdates(engine, paths.back(), nchunks, data));
    stores.push_back(std::move(store));
    update.Add(engine.name, RepeatEdit([&, store = stores.back().get()] {
                 const auto at = static_cast<int64_t>(random() % static_cast<uint64_t>(nchunks));
                 return store->Update(at, SampleAt(data, random()));
               }));
  }
  absl::Status status = add(update);
  stores.clear();
  for (const std::string& path : paths) RemoveStore(path);

  for (const auto& [name, op] :
       {std::pair("insert of a compressed chunk in the middle, staged", &Edited::Insert),
        std::pair("delete of a chunk in the middle, staged", &Edited::Delete),
        std::pair("vlmetalayer update and commit, no sync", &Edited::SetVlmetalayer)}) {
    Contest contest({.text = name + of, .ops = kEditOps});
    contest.Add("Cairn", RepeatEdit([&frame, op = op] { return (frame.*op)(); }));
    if (status.ok()) status = add(contest);
  }
  return status;
}

absl::Status RunEdit(Session& session) {
  const std::vector<std::byte> data = MakeSamples();
  for (const int64_t nchunks : {10'000, 1'000'000}) {
    RETURN_IF_ERROR(CompareEdits(session, nchunks, data));
  }
  return absl::OkStatus();
}

}  // namespace

void AddEdit(CLI::App& app, Session& session) {
  CLI::App* const command = app.add_subcommand("edit", "Changes in the middle of a frame");
  command->callback([&session] { session.run = [&session] { return RunEdit(session); }; });
}

}  // namespace cairn::bench
