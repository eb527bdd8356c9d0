// Keeps pages of objects in memory.
#ifndef CAIRN_ENGINE_OBJECT_PAGE_CACHE_H_
#define CAIRN_ENGINE_OBJECT_PAGE_CACHE_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "engine/base/mutex.h"

namespace cairn::object {

inline constexpr int64_t kPageBytes = int64_t{64} << 10;

// Returns the bytes of a page of an object that has `size`.
constexpr int64_t BytesOfPage(int64_t page, int64_t size) {
  return std::clamp<int64_t>(size - page * kPageBytes, 0, kPageBytes);
}

// A page that was read, or is on its way. Set or Fail is called once. Thread-safe.
class Page {
 public:
  void Set(std::vector<std::byte> bytes, bool from_store = true);
  void Fail(absl::Status status) { End(std::move(status), {}); }
  // Waits until the page was read.
  absl::StatusOr<Bytes> Wait() const;
  // Returns true if the page came from the store, and this is the first call.
  bool TakeNews() { return is_news_.exchange(false); }

 private:
  void End(absl::Status status, std::vector<std::byte> bytes);

  mutable Mutex mutex_;
  mutable CondVar ended_cv_;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  std::atomic<bool> is_news_ = false;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::byte> bytes_ ABSL_GUARDED_BY(mutex_);
};

using PagePtr = std::shared_ptr<Page>;

// A page of one content of an object: `object` names the content, and `page` is the number in it.
struct PageKey {
  std::string object;
  int64_t page = 0;

  bool operator==(const PageKey&) const = default;
  template <typename H>
  friend H AbslHashValue(H state, const PageKey& key) {
    return H::combine(std::move(state), key.object, key.page);
  }
};

// Keeps the pages that were used last, up to `capacity` bytes. Readers keep those that they hold.
// Thread-safe.
class PageCache {
 public:
  explicit PageCache(int64_t capacity) : capacity_(capacity) {}

  struct Found {
    PagePtr page;
    bool is_new = false;  // the caller must read it, and call Set, or Drop and Fail
  };
  // Returns the page, which has `bytes`.
  Found Get(const PageKey& key, int64_t bytes);
  // Forgets a page that cannot be read, so that the next caller tries again.
  void Drop(const PageKey& key, const PagePtr& page);

  int64_t capacity() const { return capacity_; }
  int64_t kept_bytes() const;

 private:
  struct Entry {
    PageKey key;
    PagePtr page;
    int64_t bytes = 0;
  };
  void Erase(std::list<Entry>::iterator entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int64_t capacity_;
  mutable Mutex mutex_;
  std::list<Entry> entries_ ABSL_GUARDED_BY(mutex_);  // most recently used first
  absl::flat_hash_map<PageKey, std::list<Entry>::iterator> by_key_ ABSL_GUARDED_BY(mutex_);
  int64_t kept_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_PAGE_CACHE_H_
