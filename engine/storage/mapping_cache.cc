#include "engine/storage/mapping_cache.h"

#include "engine/base/check.h"
#include "engine/base/status.h"

namespace cairn::storage {

absl::StatusOr<std::shared_ptr<const Mapping>> MappingCache::Get(
    uint64_t key, absl::FunctionRef<absl::StatusOr<std::shared_ptr<const Mapping>>()> make) {
  {
    const MutexLock lock(mutex_);
    if (auto kept = Find(key)) return kept;
  }
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const Mapping> made, make());
  if (capacity_ == 0) return made;
  std::shared_ptr<const Mapping> evicted;  // unmapped only after the lock is released
  const MutexLock lock(mutex_);
  if (auto kept = Find(key)) return kept;
  if (entries_.size() == capacity_) {
    evicted = std::move(entries_.back().second);
    by_key_.erase(entries_.back().first);
    entries_.pop_back();
  }
  entries_.emplace_front(key, made);
  by_key_[key] = entries_.begin();
  CAIRN_DCHECK(entries_.size() == by_key_.size() && entries_.size() <= capacity_);
  return made;
}

std::shared_ptr<const Mapping> MappingCache::Find(uint64_t key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->second;
}

}  // namespace cairn::storage
