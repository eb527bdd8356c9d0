#include "engine/frame/stage/dirty_chunks.h"

#include <algorithm>

#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/format/index_entry.h"
#include "engine/frame/read/chunk_reader.h"

namespace cairn::frame {

namespace {

// A writer keeps as many bytes for its next commit.
constexpr size_t kMostIdle = 1 << 20;

}  // namespace

// A few chunks must fit. All chunks except the last one are complete.
bool DirtyChunks::MayHold(int64_t nchunk) const {
  const int64_t chunksize = edits_.staged().header.chunksize;
  return chunksize > 0 && chunksize <= max_bytes_ / 4 &&
         nchunk < edits_.staged().header.nbytes / chunksize &&
         CheckChunkNbytes(*edits_.base(), chunksize).ok();
}

bool DirtyChunks::CanHold(int64_t count) const {
  return count <= max_bytes_ / edits_.staged().header.chunksize;
}

absl::Status DirtyChunks::MakeRoom(int64_t first, int64_t last) {
  int64_t more = 0;
  for (int64_t i = first; i <= last; ++i) {
    if (Has(i)) continue;
    CAIRN_RETURN_IF_ERROR(edits_.staged().chunks.Get(i).status());
    ++more;
  }
  const bool fits = (std::ssize(slots_) + more) * edits_.staged().header.chunksize <= max_bytes_;
  return fits ? absl::OkStatus() : Encode();
}

MutableBytes DirtyChunks::Put(int64_t nchunk) {
  edits_.staged().edited = true;
  chunksize_ = edits_.staged().header.chunksize;
  const auto size = static_cast<size_t>(chunksize_);
  const auto [slot, is_new] = slots_.try_emplace(nchunk, slots_.size() * size);
  if (is_new && bytes_.size() < slots_.size() * size) bytes_.resize(slots_.size() * size);
  return MutableBytes(bytes_).subspan(slot->second, size);
}

Bytes DirtyChunks::Find(int64_t nchunk) const {
  const auto found = slots_.find(nchunk);
  if (found == slots_.end()) return {};
  return Bytes(bytes_).subspan(found->second, static_cast<size_t>(chunksize_));
}

absl::StatusOr<std::vector<std::byte>> DirtyChunks::Read(int64_t nchunk) {
  const Bytes kept = Find(nchunk);
  if (!kept.empty()) return ToVector(kept);
  const absl::StatusOr<StatePtr> state = edits_.StateWith(nchunk);
  CAIRN_RETURN_IF_ERROR(edits_.Remember(state.status()));
  return ReadWholeChunk(**state, nchunk, (*state)->env()->verify);
}

absl::InlinedVector<int64_t, 8> DirtyChunks::Numbers() const {
  absl::InlinedVector<int64_t, 8> numbers;
  numbers.reserve(slots_.size());
  for (const auto& [nchunk, slot] : slots_) numbers.push_back(nchunk);
  std::ranges::sort(numbers);
  return numbers;
}

absl::Status DirtyChunks::Encode() {
  for (const int64_t nchunk : Numbers()) {
    CAIRN_ASSIGN_OR_RETURN(const ChunkCost old, edits_.CostOf(nchunk));
    CAIRN_ASSIGN_OR_RETURN(const format::IndexedChunk chunk,
                           edits_.Remember(edits_.chunk_writer().FromItems(Find(nchunk))));
    RenewCached(nchunk, chunk.entry);
    edits_.Replace(nchunk, old, chunk);
  }
  Clear();
  return absl::OkStatus();
}

// Readers who have asked for the chunk repeatedly will ask for what it becomes.
void DirtyChunks::RenewCached(int64_t nchunk, const IndexEntry& entry) const {
  if (edits_.base()->env()->blocks.kept_bytes() == 0) return;
  const absl::StatusOr<FoundEntry> found = edits_.staged().chunks.Find(nchunk);
  if (!found.ok() || format::IsSpecialEntry(entry.value) || !edits_.base()->checkpoint->seal_holds)
    return;
  const BlockKey before = BlockKeyOf(*edits_.base(), *found, BlockKey::kWholeChunk);
  BlockKey after = before;
  after.entry = {.value = entry.value, .fingerprint = entry.fingerprint};
  if (before.owner == edits_.base()->checkpoint->seal->nonce) {
    edits_.base()->env()->blocks.Replace(before, after, Find(nchunk));
  }
}

void DirtyChunks::Clear() {
  slots_.clear();
  if (bytes_.size() > kMostIdle) bytes_ = {};
}

}  // namespace cairn::frame
