// An object store that can be watched, and whose client dies.
#ifndef CAIRN_TESTS_COLLECTION_OBJECTS_DYING_STORE_H_
#define CAIRN_TESTS_COLLECTION_OBJECTS_DYING_STORE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "cairn/object_store.h"

namespace cairn::test {

// Counts the puts and deletes of one client. After the last one that it may make, the client is
// dead: nothing is done any more. Not thread-safe.
class DyingStore final : public ObjectStore {
 public:
  explicit DyingStore(std::shared_ptr<ObjectStore> store) : store_(std::move(store)) {}

  // Lets the client make this many changes more.
  void DieAfter(int64_t changes) { left_ = changes; }
  bool is_dead() const { return left_ < 0; }
  int64_t changes() const { return changes_; }
  // Calls `visit` before each change and after it.
  void OnChange(std::function<void()> visit) { visit_ = std::move(visit); }

  void StartGet(std::string name, ObjectRange range, std::optional<std::string> if_match,
                GetDone done) override {
    if (is_dead()) return done(IsDead());
    store_->StartGet(std::move(name), range, std::move(if_match), std::move(done));
  }
  void StartPutIfAbsent(std::string name, Bytes bytes, PutDone done) override {
    done(Change<absl::StatusOr<ObjectInfo>>([&] { return store_->PutIfAbsent(name, bytes); }));
  }
  void StartPutIfMatch(std::string name, std::string etag, Bytes bytes, PutDone done) override {
    done(Change<absl::StatusOr<ObjectInfo>>([&] { return store_->PutIfMatch(name, etag, bytes); }));
  }
  absl::StatusOr<ObjectInfo> Head(const std::string& name) override {
    if (is_dead()) return IsDead();
    return store_->Head(name);
  }
  absl::StatusOr<ObjectListing> List(const std::string& prefix, const std::string& after,
                                     int64_t most) override {
    if (is_dead()) return IsDead();
    return store_->List(prefix, after, most);
  }
  absl::Status Delete(std::span<const std::string> names) override {
    return Change<absl::Status>([&] { return store_->Delete(names); });
  }
  absl::Status CheckConditions(const std::string& /*name*/) override { return absl::OkStatus(); }
  void Cancel() override {}
  ObjectStoreStats stats() const override { return store_->stats(); }
  std::string Describe() const override { return "dying"; }

 private:
  static absl::Status IsDead() { return absl::CancelledError("the client is dead"); }

  template <typename Result>
  Result Change(const std::function<Result()>& change) {
    if (--left_ < 0) return IsDead();
    ++changes_;
    if (visit_ != nullptr) visit_();
    Result result = change();
    if (visit_ != nullptr) visit_();
    return result;
  }

  const std::shared_ptr<ObjectStore> store_;
  int64_t left_ = INT64_MAX;
  int64_t changes_ = 0;
  std::function<void()> visit_;
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_COLLECTION_OBJECTS_DYING_STORE_H_
