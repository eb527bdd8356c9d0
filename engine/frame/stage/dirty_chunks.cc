#include "engine/frame/stage/dirty_chunks.h"

#include <algorithm>

namespace cairn::frame {

namespace {

// What a writer keeps for its next commit.
constexpr size_t kMostIdle = 1 << 20;

}  // namespace

Bytes DirtyChunks::Find(int64_t nchunk) const {
  const auto found = slots_.find(nchunk);
  if (found == slots_.end()) return {};
  return Bytes(bytes_).subspan(found->second, static_cast<size_t>(chunksize_));
}

MutableBytes DirtyChunks::Put(int64_t nchunk, int32_t chunksize) {
  chunksize_ = chunksize;
  const auto size = static_cast<size_t>(chunksize);
  const auto [slot, is_new] = slots_.try_emplace(nchunk, slots_.size() * size);
  if (is_new && bytes_.size() < slots_.size() * size) bytes_.resize(slots_.size() * size);
  return MutableBytes(bytes_).subspan(slot->second, size);
}

absl::InlinedVector<int64_t, 8> DirtyChunks::Numbers() const {
  absl::InlinedVector<int64_t, 8> numbers;
  numbers.reserve(slots_.size());
  for (const auto& [nchunk, slot] : slots_) numbers.push_back(nchunk);
  std::ranges::sort(numbers);
  return numbers;
}

void DirtyChunks::Clear() {
  slots_.clear();
  if (bytes_.size() > kMostIdle) bytes_ = {};
}

}  // namespace cairn::frame
