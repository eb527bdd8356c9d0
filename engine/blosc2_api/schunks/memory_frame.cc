#include "engine/blosc2_api/schunks/memory_frame.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/blosc2_api/schunks/serialize.h"

namespace cairn::blosc2_api {

namespace {

// Keeps the chunks one by one. The buffer of the frame is made when a program asks for it.
class MemoryFrame final : public blosc2_frame_s {
 public:
  explicit MemoryFrame(const blosc2_schunk& schunk) : schunk_(schunk) {}
  MemoryFrame(const blosc2_schunk& schunk, MutableBytes cframe, Snapshot snapshot,
              std::optional<Snapshot> mapped)
      : schunk_(schunk),
        chunks_(static_cast<size_t>(snapshot.info().nchunks)),
        snapshot_(std::move(snapshot)),
        mapped_(std::move(mapped)),
        origin_(cframe),
        cframe_(cframe) {}

  ~MemoryFrame() override {
    chunks_.clear();
    snapshot_.reset();
    DropCframe();
    if (!keep_origin_) std::free(origin_.data());
  }

  absl::StatusOr<Chunk> Get(int64_t nchunk) override {
    const std::optional<Chunk>& chunk = chunks_[static_cast<size_t>(nchunk)];
    if (chunk.has_value()) return *chunk;
    return snapshot_->GetChunk(nchunk);
  }

  bool Keeps(int64_t nchunk, const Chunk& chunk) const override {
    // The snapshot makes chunks of one value, which its index stands for, when they are read.
    const std::byte* const data = chunk.bytes().data();
    const std::byte* const end = origin_.data() + origin_.size();
    return chunks_[static_cast<size_t>(nchunk)].has_value() ||
           (!std::less<>()(data, origin_.data()) && std::less<>()(data, end));
  }

  absl::Status Insert(int64_t nchunk, Chunk chunk) override {
    CAIRN_RETURN_IF_ERROR(TakeChunks());
    chunks_.insert(chunks_.begin() + nchunk, std::move(chunk));
    return absl::OkStatus();
  }
  absl::Status Update(int64_t nchunk, Chunk chunk) override {
    DropCframe();
    chunks_[static_cast<size_t>(nchunk)] = std::move(chunk);
    return absl::OkStatus();
  }
  absl::Status Delete(int64_t nchunk) override {
    CAIRN_RETURN_IF_ERROR(TakeChunks());
    chunks_.erase(chunks_.begin() + nchunk);
    return absl::OkStatus();
  }
  absl::Status Reorder(std::span<const int64_t> order) override {
    CAIRN_RETURN_IF_ERROR(TakeChunks());
    std::vector<std::optional<Chunk>> chunks;
    for (const int64_t nchunk : order) chunks.push_back(chunks_[static_cast<size_t>(nchunk)]);
    chunks_ = std::move(chunks);
    return absl::OkStatus();
  }
  absl::Status SetMetalayer(const char* /*name*/, const Bytes* /*content*/) override {
    DropCframe();
    return absl::OkStatus();
  }
  absl::Status SetVlmetalayer(const char* /*name*/, const Bytes* /*content*/) override {
    DropCframe();
    return absl::OkStatus();
  }

  absl::StatusOr<MutableBytes> Cframe() override {
    if (!cframe_.empty()) return cframe_;
    CAIRN_ASSIGN_OR_RETURN(cframe_, Serialize(schunk_));
    return cframe_;
  }
  absl::StatusOr<Snapshot> State() override {
    CAIRN_ASSIGN_OR_RETURN(const MutableBytes cframe, Cframe());
    CAIRN_ASSIGN_OR_RETURN(const Frame frame, Frame::OpenBuffer(cframe));
    return frame.snapshot();
  }
  absl::StatusOr<int64_t> Length() override {
    CAIRN_ASSIGN_OR_RETURN(const MutableBytes cframe, Cframe());
    return std::ssize(cframe);
  }
  void KeepCframe(bool keep) override {
    keep_ = keep;
    keep_origin_ = keep;
  }
  bool on_disk() const override { return false; }

 private:
  // Takes the numbers of the chunks out of the hands of the snapshot.
  absl::Status TakeChunks() {
    for (size_t i = 0; i < chunks_.size(); ++i) {
      CAIRN_ASSIGN_OR_RETURN(chunks_[i], Get(static_cast<int64_t>(i)));
    }
    DropCframe();
    return absl::OkStatus();
  }
  // Forgets the buffer, which is no longer the frame. The chunks may still lie in the first one.
  void DropCframe() {
    if (cframe_.data() != origin_.data() && !keep_) std::free(cframe_.data());
    cframe_ = {};
  }

  const blosc2_schunk& schunk_;
  std::vector<std::optional<Chunk>> chunks_;  // empty where the snapshot has the chunk
  std::optional<Snapshot> snapshot_;          // of the first buffer
  std::optional<Snapshot> mapped_;            // of the file that the first buffer maps
  MutableBytes origin_;                       // the first buffer, that of the caller
  MutableBytes cframe_;                       // the frame, or empty if that must be made
  bool keep_ = false;                         // the caller frees the frame
  bool keep_origin_ = true;                   // the caller frees the first buffer
};

}  // namespace

std::unique_ptr<blosc2_frame_s> MakeMemoryFrame(const blosc2_schunk& schunk) {
  return std::make_unique<MemoryFrame>(schunk);
}

std::unique_ptr<blosc2_frame_s> MakeMemoryFrame(const blosc2_schunk& schunk, MutableBytes cframe,
                                                Snapshot snapshot, std::optional<Snapshot> mapped) {
  return std::make_unique<MemoryFrame>(schunk, cframe, std::move(snapshot), std::move(mapped));
}

}  // namespace cairn::blosc2_api
