#include "engine/collection/write/gate.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

#include "engine/base/deadline.h"
#include "engine/base/status.h"

namespace cairn::collection {

namespace {

absl::StatusOr<std::unique_ptr<File>> OpenLedger(const Site& site) {
  return site.files->Open(site.LedgerPath(), FileMode::kReadWrite);
}

absl::Status HasWriter(const Site& site, const absl::Status& locked, const char* kind) {
  if (!absl::IsUnavailable(locked)) return locked;
  return absl::UnavailableError(absl::StrCat(site.root, ": the collection has ", kind,
                                             "; a longer wait may help: ", locked.message()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Gate>> Gate::TakeAlone(const Site& site,
                                                      std::chrono::milliseconds wait) {
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<File> ledger, OpenLedger(site));
  CAIRN_RETURN_IF_ERROR(
      HasWriter(site, ledger->WaitForByte(kGateByte, std::max(wait, {})), "another writer"));
  std::unique_ptr<Gate> gate(new Gate(std::move(ledger)));
  gate->is_alone_ = true;
  return gate;
}

absl::StatusOr<std::unique_ptr<Gate>> Gate::Share(const Site& site,
                                                  std::chrono::milliseconds wait) {
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<File> ledger, OpenLedger(site));
  std::unique_ptr<Gate> gate(new Gate(std::move(ledger)));
  const absl::Status shared = RetryUnavailable(wait, [&]() -> absl::Status {
    // Writers that come and go would keep one that waits to be alone away for ever.
    CAIRN_ASSIGN_OR_RETURN(const bool waits, gate->HasWaiters());
    if (waits) return absl::UnavailableError("a writer waits to be alone");
    gate->TryToBeAlone();
    return gate->is_alone_ ? absl::OkStatus()
                           : gate->ledger_->LockByte(kGateByte, LockMode::kShared);
  });
  CAIRN_RETURN_IF_ERROR(HasWriter(site, shared, "a writer that is not shared"));
  return gate;
}

absl::Status Gate::LetOthersIn() {
  CAIRN_RETURN_IF_ERROR(ledger_->LockByte(kGateByte, LockMode::kShared));
  is_alone_ = false;
  return absl::OkStatus();
}

void Gate::TryToBeAlone() { is_alone_ = ledger_->LockByte(kGateByte, LockMode::kExclusive).ok(); }

absl::StatusOr<bool> Gate::HasWaiters() const { return ledger_->HasWaiters(kGateByte); }

}  // namespace cairn::collection
