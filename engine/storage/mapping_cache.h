// Keeps the mappings that were used last.
#ifndef CAIRN_ENGINE_STORAGE_MAPPING_CACHE_H_
#define CAIRN_ENGINE_STORAGE_MAPPING_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "engine/base/mutex.h"

namespace cairn::storage {

// An LRU cache of up to `capacity` mappings. Eviction drops only the cache's reference; readers
// keep theirs. Thread-safe. Every call takes O(1).
class MappingCache {
 public:
  explicit MappingCache(size_t capacity) : capacity_(capacity) {}

  // Returns the mapping of `key`, or the result of `make` if there is none. No lock is held while
  // `make` runs, so two threads may make the same mapping. Both then get the first one. Failures
  // are not kept.
  absl::StatusOr<std::shared_ptr<const Mapping>> Get(
      uint64_t key, absl::FunctionRef<absl::StatusOr<std::shared_ptr<const Mapping>>()> make);

 private:
  using Entry = std::pair<uint64_t, std::shared_ptr<const Mapping>>;

  // Returns null if there is none.
  std::shared_ptr<const Mapping> Find(uint64_t key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t capacity_;
  Mutex mutex_;
  std::list<Entry> entries_ ABSL_GUARDED_BY(mutex_);  // most recently used first
  std::unordered_map<uint64_t, std::list<Entry>::iterator> by_key_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_MAPPING_CACHE_H_
