#include "engine/collection/write/aside_files.h"

#include <set>
#include <vector>

#include "engine/base/status.h"
#include "engine/collection/ledger/collection_locks.h"
#include "engine/collection/ledger/ledger_history.h"
#include "engine/collection/members/member_files.h"

namespace cairn::collection {

absl::StatusOr<AsideFiles> AsideFiles::Find(const Site& site, const LedgerTable& table) {
  AsideFiles files;
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::string> aside, FindAside(site));
  if (aside.empty()) return files;
  std::set<std::string> of_members;
  for (const auto& [name, entry] : table.members) {
    of_members.insert(site.AsidePath(name, entry.id));
  }
  std::map<std::string, uint64_t> removed;
  for (const RemovedMember& member : RemovedMembers(table)) {
    removed[site.AsidePath(member.name, member.id)] = member.number;
  }
  for (const std::string& path : aside) {
    if (of_members.contains(path)) continue;
    // Any other file was removed before the oldest commit that is kept.
    const auto removal = removed.find(path);
    files.Add(path, removal != removed.end() ? removal->second : table.oldest_kept());
  }
  return files;
}

absl::Status AsideFiles::RemoveUnread(const Site& site, const File& ledger) {
  while (!files_.empty() && !IsReadBefore(ledger, files_.begin()->first)) {
    const uint64_t number = files_.begin()->first;
    for (auto file = files_.begin(); file != files_.end() && file->first == number;) {
      CAIRN_RETURN_IF_ERROR(RemoveAside(site, file->second));
      file = files_.erase(file);
    }
  }
  return absl::OkStatus();
}

}  // namespace cairn::collection
