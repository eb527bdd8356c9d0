// The files of a collection that no member has any more.
#ifndef CAIRN_ENGINE_COLLECTION_WRITE_ASIDE_FILES_H_
#define CAIRN_ENGINE_COLLECTION_WRITE_ASIDE_FILES_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

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

  // Adds the file of a member that this commit has removed.
  void Add(std::string path, uint64_t number) { files_.emplace(number, std::move(path)); }
  // `ledger` has the locks of readers.
  absl::Status RemoveUnread(const Site& site, const File& ledger);

 private:
  std::multimap<uint64_t, std::string> files_;  // by the commits that have removed them
};

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_WRITE_ASIDE_FILES_H_
