// The directories of a collection in which names have changed since the ledger's checkpoint.
#ifndef CAIRN_ENGINE_COLLECTION_WRITE_CHANGED_NAMES_H_
#define CAIRN_ENGINE_COLLECTION_WRITE_CHANGED_NAMES_H_

#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"

#include "engine/base/status.h"
#include "engine/collection/members/site.h"

namespace cairn::collection {

// Not thread-safe.
class ChangedNames {
 public:
  // Takes note that names next to this member's have changed.
  void Note(std::string_view member) { directories_.insert(std::string(DirectoryOf(member))); }
  // Makes the names durable, and forgets them.
  absl::Status Sync(const Site& site) {
    for (const std::string& directory : directories_) {
      const absl::Status synced = site.files->SyncDirectoryOf(site.root + directory + "/any");
      if (!absl::IsNotFound(synced)) CAIRN_RETURN_IF_ERROR(synced);  // the group may be gone
    }
    directories_.clear();
    return absl::OkStatus();
  }

 private:
  std::set<std::string> directories_;  // below the root
};

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_WRITE_CHANGED_NAMES_H_
