#include "engine/object/page_cache.h"

#include "engine/base/check.h"

namespace cairn::object {

absl::StatusOr<Bytes> Page::Wait() const {
  const MutexLock lock(mutex_);
  while (!ended_) ended_cv_.Wait(mutex_);
  if (!status_.ok()) return status_;
  return Bytes(bytes_);
}

void Page::Set(std::vector<std::byte> bytes, bool from_store) {
  is_news_ = from_store;
  End(absl::OkStatus(), std::move(bytes));
}

void Page::End(absl::Status status, std::vector<std::byte> bytes) {
  const MutexLock lock(mutex_);
  status_ = std::move(status);
  bytes_ = std::move(bytes);
  ended_ = true;
  ended_cv_.NotifyAll();
}

PageCache::Found PageCache::Get(const PageKey& key, int64_t bytes) {
  const MutexLock lock(mutex_);
  if (const auto found = by_key_.find(key); found != by_key_.end()) {
    entries_.splice(entries_.begin(), entries_, found->second);
    return {.page = found->second->page};
  }
  while (!entries_.empty() && kept_bytes_ + bytes > capacity_) Erase(std::prev(entries_.end()));
  entries_.push_front({.key = key, .page = std::make_shared<Page>(), .bytes = bytes});
  by_key_[key] = entries_.begin();
  kept_bytes_ += bytes;
  CAIRN_DCHECK(entries_.size() == by_key_.size());
  return {.page = entries_.front().page, .is_new = true};
}

void PageCache::Drop(const PageKey& key, const PagePtr& page) {
  const MutexLock lock(mutex_);
  const auto found = by_key_.find(key);
  if (found != by_key_.end() && found->second->page == page) Erase(found->second);
}

void PageCache::Erase(std::list<Entry>::iterator entry) {
  kept_bytes_ -= entry->bytes;
  CAIRN_DCHECK(kept_bytes_ >= 0);
  by_key_.erase(entry->key);
  entries_.erase(entry);
}

int64_t PageCache::kept_bytes() const {
  const MutexLock lock(mutex_);
  return kept_bytes_;
}

}  // namespace cairn::object
