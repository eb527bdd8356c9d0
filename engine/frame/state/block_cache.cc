#include "engine/frame/state/block_cache.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/check.h"

namespace cairn::frame {

namespace {

constexpr int64_t kSmallBlock = 4096;
constexpr uint64_t kMostSets = uint64_t{1} << 22;

// Returns a power of two.
size_t CountSets(int64_t of_small_blocks) {
  const uint64_t sets = std::bit_floor(static_cast<uint64_t>(of_small_blocks));
  return static_cast<size_t>(std::clamp<uint64_t>(sets, 1, kMostSets));
}

uint64_t HashOf(const BlockKey& key) {
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;
  uint64_t hash = key.entry.fingerprint ^ static_cast<uint64_t>(key.entry.value);
  for (const uint64_t more : {key.owner, static_cast<uint64_t>(key.block)}) {
    hash = (hash ^ more) * kOdd;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace

// The sets are for small blocks, because pages of databases are small blocks, and many.
BlockCache::BlockCache(int64_t capacity)
    : capacity_(capacity), sets_(CountSets(capacity / kSmallBlock / static_cast<int64_t>(kWays))) {}

BlockCache::~BlockCache() {
  for (const std::atomic<Set*>& set : sets_) delete set.load();
}

BlockCache::Set* BlockCache::SetOf(const BlockKey& key, int64_t nbytes) {
  size_t place = HashOf(key) & (sets_.size() - 1);
  if (nbytes > kSmallBlock || sets_.size() == 1) {
    // There are as many sets as the blocks of this size may fill.
    const int64_t fitting = capacity_ / static_cast<int64_t>(kWays) / std::max<int64_t>(nbytes, 1);
    if (fitting == 0) return nullptr;
    place %= static_cast<size_t>(fitting);
  }
  std::atomic<Set*>& slot = sets_[place];
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
  std::unique_ptr<std::byte[]> gone;  // freed only after the turn
  const Turn turn(set);
  if (!turn) return Answer::kMiss;
  if (Way* const way = Find(*set, key, nbytes); way != nullptr) {
    way->used = ++set->uses;
    if (way->bytes == nullptr) return Answer::kAgain;
    CAIRN_DCHECK(0 <= begin && std::ssize(dst) <= nbytes - begin);
    CopyBytes({way->bytes.get() + begin, dst.size()}, dst);
    return Answer::kHit;
  }
  gone = MakeRoom(*set, key, nbytes);
  return Answer::kMiss;
}

std::unique_ptr<std::byte[]> BlockCache::MakeRoom(Set& set, const BlockKey& key, int64_t nbytes) {
  Way& oldest = *std::ranges::min_element(set.ways, {}, &Way::used);
  if (oldest.bytes != nullptr) kept_bytes_ -= oldest.nbytes;
  std::unique_ptr<std::byte[]> gone = std::exchange(oldest.bytes, nullptr);
  oldest.key = key;
  oldest.nbytes = nbytes;
  oldest.used = ++set.uses;
  return gone;
}

void BlockCache::Insert(const BlockKey& key, int64_t nbytes, std::unique_ptr<std::byte[]> bytes) {
  Set* const set = SetOf(key, nbytes);
  const Turn turn(set);
  if (!turn) return;
  Way* const way = Find(*set, key, nbytes);
  if (way == nullptr || way->bytes != nullptr) return;  // another thread was faster
  // Blocks of several sizes share the sets of the smaller ones.
  if (kept_bytes_.fetch_add(nbytes) + nbytes > capacity_) {
    kept_bytes_ -= nbytes;
    return;
  }
  way->bytes = std::move(bytes);
}

void BlockCache::Replace(const BlockKey& before, const BlockKey& key, Bytes bytes) {
  const int64_t nbytes = std::ssize(bytes);
  std::unique_ptr<std::byte[]> kept;
  {
    Set* const set = SetOf(before, nbytes);
    const Turn turn(set);
    Way* const way = turn ? Find(*set, before, nbytes) : nullptr;
    if (way == nullptr || way->bytes == nullptr) return;
    kept_bytes_ -= nbytes;
    kept = std::move(way->bytes);
    *way = {};
  }
  if (kept == nullptr) return;
  CopyBytes(bytes, {kept.get(), bytes.size()});
  std::unique_ptr<std::byte[]> gone;
  {
    Set* const set = SetOf(key, nbytes);
    const Turn turn(set);
    if (!turn) return;
    if (Find(*set, key, nbytes) == nullptr) gone = MakeRoom(*set, key, nbytes);
  }
  Insert(key, nbytes, std::move(kept));
}

}  // namespace cairn::frame
