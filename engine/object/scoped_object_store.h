// The objects whose names begin with a prefix, as a store of their own.
#ifndef CAIRN_ENGINE_OBJECT_SCOPED_OBJECT_STORE_H_
#define CAIRN_ENGINE_OBJECT_SCOPED_OBJECT_STORE_H_

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "cairn/object_store.h"

namespace cairn::object {

// Thread-safe.
class ScopedObjectStore final : public ObjectStore {
 public:
  // `prefix` ends with a slash, or is empty.
  ScopedObjectStore(std::shared_ptr<ObjectStore> store, std::string prefix)
      : store_(std::move(store)), prefix_(std::move(prefix)) {}

  void StartGet(std::string name, ObjectRange range, std::optional<std::string> if_match,
                GetDone done) override {
    store_->StartGet(prefix_ + name, range, std::move(if_match), std::move(done));
  }
  void StartPutIfAbsent(std::string name, Bytes bytes, PutDone done) override {
    store_->StartPutIfAbsent(prefix_ + name, bytes, std::move(done));
  }
  void StartPutIfMatch(std::string name, std::string etag, Bytes bytes, PutDone done) override {
    store_->StartPutIfMatch(prefix_ + name, std::move(etag), bytes, std::move(done));
  }
  absl::StatusOr<ObjectInfo> Head(const std::string& name) override {
    return store_->Head(prefix_ + name);
  }
  absl::StatusOr<ObjectListing> List(const std::string& prefix, const std::string& after,
                                     int64_t most) override;
  absl::Status Delete(std::span<const std::string> names) override;
  absl::Status CheckConditions(const std::string& scratch_name) override {
    return store_->CheckConditions(prefix_ + scratch_name);
  }
  void Cancel() override { store_->Cancel(); }
  ObjectStoreStats stats() const override { return store_->stats(); }
  std::string Describe() const override;

 private:
  const std::shared_ptr<ObjectStore> store_;
  const std::string prefix_;
};

}  // namespace cairn::object

#endif  // CAIRN_ENGINE_OBJECT_SCOPED_OBJECT_STORE_H_
