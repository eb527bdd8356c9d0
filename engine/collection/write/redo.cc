#include "engine/collection/write/redo.h"

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/status.h"
#include "engine/collection/ledger/ledger_history.h"
#include "engine/collection/members/member_files.h"
#include "engine/collection/write/for_each.h"

namespace cairn::collection {

namespace {

// Completes the files of members that commits since the ledger's checkpoint have removed, and that
// commits which are kept need. Damage is told to who opens them.
absl::Status RedoRemoved(const Site& site, const Ledger& ledger) {
  const uint64_t listed = ledger.table.number - ledger.commits.size();
  for (const RemovedMember& member : RemovedMembers(ledger.table)) {
    if (member.number <= listed) continue;
    CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<const Ledger> before,
                           LedgerAt(ledger, member.number - 1));
    const std::string path = site.AsidePath(member.name, member.id);
    const absl::Status redone = RedoMember(site, path, member.name, *before);
    if (!redone.ok() && !IsDamageOf(redone)) return AtPath(path, redone);
  }
  return absl::OkStatus();
}

// Returns the members that are there and that commits since the ledger's checkpoint have changed.
std::vector<std::string_view> ChangedMembers(const Ledger& ledger) {
  std::set<std::string_view> changed;
  for (const auto& commit : ledger.commits) {
    for (const MemberPart& part : commit->parts) changed.insert(part.name);
  }
  std::erase_if(changed,
                [&](std::string_view name) { return !ledger.table.members.contains(name); });
  return {changed.begin(), changed.end()};
}

}  // namespace

absl::Status RedoNames(const Site& site, const Ledger& ledger, uint64_t since,
                       ChangedNames& names) {
  for (auto gone = ledger.gone.rbegin(); gone != ledger.gone.rend(); ++gone) {
    if (gone->number <= since) break;
    const auto now = ledger.table.members.find(gone->name);
    const bool is_there = now != ledger.table.members.end();
    const bool waits =
        is_there && site.files->Identity(site.AsidePath(gone->name, now->second.id)).ok();
    // Another member may have the name by now. Of those that had it, the newest that is not aside
    // is there.
    if (!is_there || waits || now->second.kind != gone->entry.kind) {
      CAIRN_RETURN_IF_ERROR(PutAside(site, gone->name, gone->entry));
    }
    names.Note(gone->name);
  }
  for (const auto& commit : ledger.commits) {
    if (commit->number <= since) continue;
    for (const AddedMember& added : commit->added) {
      names.Note(added.name);
      const auto now = ledger.table.members.find(added.name);
      if (now == ledger.table.members.end()) continue;
      CAIRN_RETURN_IF_ERROR(PlaceFile(site, added.name, now->second));
    }
  }
  return absl::OkStatus();
}

absl::Status RedoMembers(const Site& site, const Ledger& ledger, Redoing how,
                         absl::FunctionRef<const Member*(std::string_view name)> own) {
  const std::vector<std::string_view> changed = ChangedMembers(ledger);
  CAIRN_RETURN_IF_ERROR(ForEachOf(changed.size(), [&](size_t i) {
    if (const Member* const member = own(changed[i]); member != nullptr) return member->Sync();
    const MemberKind kind = ledger.table.members.find(changed[i])->second.kind;
    const std::string path = site.PathOf(changed[i], kind);
    const absl::Status redone = RedoMember(site, path, changed[i], ledger);
    const bool is_fine = (how.takes_damage && IsDamageOf(redone)) ||
                         (how.beside_others && absl::IsUnavailable(redone));
    return (redone.ok() || is_fine) ? absl::OkStatus() : AtPath(path, redone);
  }));
  return RedoRemoved(site, ledger);
}

}  // namespace cairn::collection
