// Keeps objects in memory.
#ifndef CAIRN_ENGINE_OBJECT_MEMORY_OBJECT_STORE_H_
#define CAIRN_ENGINE_OBJECT_MEMORY_OBJECT_STORE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"

#include "cairn/object_store.h"
#include "engine/base/mutex.h"

namespace cairn::object {

// A store in memory, which answers at once, in the calling thread. Thread-safe.
class MemoryObjectStore final : public ObjectStore {
 public:
  // Sets the clock of the store, in seconds since 1970. Tests move it by hand.
  void SetNow(int64_t now);

  void StartGet(std::string name, ObjectRange range, std::optional<std::string> if_match,
                GetDone done) override;
  void StartPutIfAbsent(std::string name, Bytes bytes, PutDone done) override;
  void StartPutIfMatch(std::string name, std::string etag, Bytes bytes, PutDone done) override;
  absl::StatusOr<ObjectInfo> Head(const std::string& name) override;
  absl::StatusOr<ObjectListing> List(const std::string& prefix, const std::string& after,
                                     int64_t most) override;
  absl::Status Delete(std::span<const std::string> names) override;
  absl::Status CheckConditions(const std::string& /*scratch_name*/) override {
    return absl::OkStatus();
  }
  void Cancel() override;
  ObjectStoreStats stats() const override;
  std::string Describe() const override { return "memory"; }

 private:
  struct Object {
    std::vector<std::byte> bytes;
    ObjectInfo info;
  };

  int64_t Now() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckRunning() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<ObjectPart> Read(const std::string& name, ObjectRange range,
                                  const std::optional<std::string>& if_match);
  absl::StatusOr<ObjectInfo> Write(const std::string& name, Bytes bytes,
                                   const std::optional<std::string>& if_match);

  mutable Mutex mutex_;
  std::map<std::string, Object> objects_ ABSL_GUARDED_BY(mutex_);
  ObjectStoreStats stats_ ABSL_GUARDED_BY(mutex_);
  std::optional<int64_t> now_ ABSL_GUARDED_BY(mutex_);
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_MEMORY_OBJECT_STORE_H_
