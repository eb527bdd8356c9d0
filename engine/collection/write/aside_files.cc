#include "engine/collection/write/aside_files.h"

#include <algorithm>
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
    const auto removal = removed.find(path);
    if (removal != removed.end()) {
      files.files_.emplace(removal->second, path);
    } else {
      files.between_.emplace(table.number, path);
    }
  }
  return files;
}

void AsideFiles::Add(const Site& site, std::string_view name, uint64_t id, uint64_t number,
                     const LedgerTable& table) {
  // The removal is an edit of the past commit that leads back over the number, if there is one.
  auto past = table.past.rbegin();
  while (past != table.past.rend() && (*past)->before >= number) ++past;
  const bool is_kept =
      past == table.past.rend() || std::ranges::any_of((*past)->edits, [&](const PastEdit& edit) {
        return edit.has_entry() && edit.before.id == id;
      });
  (is_kept ? files_ : between_).emplace(number, site.AsidePath(name, id));
}

// Removes the files of the first commit.
absl::Status AsideFiles::RemoveFirst(const Site& site, Files& files) {
  const uint64_t number = files.begin()->first;
  for (auto file = files.begin(); file != files.end() && file->first == number;) {
    CAIRN_RETURN_IF_ERROR(RemoveAside(site, file->second));
    file = files.erase(file);
  }
  return absl::OkStatus();
}

absl::Status AsideFiles::RemoveUnread(const Site& site, const File& ledger, uint64_t oldest) {
  while (!files_.empty() && !IsReadBefore(ledger, files_.begin()->first)) {
    CAIRN_RETURN_IF_ERROR(RemoveFirst(site, files_));
  }
  while (!between_.empty() && !IsReadBeside(ledger, oldest, between_.begin()->first)) {
    CAIRN_RETURN_IF_ERROR(RemoveFirst(site, between_));
  }
  return absl::OkStatus();
}

}  // namespace cairn::collection
