#include "engine/frame/repair/index_mender.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"

#include "engine/base/hash.h"
#include "engine/base/status.h"
#include "engine/format/index_entry.h"
#include "engine/format/seal.h"

namespace cairn::frame {

namespace {

class IndexMender {
 public:
  // The committed index must have a seal.
  explicit IndexMender(const State& state)
      : state_(state), base_(*state.chunks.base()), seal_(*base_.seal()) {}

  absl::Status Prepare(const std::vector<FoundChunk>& found);
  absl::StatusOr<StatePtr> Run();

 private:
  absl::StatusOr<IndexEntry> Mend(int64_t number);

  const State& state_;
  const CommittedIndex& base_;
  const IndexSeal& seal_;
  // The index chunk, if it is unchanged. Its hashes of pages are then damaged.
  std::unique_ptr<CommittedIndex> unsealed_;
  absl::flat_hash_map<uint64_t, IndexEntry> places_;  // by fingerprint
};

absl::Status IndexMender::Prepare(const std::vector<FoundChunk>& found) {
  if (Xxh3(base_.stored()) == seal_.index_hash) {
    CAIRN_ASSIGN_OR_RETURN(
        unsealed_, CommittedIndex::Open(Chunk(base_.stored(), nullptr), base_.size(), std::nullopt,
                                        &state_.env()->pool));
  }
  ScratchBuffer scratch;
  const int64_t header_len = state_.header().header_len;
  const int64_t origin = state_.checkpoint->source.origin();
  for (const FoundChunk& chunk : found) {
    const int64_t begin = chunk.begin - origin;
    if (begin < header_len || begin + chunk.header.cbytes > state_.region.size()) continue;
    CAIRN_ASSIGN_OR_RETURN(const Bytes bytes,
                           state_.region.Read(begin, chunk.header.cbytes, scratch));
    const uint64_t fingerprint = format::HashChunk(bytes);
    places_[fingerprint] = {
        .value = begin - header_len, .fingerprint = fingerprint, .cbytes = chunk.header.cbytes};
  }
  return absl::OkStatus();
}

absl::StatusOr<IndexEntry> IndexMender::Mend(int64_t number) {
  const uint64_t fingerprint = base_.FingerprintOf(number);
  const auto place = places_.find(fingerprint);
  if (fingerprint != 0 && place != places_.end()) return place->second;
  if (unsealed_ == nullptr) return DataLoss("chunk %d: its entry of the index is damaged", number);
  CAIRN_ASSIGN_OR_RETURN(const int64_t value, unsealed_->ValueOf(number));
  return IndexEntry{.value = value};
}

absl::StatusOr<StatePtr> IndexMender::Run() {
  std::vector<IndexEntry> entries;
  bool is_any = false;
  for (int64_t i = 0; i < state_.chunks.size(); ++i) {
    absl::StatusOr<IndexEntry> entry = state_.chunks.Get(i);
    if (!entry.ok()) entry = Mend(state_.chunks.CommittedNumberOf(i));
    is_any = is_any || entry.ok();
    // No chunk lies at this position, which is behind all chunks.
    entries.push_back(entry.ok() ? *entry : IndexEntry{.value = state_.region.size()});
  }
  if (!is_any) return DataLoss("index: no entry of it is left");
  auto mended = std::make_shared<State>(state_);
  mended->chunks = ChunkIndex(std::move(entries));
  return mended;
}

}  // namespace

bool IsIndexWhole(const State& state) {
  return state.chunks.ForEach([](const IndexEntry&) { return absl::OkStatus(); }).ok();
}

absl::StatusOr<StatePtr> MendIndex(const State& state, const std::vector<FoundChunk>& found) {
  if (state.chunks.base() == nullptr || !state.chunks.base()->seal().has_value()) {
    return DataLoss("index: without fingerprints it says nothing of its chunks");
  }
  IndexMender mender(state);
  CAIRN_RETURN_IF_ERROR(mender.Prepare(found));
  return mender.Run();
}

}  // namespace cairn::frame
