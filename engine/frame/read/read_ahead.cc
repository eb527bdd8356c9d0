#include "engine/frame/read/read_ahead.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/functional/function_ref.h"

#include "engine/format/index_entry.h"

namespace cairn::frame {

namespace {

// The size that is assumed for a chunk if nothing tells it.
constexpr int64_t kGuess = int64_t{1} << 20;

// The bytes of a chunk end where the next chunk begins, if that comes after it.
std::optional<int64_t> SizeUpToNext(const State& state, int64_t nchunk, int64_t value) {
  if (state.header().layout == Layout::kSparse || nchunk + 1 >= state.chunks.size()) {
    return std::nullopt;
  }
  const absl::StatusOr<FoundEntry> next = state.chunks.Find(nchunk + 1);
  if (!next.ok() || next->entry.value <= value) return std::nullopt;
  return next->entry.value - value;
}

// Returns the bytes of a stored chunk, or a few more.
int64_t StoredSize(const State& state, int64_t nchunk, const IndexEntry& entry) {
  if (entry.cbytes > 0) return entry.cbytes;
  const int64_t most = state.chunksize > 0 ? int64_t{state.chunksize} + chunk::kHeaderSize : kGuess;
  return std::min(most, SizeUpToNext(state, nchunk, entry.value).value_or(most));
}

// Announces chunks `at(0)` to `at(count - 1)`, or as many of them as a window takes. Returns how
// many.
int64_t AnnounceWindow(const State& state, ReadAhead::Part part, int64_t count,
                       absl::FunctionRef<int64_t(int64_t)> at) {
  std::vector<ChunkHint> hints;
  int64_t left = state.chunk_source->read_ahead();
  int64_t done = 0;
  for (; done < count && left > 0; ++done) {
    const int64_t nchunk = at(done);
    if (nchunk >= state.chunks.size()) continue;
    const absl::StatusOr<IndexEntry> entry = state.chunks.Get(nchunk);
    // An error shows when the chunk is read.
    if (!entry.ok() || format::IsSpecialEntry(entry->value)) continue;
    const int64_t size = part == ReadAhead::Part::kAll ? StoredSize(state, nchunk, *entry)
                                                       : int64_t{chunk::kHeaderSize};
    if (size > left && !hints.empty()) break;
    hints.push_back({.entry = entry->value, .size = size});
    left -= size;
  }
  if (!hints.empty()) state.chunk_source->WillRead(hints);
  return done;
}

}  // namespace

void AnnounceChunk(const State& state, int64_t nchunk, const FoundEntry& found) {
  IndexEntry entry = found.entry;
  if (found.committed >= 0) entry.cbytes = state.chunks.base()->SizeOf(found.committed);
  const ChunkHint hint = {.entry = entry.value, .size = StoredSize(state, nchunk, entry)};
  state.chunk_source->WillRead({&hint, 1});
}

void AnnounceNext(const State& state, int64_t first, int64_t end) {
  if (!ReadAhead::IsUseful(state)) return;
  state.env()->scans.Reach(first, end, [&](int64_t next, int64_t count) {
    return AnnounceWindow(state, ReadAhead::Part::kAll, std::min(count, state.chunks.size() - next),
                          [next](int64_t i) { return next + i; });
  });
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
  position_ += AnnounceWindow(*state_, part_, end_ - position_,
                              [this](int64_t i) { return At(position_ + i); });
  // The reader is already in the announced window, so one more is announced.
  if (position_ < end_ && At(begin) <= nchunk) {
    begin = position_;
    position_ += AnnounceWindow(*state_, part_, end_ - position_,
                                [this](int64_t i) { return At(position_ + i); });
  }
  trigger_ = position_ < end_ ? At(begin) : INT64_MAX;
}

}  // namespace cairn::frame
