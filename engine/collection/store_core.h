// A store of python-blosc2, which can be read: a directory (.b2d), a zip file (.b2z), or a frame
// with the values in it (.b2e).
#ifndef CAIRN_ENGINE_COLLECTION_STORE_CORE_H_
#define CAIRN_ENGINE_COLLECTION_STORE_CORE_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/collection.h"
#include "cairn/file_system.h"
#include "cairn/snapshot.h"
#include "cairn/verify.h"
#include "engine/base/mutex.h"
#include "engine/collection/collection_core.h"
#include "engine/collection/members/site.h"
#include "engine/collection/store/embedded_values.h"
#include "engine/collection/store/zip_directory.h"

namespace cairn::collection {

class WholeReport;

// The path of a member's file, its entry of a zip file, or its place in the store of values.
using StoredAt = std::variant<std::string, ZipEntry, EmbeddedValue>;

// The members of a store. Files come before values of the same name.
struct StoreContent {
  LedgerTable table = {};  // without ids and positions
  std::map<std::string, StoredAt, std::less<>> places = {};
  std::shared_ptr<const File> zip = nullptr;
  std::vector<ZipEntry> others = {};  // entries of the zip file that are no members
  std::optional<Snapshot> values = {};
  std::optional<Snapshot> ledger = {};  // of a zip file
};

// The content as it was when the store was listed. A program that changes the store later changes
// what its members show, too.
class StoreView final : public View {
 public:
  StoreView(std::shared_ptr<const Site> site, StoreContent content)
      : View(std::move(site)), content_(std::move(content)) {}

  // Returns true if both list the same members in the same places.
  bool ListsSame(const StoreView& other) const;
  const LedgerTable& table() const override { return content_.table; }
  absl::StatusOr<Snapshot> OpenMember(std::string_view name) const override;
  absl::StatusOr<VerifyReport> Verify(const VerifyOptions& options) const override;
  absl::StatusOr<Snapshot> OpenPackedLedger() const override;

 private:
  // Compares the bytes of an entry with the checksum that the zip file has of them.
  absl::Status CheckEntry(const std::string& name, const ZipEntry& entry, WholeReport& whole) const;
  absl::StatusOr<Snapshot> OpenEmbedded(const std::string& path, const EmbeddedValue& value) const;

  const StoreContent content_;
};

// Thread-safe.
class StoreCore final : public CollectionCore {
 public:
  // Errors: kNotFound if nothing is there; kInvalidArgument if a file is there that is no store;
  // kDataLoss if the store is damaged.
  static absl::StatusOr<std::shared_ptr<StoreCore>> Open(std::shared_ptr<const Site> site);

  ViewPtr newest() const override;
  absl::StatusOr<ViewPtr> Refresh() override;
  absl::StatusOr<std::vector<CommitInfo>> History() override;
  absl::StatusOr<ViewPtr> OpenCommit(uint64_t number) override;
  absl::StatusOr<std::unique_ptr<MembersWriter>> OpenWriter(
      const CollectionWriterOptions& options) const override;
  bool has_ledger() const override { return false; }

 private:
  explicit StoreCore(std::shared_ptr<const Site> site) : site_(std::move(site)) {}
  absl::Status HasNoCommits() const;

  const std::shared_ptr<const Site> site_;
  mutable Mutex mutex_;
  std::shared_ptr<const StoreView> newest_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_STORE_CORE_H_
