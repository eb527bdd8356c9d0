// Copies of whole collections.
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cairn/frame.h"
#include "engine/base/status.h"
#include "engine/collection/collection_core.h"
#include "engine/collection/member_files.h"
#include "engine/collection/member_reader.h"

namespace cairn::collection {

namespace {

// Copies a member to its name in the directory of `to`. Returns its position there.
absl::StatusOr<Position> CopyMember(const View& view, const std::string& name, MemberKind kind,
                                    const Site& to) {
  const std::string path = to.PathOf(name, kind);
  CAIRN_RETURN_IF_ERROR(MakeDirectories(to, DirectoryOf(path)));
  CAIRN_ASSIGN_OR_RETURN(const Snapshot member, view.OpenMember(name));
  CopyOptions copying;
  copying.file_system = to.files;
  copying.layout = Layout::kContiguous;
  CAIRN_RETURN_IF_ERROR(member.CopyTo(path, copying));
  CAIRN_ASSIGN_OR_RETURN(const Frame copy, Frame::Open(path, to.MemberOptions()));
  return PositionOf(copy.snapshot());
}

// Makes the directory. Errors: kAlreadyExists if it holds anything.
absl::Status MakeRoot(const Site& to) {
  const absl::Status made = to.files->MakeDirectory(to.root);
  if (made.ok()) return to.files->SyncDirectoryOf(to.root);
  if (!absl::IsAlreadyExists(made)) return made;
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<FileSystem> directory,
                         to.files->OpenDirectory(to.root));
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::string> names, directory->List("."));
  return names.empty() ? absl::OkStatus() : made;
}

}  // namespace

absl::Status View::CopyTo(const std::string& path) const {
  CAIRN_ASSIGN_OR_RETURN(const Site to, MakeSite(path, site->options));
  CAIRN_RETURN_IF_ERROR(MakeRoot(to));
  LedgerTable table{.number = ledger->table.number, .members = {}};
  std::vector<std::string> made;
  absl::Status copied;
  for (const auto& [name, entry] : ledger->table.members) {
    made.push_back(to.PathOf(name, entry.kind));
    const absl::StatusOr<Position> position = CopyMember(*this, name, entry.kind, to);
    copied = position.status();
    if (!copied.ok()) break;
    table.members.emplace(name,
                          MemberEntry{.id = entry.id, .kind = entry.kind, .position = *position});
  }
  if (copied.ok()) copied = CreateLedger(to.LedgerPath(), to.files, table);
  if (copied.ok()) return copied;
  for (const std::string& file : made) RemoveAside(to, file).IgnoreError();
  to.files->RemoveDirectory(to.root).IgnoreError();
  return copied;
}

}  // namespace cairn::collection
