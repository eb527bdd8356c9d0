#include "tests/crash/model/reader_locks.h"

#include <cstdint>
#include <memory>
#include <set>

namespace cairn::model {

bool ReaderLocks::AnyIn(uint64_t first, uint64_t end) const {
  const auto found = description_->lower_bound(first);
  return found != description_->end() && *found < end;
}

// Goes on with another description, which has the locks that stay. The old one keeps its own.
void ReaderLocks::Own() {
  const bool shares =
      (is_child_ && rules_.child_opens_again) || (may_share_ && rules_.unlock_spares_children);
  if (!shares) return;
  description_ = std::make_shared<std::set<uint64_t>>(held_.begin(), held_.end());
  is_child_ = may_share_ = false;
}

void ReaderLocks::Lock(uint64_t generation) {
  Own();
  description_->insert(generation);
  held_.insert(generation);
}

void ReaderLocks::Unlock(uint64_t generation) {
  held_.erase(held_.find(generation));
  if (held_.contains(generation)) return;
  Own();
  description_->erase(generation);
}

std::shared_ptr<ReaderLocks> ReaderLocks::Fork() {
  may_share_ = true;
  auto child = std::make_shared<ReaderLocks>(*this);
  child->is_child_ = true;
  child->may_share_ = false;
  return child;
}

}  // namespace cairn::model
