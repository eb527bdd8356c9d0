// The lock that keeps a writer of a collection who is alone apart from those who share it.
#ifndef CAIRN_ENGINE_COLLECTION_WRITE_GATE_H_
#define CAIRN_ENGINE_COLLECTION_WRITE_GATE_H_

#include <chrono>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "engine/collection/ledger/collection_locks.h"
#include "engine/collection/members/site.h"

namespace cairn::collection {

// Each writer of a collection holds the gate for as long as it is open. The destructor lets go.
class Gate {
 public:
  // Takes the gate alone. Waiters are served in their order. Errors: kUnavailable if others hold it
  // for all of `wait`.
  static absl::StatusOr<std::unique_ptr<Gate>> TakeAlone(const Site& site,
                                                         std::chrono::milliseconds wait);
  // Shares the gate, or takes it alone if nobody holds it. Errors: kUnavailable if a writer holds
  // it alone for all of `wait`.
  static absl::StatusOr<std::unique_ptr<Gate>> Share(const Site& site,
                                                     std::chrono::milliseconds wait);

  bool is_alone() const { return is_alone_; }
  // Lets others share the gate.
  absl::Status LetOthersIn();
  // Takes the gate alone if no other writer holds it.
  void TryToBeAlone();
  void Leave() { ledger_->UnlockByte(kGateByte).IgnoreError(); }
  // Returns true if a writer waits to be alone.
  absl::StatusOr<bool> HasWaiters() const;

 private:
  explicit Gate(std::unique_ptr<File> ledger) : ledger_(std::move(ledger)) {}

  const std::unique_ptr<File> ledger_;
  bool is_alone_ = false;
};

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_WRITE_GATE_H_
