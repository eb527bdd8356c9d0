#include "engine/frame/reader_registry.h"

#include "engine/frame/frame_place.h"

namespace cairn::frame {

std::shared_ptr<const void> ReaderRegistry::Hold(const std::shared_ptr<ReaderRegistry>& registry,
                                                 uint64_t generation) {
  registry->Enter(generation);
  return std::shared_ptr<const void>(
      registry.get(), [registry, generation](const void*) { registry->Leave(generation); });
}

void ReaderRegistry::Enter(uint64_t generation) {
  const std::lock_guard lock(mutex_);
  if (holders_[generation]++ > 0) return;
  file_->LockByte(ReaderLockByte(generation), LockMode::kShared).IgnoreError();
}

void ReaderRegistry::Leave(uint64_t generation) {
  const std::lock_guard lock(mutex_);
  const auto holders = holders_.find(generation);
  if (--holders->second > 0) return;
  holders_.erase(holders);
  file_->UnlockByte(ReaderLockByte(generation)).IgnoreError();
}

}  // namespace cairn::frame
