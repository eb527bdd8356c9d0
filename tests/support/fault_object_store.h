// An object store on the far side of a bad network.
#ifndef CAIRN_TESTS_SUPPORT_FAULT_OBJECT_STORE_H_
#define CAIRN_TESTS_SUPPORT_FAULT_OBJECT_STORE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/object_store.h"
#include "tests/support/dice.h"

namespace cairn::test {

// A fault that may happen to a request. The client gets the answer that its ObjectStore would give
// it.
enum class StoreFault {
  kNone,
  kUnavailable,  // nothing was done, and the client knows it
  kLost,         // nothing was done; the outcome is unknown to the client
  kAnswerLost,   // it was done; the outcome is unknown to the client
  kDelayed,      // the outcome is unknown to the client, and it is done later: see LandOne
  kRepeated,     // something on the way sent it twice: the client gets the second answer
  kRefused,      // nothing was done, and the client is told that the condition fails
};

// The chances of the faults in per cent.
struct FaultChances {
  size_t unavailable = 0;
  size_t lost = 0;
  size_t answer_lost = 0;
  size_t delayed = 0;
  size_t repeated = 0;
  size_t refused = 0;            // of puts
  size_t reads_unavailable = 0;  // for gets, heads and lists
};

// Passes requests to another store and makes some of them fail. Thread-safe.
class FaultObjectStore final : public ObjectStore {
 public:
  // Chooses the fault of a put or of the delete of a name.
  using Choose = std::function<StoreFault(std::string_view name)>;

  FaultObjectStore(std::shared_ptr<ObjectStore> store, uint64_t seed)
      : store_(std::move(store)), dice_(seed) {}

  void SetChances(const FaultChances& chances);
  // Chooses faults with `choose` instead of by chances. With null the chances hold again.
  void SetChoice(Choose choose);
  // Calls `visit` with the name before each get, head and list.
  void OnRead(std::function<void(std::string_view name)> visit);
  // LandOne lets a random one of the delayed requests take effect, and LandAll lets all of them, in
  // random order. LandOne returns false if there was none.
  bool LandOne();
  void LandAll();
  int64_t faults() const;

  void StartGet(std::string name, ObjectRange range, std::optional<std::string> if_match,
                GetDone done) override;
  void StartPutIfAbsent(std::string name, Bytes bytes, PutDone done) override;
  void StartPutIfMatch(std::string name, std::string etag, Bytes bytes, PutDone done) override;
  absl::StatusOr<ObjectInfo> Head(const std::string& name) override;
  absl::StatusOr<ObjectListing> List(const std::string& prefix, const std::string& after,
                                     int64_t most) override;
  absl::Status Delete(std::span<const std::string> names) override;
  absl::Status CheckConditions(const std::string& scratch_name) override {
    return store_->CheckConditions(scratch_name);
  }
  // Returns the timeout of the store below, unless a test has set another one.
  std::chrono::milliseconds call_timeout() const override {
    return call_timeout_.value_or(store_->call_timeout());
  }
  void SetCallTimeout(std::chrono::milliseconds time) { call_timeout_ = time; }
  void Cancel() override { store_->Cancel(); }
  ObjectStoreStats stats() const override { return store_->stats(); }
  std::string Describe() const override { return store_->Describe(); }

 private:
  using Put = std::function<absl::StatusOr<ObjectInfo>()>;

  StoreFault ChooseFor(std::string_view name);
  absl::StatusOr<ObjectInfo> Do(StoreFault fault, const Put& put);
  absl::Status BeginRead(std::string_view name);

  const std::shared_ptr<ObjectStore> store_;
  mutable std::mutex mutex_;
  Dice dice_;
  FaultChances chances_;
  Choose choose_;
  std::function<void(std::string_view)> on_read_;
  std::vector<std::function<void()>> delayed_;
  int64_t faults_ = 0;
  std::optional<std::chrono::milliseconds> call_timeout_;
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_FAULT_OBJECT_STORE_H_
