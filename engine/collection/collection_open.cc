#include "engine/collection/collection_open.h"

#include <utility>

#include "cairn/frame.h"
#include "engine/base/status.h"
#include "engine/collection/ledger/ledger.h"
#include "engine/collection/ledger_core.h"
#include "engine/collection/object_core.h"
#include "engine/collection/store_core.h"

namespace cairn::collection {

namespace {

// Returns true if no ledger can have been there. One that is damaged is not taken for another
// program's.
bool IsOfOthers(const Frame& frame) {
  const Snapshot snapshot = frame.snapshot();
  return !snapshot.info().trailer_damaged && !snapshot.HasVlmetalayer(kTableLayer);
}

}  // namespace

absl::StatusOr<std::shared_ptr<CollectionCore>> OpenCollection(const std::string& path,
                                                               const CollectionOptions& options) {
  CAIRN_ASSIGN_OR_RETURN(Site made, MakeSite(path, options));
  auto site = std::make_shared<const Site>(std::move(made));
  if (IsInObjects(*site)) {
    absl::StatusOr<std::shared_ptr<ObjectCore>> core = ObjectCore::Open(site);
    if (core.ok()) return *std::move(core);
    // There may be a store of python-blosc2.
    if (!absl::IsNotFound(core.status()) && !absl::IsFailedPrecondition(core.status())) {
      return core.status();
    }
  }
  absl::StatusOr<Frame> ledger = Frame::Open(site->LedgerPath(), LedgerReading(site->files));
  const bool is_file = !ledger.ok() && site->files->Open(site->root, FileMode::kRead).ok() &&
                       !site->files->OpenDirectory(site->root).ok();
  if (is_file || (ledger.ok() && IsOfOthers(*ledger))) return StoreCore::Open(std::move(site));
  if (!ledger.ok()) return ledger.status();
  return LedgerCore::Open(std::move(site), *std::move(ledger));
}

absl::StatusOr<std::shared_ptr<CollectionCore>> CreateCollection(const std::string& path,
                                                                 const CollectionOptions& options) {
  CAIRN_ASSIGN_OR_RETURN(const Site site, MakeSite(path, options));
  CAIRN_RETURN_IF_ERROR(IsInObjects(site) ? ObjectCore::Create(site) : LedgerCore::Create(site));
  return OpenCollection(path, options);
}

}  // namespace cairn::collection
