// Keeps pages of objects in a directory of the machine, which processes share.
#ifndef CAIRN_ENGINE_OBJECT_DISK_CACHE_H_
#define CAIRN_ENGINE_OBJECT_DISK_CACHE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/types.h"
#include "engine/base/mutex.h"

namespace cairn::object {

// Keeps each page in a file. A file that is damaged, has another page, or cannot be read or written
// counts as missing. The pages used last stay, within `capacity` bytes. Thread-safe.
class DiskCache {
 public:
  // `store` distinguishes the objects of several stores.
  DiskCache(std::string directory, int64_t capacity, std::string store);

  // Returns the page, which has `size` bytes.
  std::optional<std::vector<std::byte>> Get(std::string_view object, int64_t page, int64_t size);
  void Put(std::string_view object, int64_t page, Bytes bytes);

 private:
  void Trim() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string directory_;
  const int64_t capacity_;
  const std::string store_;
  Mutex mutex_;
  int64_t written_ ABSL_GUARDED_BY(mutex_);  // bytes since files were removed
};

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_DISK_CACHE_H_
