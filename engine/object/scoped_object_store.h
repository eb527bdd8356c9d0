// Gives the objects of a store whose names have a common beginning, under the rest of their names.
#ifndef CAIRN_ENGINE_OBJECT_SCOPED_OBJECT_STORE_H_
#define CAIRN_ENGINE_OBJECT_SCOPED_OBJECT_STORE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "cairn/object_store.h"

namespace cairn::object {

// Cancel and stats are those of the whole store. Thread-safe.
class ScopedObjectStore final : public ObjectStore {
 public:
  // `prefix` ends with a slash.
  ScopedObjectStore(std::shared_ptr<ObjectStore> store, std::string prefix)
      : store_(std::move(store)), prefix_(std::move(prefix)) {}

  void StartGet(std::string name, ObjectRange range, std::optional<std::string> if_match,
                GetDone done) override;
  void StartPutIfAbsent(std::string name, Bytes bytes, PutDone done) override;
  void StartPutIfMatch(std::string name, std::string etag, Bytes bytes, PutDone done) override;
  absl::StatusOr<ObjectInfo> Head(const std::string& name) override;
  absl::StatusOr<ObjectListing> List(const std::string& prefix, const std::string& after,
                                     int64_t most) override;
  absl::Status Delete(std::span<const std::string> names) override;
  absl::Status CheckConditions(const std::string& scratch_name) override {
    return store_->CheckConditions(prefix_ + scratch_name);
  }
  std::chrono::milliseconds call_timeout() const override { return store_->call_timeout(); }
  void Cancel() override { store_->Cancel(); }
  ObjectStoreStats stats() const override { return store_->stats(); }
  std::string Describe() const override;

 private:
  PutDone Scoped(PutDone done) const;

  const std::shared_ptr<ObjectStore> store_;
  const std::string prefix_;
};

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_SCOPED_OBJECT_STORE_H_
