#include "engine/collection/write/kept_commit.h"

#include <utility>

#include "engine/base/status.h"
#include "engine/collection/ledger/collection_locks.h"

namespace cairn::collection {

absl::Status KeptCommit::Hold(const Site& site, uint64_t number) {
  if (locks_ == nullptr) {
    CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<File> ledger,
                           site.files->Open(site.LedgerPath(), FileMode::kRead));
    locks_ = std::make_shared<frame::ReaderLocks>(std::move(ledger));
  }
  // The next lock is held before the last one goes.
  CAIRN_ASSIGN_OR_RETURN(reader_, frame::ReaderLocks::Hold(locks_, CommitByte(number)));
  return absl::OkStatus();
}

}  // namespace cairn::collection
