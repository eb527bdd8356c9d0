#include "tools/sqlite/vfs/writer_queue.h"

#include <utility>

namespace cairn::sqlite {

namespace {

// A busy handler sleeps at once. A program that sleeps later does it for reasons of its own.
constexpr std::chrono::milliseconds kJustNow(5);

}  // namespace

void WriterQueue::NoteRefused(const std::shared_ptr<Database>& database, const void* owner) {
  const auto now = std::chrono::steady_clock::now();
  const MutexLock lock(mutex_);
  // These are of threads that did not sleep, and may have ended.
  std::erase_if(refusals_, [now](const auto& entry) { return now - entry.second.at > kJustNow; });
  refusals_[std::this_thread::get_id()] = {.database = database, .owner = owner, .at = now};
}

void WriterQueue::Forget(const void* owner) {
  const MutexLock lock(mutex_);
  std::erase_if(refusals_, [owner](const auto& entry) { return entry.second.owner == owner; });
}

bool WriterQueue::Wait(std::chrono::microseconds most) {
  Refusal refusal;
  {
    const MutexLock lock(mutex_);
    const auto it = refusals_.find(std::this_thread::get_id());
    if (it == refusals_.end()) return false;
    refusal = std::move(it->second);
    refusals_.erase(it);
  }
  if (std::chrono::steady_clock::now() - refusal.at > kJustNow) return false;
  const std::shared_ptr<Database> database = refusal.database.lock();
  if (database == nullptr) return false;
  database->AwaitTurn(refusal.owner, std::chrono::ceil<std::chrono::milliseconds>(most));
  return true;
}

}  // namespace cairn::sqlite
