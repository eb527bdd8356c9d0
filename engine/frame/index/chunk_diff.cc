#include "engine/frame/index/chunk_diff.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace cairn::frame {

namespace {

// The chunks of `since` that are free to be matched, by key and number. Not thread-safe.
class FreeChunks {
 public:
  void Add(uint64_t key, int64_t nchunk) { chunks_.push_back({key, nchunk}); }
  void Sort() {
    std::ranges::sort(chunks_);
    // Each element leads to the next chunk of its key that is still free, or to the end of its key.
    next_.resize(chunks_.size() + 1);
    std::iota(next_.begin(), next_.end(), size_t{0});
  }

  // Takes the first chunk of the key from number `from` on, or else the first. Returns -1 if there
  // is none.
  int64_t Take(uint64_t key, int64_t from) {
    const auto take = [&](int64_t nchunk) -> int64_t {
      const auto it = std::ranges::lower_bound(chunks_, std::pair(key, nchunk));
      const size_t free = FindFree(static_cast<size_t>(it - chunks_.begin()));
      if (free == chunks_.size() || chunks_[free].first != key) return -1;
      next_[free] = free + 1;
      return chunks_[free].second;
    };
    const int64_t taken = take(from);
    return taken >= 0 || from == 0 ? taken : take(0);
  }

 private:
  size_t FindFree(size_t at) {
    size_t free = at;
    while (next_[free] != free) free = next_[free];
    while (next_[at] != at) at = std::exchange(next_[at], free);
    return free;
  }

  std::vector<std::pair<uint64_t, int64_t>> chunks_;
  std::vector<size_t> next_;
};

}  // namespace

std::vector<int64_t> MatchChunks(std::span<const uint64_t> since, std::span<const uint64_t> now) {
  std::vector<int64_t> matches(now.size(), -1);
  const size_t shorter = std::min(since.size(), now.size());
  size_t front = 0;
  while (front < shorter && since[front] == now[front]) ++front;
  size_t back = 0;
  while (back < shorter - front && since[since.size() - 1 - back] == now[now.size() - 1 - back]) {
    ++back;
  }
  std::iota(matches.begin(), matches.begin() + static_cast<std::ptrdiff_t>(front), int64_t{0});
  std::iota(matches.end() - static_cast<std::ptrdiff_t>(back), matches.end(),
            static_cast<int64_t>(since.size() - back));

  FreeChunks free;
  const size_t since_end = since.size() - back;
  const size_t now_end = now.size() - back;
  for (size_t i = front; i < since_end; ++i) {
    if (i < now_end && since[i] == now[i]) {
      matches[i] = static_cast<int64_t>(i);
    } else {
      free.Add(since[i], static_cast<int64_t>(i));
    }
  }
  free.Sort();
  int64_t next = static_cast<int64_t>(front);
  for (size_t i = front; i < now_end; ++i) {
    if (matches[i] < 0) matches[i] = free.Take(now[i], next);
    if (matches[i] >= 0) next = matches[i] + 1;
  }
  return matches;
}

}  // namespace cairn::frame
