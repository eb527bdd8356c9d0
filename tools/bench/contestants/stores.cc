#include "tools/bench/contestants/stores.h"

#include <filesystem>
#include <optional>
#include <utility>

#include "cairn/chunk.h"
#include "cairn/frame.h"
#include "tools/bench/contestants/peers.h"

namespace cairn::bench {

namespace {

class CairnStore final : public ChunkStore {
 public:
  CairnStore(Frame frame, Writer writer)
      : frame_(std::move(frame)), writer_(std::move(writer)), seen_(frame_.snapshot()) {}

  absl::Status Append(Bytes raw) override { return writer_.Append(raw); }
  absl::Status Update(int64_t nchunk, Bytes raw) override {
    return writer_.UpdateChunk(nchunk, raw);
  }
  absl::Status Commit(Durability durability) override {
    absl::StatusOr<Snapshot> snapshot = writer_.Commit(durability);
    if (!snapshot.ok()) return snapshot.status();
    seen_ = *std::move(snapshot);
    return absl::OkStatus();
  }
  absl::Status Read(int64_t nchunk, MutableBytes raw) override {
    return seen_.ReadChunk(nchunk, raw);
  }

 private:
  Frame frame_;
  Writer writer_;
  Snapshot seen_;
};

absl::StatusOr<std::unique_ptr<ChunkStore>> MakeCairn(const StoreParams& params) {
  CreateOptions options;
  options.compression = params.compression;
  options.chunksize = params.chunksize;
  absl::StatusOr<Frame> frame = Frame::Create(params.path, options);
  if (!frame.ok()) return frame.status();
  absl::StatusOr<Writer> writer = frame->OpenWriter();
  if (!writer.ok()) return writer.status();
  return std::make_unique<CairnStore>(*std::move(frame), *std::move(writer));
}

}  // namespace

absl::Status ChunkStore::Update(int64_t /*nchunk*/, Bytes /*raw*/) {
  return absl::UnimplementedError("this store is not asked to update");
}

Engine CairnEngine() { return {.name = "Cairn", .make = MakeCairn}; }

std::vector<Engine> PeerEngines() {
  std::vector<Engine> engines;
  for (const Peer& peer : Peers()) {
    if (peer.engine.has_value()) engines.push_back(*peer.engine);
  }
  return engines;
}

std::vector<std::string> MissingPeers() {
  std::vector<std::string> names;
  for (const Peer& peer : Peers()) {
    if (!peer.engine.has_value()) names.push_back(peer.name);
  }
  return names;
}

void RemoveStore(const std::string& path) {
  std::error_code ignored;
  for (const char* suffix : {"", "-lock", "-wal", "-shm", "-journal"}) {
    std::filesystem::remove_all(path + suffix, ignored);
  }
}

}  // namespace cairn::bench
