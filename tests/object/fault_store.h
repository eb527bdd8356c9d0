// A store over another one that fails as networks do, at random.
#ifndef CAIRN_TESTS_OBJECT_FAULT_STORE_H_
#define CAIRN_TESTS_OBJECT_FAULT_STORE_H_

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cairn/object_store.h"
#include "tests/support/dice.h"

namespace cairn::test {

// How many of 100 requests fail in which way.
struct FaultOdds {
  size_t unavailable = 5;  // kUnavailable, nothing was done
  // Of puts and deletes, with kDeadlineExceeded:
  size_t lost = 5;     // it was done
  size_t never = 5;    // it was not done, and never will be
  size_t delayed = 5;  // it is done later, under its condition, after some more requests
  // Most requests that a delayed one waits for.
  size_t longest_delay = 20;
};

// What happens depends on the seed and the order of requests alone. Thread-safe.
class FaultStore final : public ObjectStore {
 public:
  FaultStore(std::shared_ptr<ObjectStore> base, uint64_t seed, FaultOdds odds = {})
      : base_(std::move(base)), odds_(odds), dice_(seed) {}

  // From now on requests fail, or do not.
  void SetFaults(bool faults) { faults_ = faults; }
  // Does what is delayed.
  void Land();
  // Failures so far.
  int64_t faults() const { return count_; }

  void StartGet(std::string name, ObjectRange range, std::optional<std::string> if_match,
                GetDone done) override;
  void StartPutIfAbsent(std::string name, Bytes bytes, PutDone done) override;
  void StartPutIfMatch(std::string name, std::string etag, Bytes bytes, PutDone done) override;
  absl::StatusOr<ObjectInfo> Head(const std::string& name) override;
  absl::StatusOr<ObjectListing> List(const std::string& prefix, const std::string& after,
                                     int64_t most) override;
  absl::Status Delete(std::span<const std::string> names) override;
  absl::Status CheckConditions(const std::string& scratch_name) override {
    return base_->CheckConditions(scratch_name);
  }
  void Cancel() override { base_->Cancel(); }
  ObjectStoreStats stats() const override { return base_->stats(); }
  std::string Describe() const override { return "faulty " + base_->Describe(); }

 private:
  enum class Fate { kFine, kUnavailable, kLost, kNever, kDelayed };
  struct Delayed {
    size_t requests_left;
    std::function<void()> land;
  };

  Fate Throw(bool changes);
  void LandDue();
  void Delay(std::function<void()> land);
  // The failure of a put or delete, whose effect is `act` without an answer.
  absl::Status FailChange(Fate fate, const std::string& what, std::function<void()> act);
  void StartPut(const std::string& name, Bytes bytes, PutDone done,
                std::function<void(Bytes, PutDone)> put);

  const std::shared_ptr<ObjectStore> base_;
  const FaultOdds odds_;
  std::atomic<bool> faults_ = true;
  std::atomic<int64_t> count_ = 0;
  std::mutex mutex_;
  Dice dice_;
  std::vector<Delayed> delayed_;
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_OBJECT_FAULT_STORE_H_
