// An open collection, whatever keeps its members, and the states that are handed out.
#ifndef CAIRN_ENGINE_COLLECTION_COLLECTION_CORE_H_
#define CAIRN_ENGINE_COLLECTION_COLLECTION_CORE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/collection.h"
#include "cairn/snapshot.h"
#include "cairn/verify.h"
#include "engine/collection/ledger/ledger_codec.h"
#include "engine/collection/members/members_writer.h"
#include "engine/collection/members/site.h"

namespace cairn::collection {

// A state of all members. While it lives, writers keep what it needs. Immutable.
class View {
 public:
  virtual ~View() = default;

  // Returns the members, by name. A store without a ledger has the number 0.
  virtual const LedgerTable& table() const = 0;
  virtual absl::StatusOr<Snapshot> OpenMember(std::string_view name) const = 0;
  // Verifies all members, and what lists them.
  virtual absl::StatusOr<VerifyReport> Verify(const VerifyOptions& options) const = 0;
  // Copies all members to a new collection at `path`, which gets its ledger last. A path that ends
  // with ".b2z" becomes a packed store.
  absl::Status CopyTo(const std::string& path) const;
  // Writes what leads from `since` to this state as a packed store at `path`.
  absl::Status WriteIncrement(const std::string& path, const View& since) const;
  // Returns the ledger of a packed store, which may be that of an increment. Errors:
  // kFailedPrecondition for any other view.
  virtual absl::StatusOr<Snapshot> OpenPackedLedger() const;

 protected:
  explicit View(std::shared_ptr<const Site> site) : site_(std::move(site)) {}
  const Site& site() const { return *site_; }

 private:
  // Returns the place of a copy, whose files no other user may open than those of this state.
  absl::StatusOr<Site> SiteOfCopy(const std::string& path) const;

  const std::shared_ptr<const Site> site_;
};
using ViewPtr = std::shared_ptr<const View>;

// Thread-safe.
class CollectionCore {
 public:
  virtual ~CollectionCore() = default;

  virtual ViewPtr newest() const = 0;
  virtual absl::StatusOr<ViewPtr> Refresh() = 0;
  virtual absl::StatusOr<std::vector<CommitInfo>> History() = 0;
  virtual absl::StatusOr<ViewPtr> OpenCommit(uint64_t number) = 0;
  virtual absl::StatusOr<std::unique_ptr<MembersWriter>> OpenWriter(
      const CollectionWriterOptions& options) const = 0;
  virtual bool has_ledger() const = 0;
};

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_COLLECTION_CORE_H_
