#include "engine/collection/ledger/collection_locks.h"

#include <algorithm>

namespace cairn::collection {

void Retention::NoteListed(uint64_t number, uint64_t generation) {
  const MutexLock lock(mutex_);
  if (listed_.back().generation == generation) return;
  // Generations in the middle may be missing: what died with them is then held for longer.
  constexpr size_t kMostListed = 256;
  if (listed_.size() >= kMostListed) listed_.erase(listed_.begin() + 1);
  listed_.push_back({.number = number, .generation = generation});
}

bool Retention::IsNeeded(uint64_t died) const {
  uint64_t first = 0;
  {
    const MutexLock lock(mutex_);
    const auto found = std::ranges::lower_bound(listed_, died, {}, &ListedGeneration::generation);
    if (found == listed_.end()) return true;
    first = found->number;
  }
  return IsReadBefore(*ledger_, first);
}

bool IsReadBefore(const File& ledger, uint64_t number) {
  const bool enters = ledger.IsLocked(kEntryByte, 1).value_or(true);
  if (enters || number == 0) return enters;
  return ledger.IsLocked(CommitByte(0), static_cast<int64_t>(number)).value_or(true);
}

bool IsReadBeside(const File& ledger, uint64_t oldest, uint64_t number) {
  if (IsReadBefore(ledger, std::min(oldest, number))) return true;
  if (number <= oldest + 1) return false;
  const auto count = static_cast<int64_t>(number - oldest - 1);
  return ledger.IsLocked(CommitByte(oldest + 1), count).value_or(true);
}

}  // namespace cairn::collection
