#include "engine/storage/mapping_cache.h"

#include <utility>

#include "engine/base/status.h"

namespace cairn::storage {

absl::StatusOr<std::shared_ptr<const Mapping>> MappingCache::Get(
    uint64_t key, absl::FunctionRef<absl::StatusOr<std::shared_ptr<const Mapping>>()> make) {
  {
    const std::lock_guard lock(mutex_);
    if (auto kept = Find(key)) return kept;
  }
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const Mapping> made, make());
  if (capacity_ == 0) return made;
  std::shared_ptr<const Mapping> evicted;  // unmapped only after the lock is released
  const std::lock_guard lock(mutex_);
  if (auto kept = Find(key)) return kept;
  evicted = Insert(key, made);
  return made;
}

std::shared_ptr<const Mapping> MappingCache::Find(uint64_t key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->mapping;
}

std::shared_ptr<const Mapping> MappingCache::Insert(uint64_t key,
                                                    std::shared_ptr<const Mapping> mapping) {
  std::shared_ptr<const Mapping> evicted;
  if (entries_.size() == capacity_) {
    evicted = std::move(entries_.back().mapping);
    by_key_.erase(entries_.back().key);
    entries_.pop_back();
  }
  entries_.push_front({.key = key, .mapping = std::move(mapping)});
  by_key_[key] = entries_.begin();
  return evicted;
}

}  // namespace cairn::storage
