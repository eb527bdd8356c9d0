#include "engine/frame/read/read_ahead.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/format/index_entry.h"

namespace cairn::frame {

namespace {

// Of a chunk whose size nothing tells.
constexpr int64_t kGuess = int64_t{1} << 20;

// What lies there ends where the next chunk begins, if that comes after it.
std::optional<int64_t> SizeUpToNext(const State& state, int64_t nchunk, int64_t value) {
  if (state.header().layout == Layout::kSparse || nchunk + 1 >= state.chunks.size()) {
    return std::nullopt;
  }
  const absl::StatusOr<FoundEntry> next = state.chunks.Find(nchunk + 1);
  if (!next.ok() || next->entry.value <= value) return std::nullopt;
  return next->entry.value - value;
}

// Bytes of a stored chunk, or a few more.
int64_t StoredSize(const State& state, int64_t nchunk, const IndexEntry& entry) {
  if (entry.cbytes > 0) return entry.cbytes;
  const int64_t most = state.chunksize > 0 ? int64_t{state.chunksize} + chunk::kHeaderSize : kGuess;
  return std::min(most, SizeUpToNext(state, nchunk, entry.value).value_or(most));
}

}  // namespace

void AnnounceChunk(const State& state, int64_t nchunk, const FoundEntry& found) {
  IndexEntry entry = found.entry;
  if (found.committed >= 0) entry.cbytes = state.chunks.base()->SizeOf(found.committed);
  const ChunkHint hint = {.entry = entry.value, .size = StoredSize(state, nchunk, entry)};
  state.chunk_source->WillRead({&hint, 1});
}

bool ReadAhead::IsUseful(const State& state) {
  return state.chunk_source != nullptr && state.chunk_source->read_ahead() > 0;
}

ReadAhead::ReadAhead(const State& state, int64_t first, int64_t end, Part part)
    : state_(&state), part_(part), position_(first), end_(std::min(end, state.chunks.size())) {
  if (IsUseful(state) && first < end_) trigger_ = first;
}

ReadAhead::ReadAhead(const State& state, std::vector<int64_t> nchunks)
    : state_(&state), nchunks_(std::move(nchunks)), end_(std::ssize(nchunks_)) {
  if (IsUseful(state) && end_ > 0) trigger_ = nchunks_.front();
}

int64_t ReadAhead::At(int64_t position) const {
  return nchunks_.empty() ? position : nchunks_[static_cast<size_t>(position)];
}

void ReadAhead::Announce(int64_t nchunk) {
  if (nchunks_.empty()) position_ = std::max(position_, nchunk);
  int64_t begin = position_;
  AnnounceWindow();
  // The reader is there already: one more.
  if (position_ < end_ && At(begin) <= nchunk) {
    begin = position_;
    AnnounceWindow();
  }
  trigger_ = position_ < end_ ? At(begin) : INT64_MAX;
}

void ReadAhead::AnnounceWindow() {
  std::vector<ChunkHint> hints;
  int64_t left = state_->chunk_source->read_ahead();
  for (; position_ < end_ && left > 0; ++position_) {
    const int64_t nchunk = At(position_);
    if (nchunk >= state_->chunks.size()) continue;
    const absl::StatusOr<IndexEntry> entry = state_->chunks.Get(nchunk);
    // Whatever is wrong shows when the chunk is read.
    if (!entry.ok() || format::IsSpecialEntry(entry->value)) continue;
    const int64_t size =
        part_ == Part::kAll ? StoredSize(*state_, nchunk, *entry) : int64_t{chunk::kHeaderSize};
    if (size > left && !hints.empty()) break;
    hints.push_back({.entry = entry->value, .size = size});
    left -= size;
  }
  state_->chunk_source->WillRead(hints);
}

}  // namespace cairn::frame
