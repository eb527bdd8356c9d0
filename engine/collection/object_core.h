// A collection in an object store.
#ifndef CAIRN_ENGINE_COLLECTION_OBJECT_CORE_H_
#define CAIRN_ENGINE_COLLECTION_OBJECT_CORE_H_

#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/collection.h"
#include "cairn/snapshot.h"
#include "cairn/verify.h"
#include "engine/base/mutex.h"
#include "engine/collection/collection_core.h"
#include "engine/collection/ledger/ledger.h"
#include "engine/collection/members/site.h"
#include "engine/collection/objects/object_ledger.h"

namespace cairn::collection {

// A commit of the ledger. Its objects stay for the grace.
class ObjectView final : public View {
 public:
  ObjectView(std::shared_ptr<const Site> site, std::shared_ptr<const Ledger> ledger)
      : View(std::move(site)), ledger_(std::move(ledger)) {}

  const std::shared_ptr<const Ledger>& ledger() const { return ledger_; }
  const LedgerTable& table() const override { return ledger_->table; }
  absl::StatusOr<Snapshot> OpenMember(std::string_view name) const override;
  absl::StatusOr<VerifyReport> Verify(const VerifyOptions& options) const override;

 private:
  const std::shared_ptr<const Ledger> ledger_;
};

// Thread-safe.
class ObjectCore final : public CollectionCore {
 public:
  // Errors: kNotFound if no ledger is there.
  static absl::StatusOr<std::shared_ptr<ObjectCore>> Open(std::shared_ptr<const Site> site);
  // Makes an empty collection.
  static absl::Status Create(const Site& site);

  ViewPtr newest() const override;
  absl::StatusOr<ViewPtr> Refresh() override;
  absl::StatusOr<std::vector<CommitInfo>> History() override;
  absl::StatusOr<ViewPtr> OpenCommit(uint64_t number) override;
  absl::StatusOr<std::unique_ptr<MembersWriter>> OpenWriter(
      const CollectionWriterOptions& options) const override;
  bool has_ledger() const override { return true; }

 private:
  ObjectCore(std::shared_ptr<const Site> site, std::shared_ptr<ObjectLedger> ledger)
      : site_(std::move(site)), ledger_(std::move(ledger)) {}

  const std::shared_ptr<const Site> site_;
  const std::shared_ptr<ObjectLedger> ledger_;  // of the writers, too, which may outlive this
  mutable Mutex mutex_;
  mutable std::shared_ptr<const ObjectView> newest_ ABSL_GUARDED_BY(mutex_);  // when last asked for
};

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_OBJECT_CORE_H_
