// The files of a collection that no member has any more.
#ifndef CAIRN_ENGINE_COLLECTION_WRITE_ASIDE_FILES_H_
#define CAIRN_ENGINE_COLLECTION_WRITE_ASIDE_FILES_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "engine/collection/ledger/ledger_codec.h"
#include "engine/collection/members/site.h"

namespace cairn::collection {

// Removes files when no reader needs them. Not thread-safe.
class AsideFiles {
 public:
  // Finds the files that lie aside, and belong to no member of the table.
  static absl::StatusOr<AsideFiles> Find(const Site& site, const LedgerTable& table);

  // Adds the file of a member that the commit has removed. `table` is that of the commit, or of a
  // newer one.
  void Add(const Site& site, std::string_view name, uint64_t id, uint64_t number,
           const LedgerTable& table);
  // `ledger` has the locks of readers, and `oldest` is the oldest commit that is kept.
  absl::Status RemoveUnread(const Site& site, const File& ledger, uint64_t oldest);

 private:
  using Files = std::multimap<uint64_t, std::string>;  // by the commits that have removed them

  absl::Status RemoveFirst(const Site& site, Files& files);

  Files files_;
  // Files that no commit which is kept has. Readers of commits that were joined may have them.
  Files between_;
};

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_WRITE_ASIDE_FILES_H_
