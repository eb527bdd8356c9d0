#include "engine/frame/files/generation_locks.h"

#include <chrono>

#include "engine/base/retry.h"
#include "engine/base/status.h"
#include "engine/frame/files/lock_bytes.h"

namespace cairn::frame {

absl::StatusOr<std::shared_ptr<const void>> GenerationLocks::Hold(
    const std::shared_ptr<GenerationLocks>& registry, uint64_t generation) {
  CAIRN_RETURN_IF_ERROR(registry->Enter(generation));
  return std::shared_ptr<const void>(
      registry.get(), [registry, generation](const void*) { registry->Leave(generation); });
}

absl::Status GenerationLocks::Enter(uint64_t generation) {
  const std::lock_guard lock(mutex_);
  const auto holders = holders_.find(generation);
  if (holders == holders_.end()) CAIRN_RETURN_IF_ERROR(Lock(generation));
  ++holders_[generation];
  return absl::OkStatus();
}

absl::Status GenerationLocks::Lock(uint64_t generation) const {
  constexpr std::chrono::milliseconds kWait(10);
  const int64_t byte = ReaderLockByte(generation);
  const auto locked = RetryUnavailable(kWait, [&]() -> absl::StatusOr<bool> {
    CAIRN_RETURN_IF_ERROR(file_->LockByte(byte, LockMode::kShared));
    return true;
  });
  const absl::Status& status = locked.status();
  // A file system that cannot even be asked for locks has none.
  if (status.ok() || absl::IsUnimplemented(status) || !file_->IsLocked(byte, 1).ok()) {
    return absl::OkStatus();
  }
  return absl::UnavailableError(
      absl::StrFormat("a reader's lock of generation %d: %s", generation, status.message()));
}

void GenerationLocks::Leave(uint64_t generation) {
  const std::lock_guard lock(mutex_);
  const auto holders = holders_.find(generation);
  if (--holders->second > 0) return;
  holders_.erase(holders);
  file_->UnlockByte(ReaderLockByte(generation)).IgnoreError();
}

}  // namespace cairn::frame
