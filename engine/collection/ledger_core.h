// A collection whose ledger says which members there are, and in which state.
#ifndef CAIRN_ENGINE_COLLECTION_LEDGER_CORE_H_
#define CAIRN_ENGINE_COLLECTION_LEDGER_CORE_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/collection.h"
#include "cairn/frame.h"
#include "cairn/snapshot.h"
#include "cairn/verify.h"
#include "engine/base/mutex.h"
#include "engine/collection/collection_core.h"
#include "engine/collection/ledger/ledger.h"
#include "engine/collection/members/site.h"
#include "engine/frame/files/frame_locks.h"

namespace cairn::collection {

// A commit of the ledger.
class LedgerView final : public View {
 public:
  // `registered` is a reader of the ledger's commit.
  LedgerView(std::shared_ptr<const Site> site, std::shared_ptr<const Ledger> ledger,
             std::shared_ptr<const void> registered)
      : View(std::move(site)), ledger_(std::move(ledger)), registered_(std::move(registered)) {}

  const std::shared_ptr<const Ledger>& ledger() const { return ledger_; }
  const LedgerTable& table() const override { return ledger_->table; }
  absl::StatusOr<Snapshot> OpenMember(std::string_view name) const override;
  absl::StatusOr<VerifyReport> Verify(const VerifyOptions& options) const override;

 private:
  // Opens a member, and tells in which file it is.
  absl::StatusOr<Snapshot> FindMember(std::string_view name, std::string& path) const;

  const std::shared_ptr<const Ledger> ledger_;
  const std::shared_ptr<const void> registered_;
};

// Thread-safe.
class LedgerCore final : public CollectionCore {
 public:
  // `ledger` is open, and lies in the site.
  static absl::StatusOr<std::shared_ptr<LedgerCore>> Open(std::shared_ptr<const Site> site,
                                                          Frame ledger);
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
  LedgerCore(std::shared_ptr<const Site> site, Frame ledger, std::shared_ptr<File> file)
      : site_(std::move(site)),
        file_(std::move(file)),
        locks_(std::make_shared<frame::ReaderLocks>(file_)),
        ledger_(std::move(ledger)) {}

  absl::StatusOr<std::shared_ptr<const Ledger>> ReadNewest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::shared_ptr<const Site> site_;
  const std::shared_ptr<File> file_;  // the ledger, which is open for reading
  const std::shared_ptr<frame::ReaderLocks> locks_;
  Frame ledger_;  // thread-safe
  mutable Mutex mutex_;
  std::shared_ptr<const LedgerView> newest_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_LEDGER_CORE_H_
