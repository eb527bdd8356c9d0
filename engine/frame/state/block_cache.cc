#include "engine/frame/state/block_cache.h"

#include <algorithm>
#include <utility>

#include "engine/base/bytes.h"

namespace cairn::frame {

namespace {

uint64_t HashOf(const BlockKey& key) {
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;
  uint64_t hash = key.entry.fingerprint ^ static_cast<uint64_t>(key.entry.value);
  for (const uint64_t more : {key.checkpoint_id, static_cast<uint64_t>(key.block)}) {
    hash = (hash ^ more) * kOdd;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace

BlockCache::~BlockCache() {
  for (const std::atomic<Set*>& set : sets_) delete set.load();
}

BlockCache::Set* BlockCache::SetOf(const BlockKey& key, int64_t nbytes) {
  // As many sets as the blocks of this size may fill.
  const int64_t fitting = kCapacity / static_cast<int64_t>(kWays) / std::max<int64_t>(nbytes, 1);
  if (fitting == 0) return nullptr;
  const size_t count = std::min(kSets, static_cast<size_t>(fitting));
  std::atomic<Set*>& slot = sets_[HashOf(key) % count];
  Set* set = slot.load(std::memory_order_acquire);
  if (set != nullptr) return set;
  auto made = std::make_unique<Set>();
  if (slot.compare_exchange_strong(set, made.get(), std::memory_order_acq_rel)) {
    return made.release();
  }
  return set;  // another thread was faster
}

BlockCache::Way* BlockCache::Find(Set& set, const BlockKey& key, int64_t nbytes) {
  const auto is_it = [&](const Way& way) { return way.nbytes == nbytes && way.key == key; };
  const auto way = std::ranges::find_if(set.ways, is_it);
  return way != set.ways.end() ? &*way : nullptr;
}

BlockCache::Answer BlockCache::Read(const BlockKey& key, int64_t nbytes, int64_t begin,
                                    MutableBytes dst) {
  Set* const set = SetOf(key, nbytes);
  if (set == nullptr) return Answer::kMiss;
  std::unique_ptr<std::byte[]> gone;  // freed only after the lock is released
  const std::unique_lock lock(set->mutex, std::try_to_lock);
  if (!lock.owns_lock()) return Answer::kMiss;
  if (Way* const way = Find(*set, key, nbytes); way != nullptr) {
    way->used = ++set->uses;
    if (way->bytes == nullptr) return Answer::kAgain;
    CopyBytes({way->bytes.get() + begin, dst.size()}, dst);
    return Answer::kHit;
  }
  Way& oldest = *std::ranges::min_element(set->ways, {}, &Way::used);
  if (oldest.bytes != nullptr) kept_bytes_ -= oldest.nbytes;
  gone = std::exchange(oldest.bytes, nullptr);
  oldest.key = key;
  oldest.nbytes = nbytes;
  oldest.used = ++set->uses;
  return Answer::kMiss;
}

void BlockCache::Insert(const BlockKey& key, int64_t nbytes, std::unique_ptr<std::byte[]> bytes) {
  Set* const set = SetOf(key, nbytes);
  if (set == nullptr) return;
  const std::unique_lock lock(set->mutex, std::try_to_lock);
  if (!lock.owns_lock()) return;
  Way* const way = Find(*set, key, nbytes);
  if (way == nullptr || way->bytes != nullptr) return;  // another thread was faster
  // Blocks of several sizes share the sets of the smaller ones.
  if (kept_bytes_.fetch_add(nbytes) + nbytes > kCapacity) {
    kept_bytes_ -= nbytes;
    return;
  }
  way->bytes = std::move(bytes);
}

}  // namespace cairn::frame
