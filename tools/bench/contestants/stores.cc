#include "tools/bench/contestants/stores.h"

#include <filesystem>
#include <utility>

#include "cairn/chunk.h"
#include "cairn/frame.h"
#include "tools/status.h"

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
    ASSIGN_OR_RETURN(Snapshot snapshot, writer_.Commit(durability));
    seen_ = std::move(snapshot);
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
  ASSIGN_OR_RETURN(Frame frame, Frame::Create(params.path, options));
  ASSIGN_OR_RETURN(Writer writer, frame.OpenWriter());
  return std::make_unique<CairnStore>(std::move(frame), std::move(writer));
}

}  // namespace

absl::Status ChunkStore::Update(int64_t /*nchunk*/, Bytes /*raw*/) {
  return absl::UnimplementedError("this store is not asked to update");
}

Engine CairnEngine() { return {.name = "Cairn", .make = MakeCairn}; }

void RemoveStore(const std::string& path) {
  std::error_code ignored;
  for (const char* suffix : {"", "-lock", "-wal", "-shm", "-journal"}) {
    std::filesystem::remove_all(path + suffix, ignored);
  }
}

}  // namespace cairn::bench
