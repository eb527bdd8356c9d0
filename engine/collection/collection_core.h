// An open collection: its newest state, and the views of it that are handed out.
#ifndef CAIRN_ENGINE_COLLECTION_COLLECTION_CORE_H_
#define CAIRN_ENGINE_COLLECTION_COLLECTION_CORE_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

#include "cairn/collection.h"
#include "cairn/frame.h"
#include "cairn/snapshot.h"
#include "cairn/verify.h"
#include "engine/base/mutex.h"
#include "engine/collection/ledger.h"
#include "engine/collection/site.h"
#include "engine/frame/files/frame_locks.h"

namespace cairn::collection {

// A state of all members. While it lives, writers keep what it needs. Immutable.
struct View {
  std::shared_ptr<const Site> site;
  std::shared_ptr<const Ledger> ledger;
  std::shared_ptr<const void> registered;  // as a reader of the ledger's commit

  absl::StatusOr<Snapshot> OpenMember(std::string_view name) const;
  // Copies all members to a new collection at `path`. The ledger comes last.
  absl::Status CopyTo(const std::string& path) const;
  // Verifies the ledger and all members.
  absl::StatusOr<VerifyReport> Verify(const VerifyOptions& options) const;
};
using ViewPtr = std::shared_ptr<const View>;

// Thread-safe.
class CollectionCore {
 public:
  static absl::StatusOr<std::shared_ptr<CollectionCore>> Open(const std::string& path,
                                                              const CollectionOptions& options);
  static absl::StatusOr<std::shared_ptr<CollectionCore>> Create(const std::string& path,
                                                                const CollectionOptions& options);

  ViewPtr newest() const;
  absl::StatusOr<ViewPtr> Refresh();
  const std::shared_ptr<const Site>& site() const { return site_; }
  // Returns the ledger, which is open for reading.
  const File& ledger_file() const { return *file_; }

 private:
  CollectionCore(std::shared_ptr<const Site> site, Frame ledger, std::shared_ptr<File> file)
      : site_(std::move(site)),
        file_(std::move(file)),
        locks_(std::make_shared<frame::ReaderLocks>(file_)),
        ledger_(std::move(ledger)) {}

  const std::shared_ptr<const Site> site_;
  const std::shared_ptr<File> file_;
  const std::shared_ptr<frame::ReaderLocks> locks_;
  Frame ledger_;  // thread-safe
  mutable Mutex mutex_;
  ViewPtr newest_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_COLLECTION_CORE_H_
