// Small objects of a collection that this process has put or read lately.
#ifndef CAIRN_ENGINE_COLLECTION_MEMBERS_KNOWN_OBJECTS_H_
#define CAIRN_ENGINE_COLLECTION_MEMBERS_KNOWN_OBJECTS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "cairn/file_system.h"
#include "engine/base/boot_clock.h"
#include "engine/base/mutex.h"

namespace cairn::collection {

// Saves the requests for indexes of members and for small chunks, which nobody replaces. Keeps the
// objects that were used last. A name is not used again within the grace, so an object is known for
// a part of that. Thread-safe.
class KnownObjects {
 public:
  using BytesPtr = std::shared_ptr<const std::vector<std::byte>>;

  explicit KnownObjects(std::chrono::seconds grace) : kept_for_(grace / 4) {}

  // Takes note of an object that is in the store, unless it is large.
  void Add(const std::string& name, BytesPtr bytes);
  void Remove(const std::string& name);
  // Returns the bytes, or null if they are not known.
  BytesPtr Find(const std::string& name);

  // Returns true if an object of this size is kept.
  static bool IsSmall(int64_t size);

 private:
  struct Known {
    std::string name;
    BytesPtr bytes;
    BootClock::time_point since;
  };
  using Entries = std::list<Known>;

  void Erase(Entries::iterator entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const BootClock::duration kept_for_;
  Mutex mutex_;
  Entries entries_ ABSL_GUARDED_BY(mutex_);  // most recently used first
  std::unordered_map<std::string, Entries::iterator> by_name_ ABSL_GUARDED_BY(mutex_);
  int64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of all
};

// Returns a file with the bytes of a known object. `read_ahead` is that of the store's other files.
std::unique_ptr<File> MakeKnownFile(std::string name, KnownObjects::BytesPtr bytes,
                                    int64_t read_ahead);

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_MEMBERS_KNOWN_OBJECTS_H_
