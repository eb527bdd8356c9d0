#include "engine/collection/write/staging.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"

#include "engine/base/random.h"
#include "engine/base/status.h"
#include "engine/collection/held/writer_files.h"
#include "engine/collection/ledger/ledger_history.h"
#include "engine/collection/ledger/member_name.h"
#include "engine/collection/members/member_files.h"
#include "engine/collection/write/for_each.h"
#include "engine/frame/files/copy_files.h"
#include "engine/storage/descriptor_room.h"

namespace cairn::collection {

namespace {

absl::Status ForEachMember(const std::vector<Member*>& members,
                           absl::FunctionRef<absl::Status(Member&)> work) {
  return ForEachOf(members.size(), [&](size_t i) { return work(*members[i]); });
}

absl::Status IsTaken(const std::string& why) {
  return absl::AbortedError(why + "; roll back, and stage the edits again");
}

}  // namespace

// Fewer if the process may open few files: a member takes three.
size_t MaxOpenMembers() {
  constexpr int64_t kMaxOpen = 128;
  constexpr int64_t kPart = 16;  // of the limit
  return static_cast<size_t>(
      std::clamp<int64_t>(storage::FindDescriptorRoom(0).limit / kPart, 1, kMaxOpen));
}

absl::Status Staging::CheckIsThere(std::string_view name) const {
  if (table().members.contains(name) && !removed_.contains(name)) return absl::OkStatus();
  return NotFound("%s: no member of the collection %s", name.substr(0, 256), site_.root);
}

absl::Status Staging::CheckIsFree(std::string_view name) const {
  CAIRN_RETURN_IF_ERROR(CheckIsNew(site_, name, CheckIsThere(name).ok() || added_.contains(name)));
  return CheckHasNoFile(site_, name, removed_);
}

absl::Status Staging::MakeRoom(std::string_view name) {
  if (storage::FindDescriptorRoom(kLeastRoom).left >= kLeastRoom) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(failure_.Need(CloseSome(0)));
  const storage::DescriptorRoom room = storage::FindDescriptorRoom(kLeastRoom);
  if (room.left >= kLeastRoom) return absl::OkStatus();
  return ResourceExhausted(
      "%s: too many open files: %d members of %s are open or new, and the process may open %d "
      "files; commit these members first, or raise the limit (ulimit -n)",
      name, members_.size() + added_.size(), site_.root, room.limit);
}

absl::StatusOr<Member*> Staging::OpenMember(std::string_view name) {
  auto member = members_.find(name);
  if (member == members_.end()) {
    CAIRN_RETURN_IF_ERROR(CheckIsCurrent(site_, *ledger_.file()));
    const MemberEntry& entry = table().members.find(name)->second;
    const std::string path = site_.PathOf(name, entry.kind);
    // Once this writer holds the member, others take all that the ledger has of it for durable.
    if (is_shared_) {
      const absl::Status redone = RedoMember(site_, path, name, ledger_.ledger());
      if (!redone.ok()) return AtPath(path, redone);
    }
    auto retention =
        std::make_shared<Retention>(ledger_.file(), GenerationsOf(name, ledger_.ledger()));
    absl::StatusOr<std::unique_ptr<Member>> opened =
        Member::Open(site_, name, entry, std::move(retention), options_);
    if (!opened.ok()) return AtPath(path, opened.status());
    member = members_.emplace(std::string(name), *std::move(opened)).first;
  }
  return member->second.get();
}

absl::StatusOr<Writer*> Staging::Edit(std::string_view name) {
  if (const auto added = added_.find(name); added != added_.end()) {
    added->second.replaces = false;  // the edits change it
    return &added->second.writer;
  }
  CAIRN_RETURN_IF_ERROR(CheckIsThere(name));
  if (!members_.contains(name)) CAIRN_RETURN_IF_ERROR(MakeRoom(name));
  CAIRN_ASSIGN_OR_RETURN(Member* const member, OpenMember(name));
  edited_.insert(member->name());
  return &member->writer();
}

absl::StatusOr<Writer*> Staging::Add(std::string_view name, const CreateOptions& options) {
  CAIRN_RETURN_IF_ERROR(CheckIsFree(name));
  CAIRN_RETURN_IF_ERROR(MakeRoom(name));
  const MemberEntry entry = {.id = RandomNumber(), .kind = KindOf(options)};
  const std::string path = site_.AsidePath(name, entry.id);
  CAIRN_RETURN_IF_ERROR(CheckIsCurrent(site_, *ledger_.file()));
  CAIRN_RETURN_IF_ERROR(MakeDirectories(site_, DirectoryOf(path)));
  CreateOptions own = options;
  own.layout = Layout::kContiguous;
  own.overwrite = false;
  own.file_system = FilesOfWriters(site_.files);
  CAIRN_ASSIGN_OR_RETURN(Writer writer, Frame::BeginCreate(path, own));
  NewMember member = {.entry = entry, .path = path, .writer = std::move(writer)};
  return &added_.emplace(std::string(name), std::move(member)).first->second.writer;
}

absl::Status Staging::Remove(std::string_view name) {
  if (const auto added = added_.find(name); added != added_.end()) {
    const std::string path = added->second.path;
    added_.erase(added);
    return RemoveAside(site_, path);
  }
  CAIRN_RETURN_IF_ERROR(CheckIsThere(name));
  if (is_shared_ && !members_.contains(name)) {
    CAIRN_RETURN_IF_ERROR(MakeRoom(name));
    CAIRN_RETURN_IF_ERROR(OpenMember(name).status());  // nobody else edits it
  }
  const auto listed = table().members.find(name);
  if (const auto member = members_.find(name); member != members_.end()) {
    member->second->Rollback();
    edited_.erase(member->first);
  }
  removed_.emplace(listed->first, listed->second);
  return absl::OkStatus();
}

absl::Status Staging::Copy(std::string_view from, std::string_view to) {
  if (edited_.contains(from) || added_.contains(from)) {
    return FailedPrecondition("%s: edits of the member are staged; commit them first", from);
  }
  CAIRN_RETURN_IF_ERROR(CheckIsThere(from));
  // There is enough for the member and its copy.
  CAIRN_RETURN_IF_ERROR(MakeRoom(to));
  CAIRN_ASSIGN_OR_RETURN(const Member* const member, OpenMember(from));
  if (from == to) return Replace(*member);
  CAIRN_RETURN_IF_ERROR(CheckIsFree(to));
  return StageContent(member->snapshot(), member->kind(), to);
}

absl::Status Staging::AddCopy(std::string_view name, MemberKind kind, const Snapshot& content) {
  CAIRN_RETURN_IF_ERROR(CheckIsFree(name));
  CAIRN_RETURN_IF_ERROR(MakeRoom(name));
  return StageContent(content, kind, name);
}

// Copies the snapshot to a file that lies aside.
absl::Status Staging::StageContent(const Snapshot& content, MemberKind kind, std::string_view to) {
  const MemberEntry entry = {.id = RandomNumber(), .kind = kind};
  const std::string path = site_.AsidePath(to, entry.id);
  CAIRN_RETURN_IF_ERROR(CheckIsCurrent(site_, *ledger_.file()));
  CAIRN_RETURN_IF_ERROR(MakeDirectories(site_, DirectoryOf(path)));
  CopyOptions copying;
  copying.file_system = FilesOfWriters(
      frame::FilesForCopyOf(frame::HandleAccess::StateOf(content).env()->location, site_.files));
  absl::Status copied = content.CopyTo(path, copying);
  if (copied.ok()) {
    OpenOptions open = site_.MemberOptions();
    open.use_mmap = false;
    open.file_system = FilesOfWriters(site_.files);
    CAIRN_ASSIGN_OR_RETURN(Frame frame, Frame::Open(path, open));
    absl::StatusOr<Writer> writer = frame.OpenWriter();
    copied = writer.status();
    if (writer.ok()) {
      added_.emplace(std::string(to),
                     NewMember{.entry = entry, .path = path, .writer = *std::move(writer)});
    }
  }
  if (!copied.ok()) RemoveAside(site_, path).IgnoreError();
  return copied;
}

void Staging::Drop() {
  for (const std::string& name : edited_) {
    const auto member = members_.find(name);
    if (member == members_.end()) continue;
    if (member->second->is_prepared()) {
      members_.erase(member);
    } else {
      member->second->Rollback();
    }
  }
  std::vector<std::string> dropped;
  for (const auto& [name, added] : added_) dropped.push_back(added.path);
  edited_.clear();
  added_.clear();
  removed_.clear();
  // Their directories may have been made for them.
  for (const std::string& path : dropped) RemoveAside(site_, path).IgnoreError();
}

// The ledger's checkpoint no longer knows that these members need a sync.
absl::Status Staging::CloseSome(size_t most) {
  if (members_.size() <= most) return absl::OkStatus();
  std::vector<const Member*> idle;
  for (const auto& [name, member] : members_) {
    const bool is_idle =
        !edited_.contains(name) && !removed_.contains(name) && !member->Unlisted().has_value();
    if (is_idle) idle.push_back(member.get());
  }
  std::ranges::sort(idle, {}, &Member::last_change);
  idle.resize(std::min(idle.size(), members_.size() - most / 2));
  const std::set<const Member*> closed(idle.begin(), idle.end());
  CAIRN_RETURN_IF_ERROR(Sync([&](const Member& member) { return closed.contains(&member); }));
  std::erase_if(members_, [&](const auto& each) { return closed.contains(each.second.get()); });
  return absl::OkStatus();
}

absl::Status Staging::CheckConflicts() const {
  const auto is_listed = [&](const std::string& name, const MemberEntry& entry) {
    const auto now = table().members.find(name);
    return now != table().members.end() && now->second == entry;
  };
  for (const auto& [name, entry] : removed_) {
    if (!is_listed(name, entry)) return IsTaken(name + ": was changed by another program");
  }
  for (const std::string& name : edited_) {
    if (!is_listed(name, members_.find(name)->second->entry())) {
      return IsTaken(name + ": was changed by another program");
    }
  }
  for (const auto& [name, added] : added_) {
    if (table().members.contains(name) && !removed_.contains(name)) {
      return IsTaken(name + ": another writer has added a member of that name");
    }
    const absl::Status has_none = CheckHasNoFile(site_, name, removed_);
    if (!has_none.ok()) return IsTaken(std::string(has_none.message()));
  }
  return absl::OkStatus();
}

absl::Status Staging::Sync(absl::FunctionRef<bool(const Member&)> which) const {
  std::vector<Member*> members;
  for (const auto& [name, member] : members_) {
    if (which(*member)) members.push_back(member.get());
  }
  return ForEachMember(members, [](const Member& member) { return member.Sync(); });
}

absl::Status Staging::SyncEarly() const {
  return Sync(
      [&](const Member& member) { return edited_.contains(member.name()) && member.needs_sync(); });
}

absl::Status Staging::CompleteNew() {
  std::vector<NewMember*> members;
  std::set<std::string> directories;
  for (auto& [name, added] : added_) {
    members.push_back(&added);
    directories.insert(std::string(DirectoryOf(added.path)));
  }
  CAIRN_RETURN_IF_ERROR(ForEachOf(members.size(), [&](size_t i) -> absl::Status {
    CAIRN_RETURN_IF_ERROR(members[i]->writer.Checkpoint());
    CAIRN_RETURN_IF_ERROR(members[i]->writer.Close());
    CAIRN_ASSIGN_OR_RETURN(const Frame frame, Frame::Open(members[i]->path, site_.MemberOptions()));
    members[i]->entry.position = PositionOf(frame.snapshot());
    return absl::OkStatus();
  }));
  for (const std::string& directory : directories) {
    CAIRN_RETURN_IF_ERROR(site_.files->SyncDirectoryOf(directory + "/any"));
  }
  return absl::OkStatus();
}

absl::Status Staging::Prepare(LedgerCommit& commit) {
  CAIRN_RETURN_IF_ERROR(CompleteNew());
  for (const auto& [name, entry] : removed_) commit.removed.push_back(name);
  for (const auto& [name, added] : added_) {
    // The ledger knows copies only for the sake of commits that are kept.
    const bool replaces = added.replaces && table().keep > 0;
    commit.added.push_back({.name = name, .entry = added.entry, .replaces = replaces});
  }
  for (const std::string& name : edited_) {
    Member& member = *members_.at(name);
    CAIRN_ASSIGN_OR_RETURN(const bool changes, member.Prepare());
    if (changes) commit.parts.push_back(member.PreparedPart());
  }
  return absl::OkStatus();
}

absl::Status Staging::Release(const LedgerCommit& commit) {
  for (const auto& [name, entry] : removed_) {
    if (const auto member = members_.find(name); member != members_.end()) {
      // The ledger's next checkpoint will not know that commits which are kept need the file.
      if (table().keep > 0) CAIRN_RETURN_IF_ERROR(member->second->Sync());
      members_.erase(member);
    }
    CAIRN_RETURN_IF_ERROR(PutAside(site_, name, entry));
  }
  for (const auto& [name, member] : members_) {
    if (member->is_prepared()) CAIRN_RETURN_IF_ERROR(member->Release());
    member->NoteListed(commit.number);
  }
  for (const AddedMember& added : commit.added) {
    CAIRN_RETURN_IF_ERROR(PlaceFile(site_, added.name, added.entry));
  }
  edited_.clear();
  added_.clear();
  removed_.clear();
  return absl::OkStatus();
}

// Readers and the ledger need the old file until the commit.
absl::Status Staging::Replace(const Member& member) {
  CAIRN_RETURN_IF_ERROR(StageContent(member.snapshot(), member.kind(), member.name()));
  added_.find(member.name())->second.replaces = true;
  removed_.emplace(member.name(), table().members.find(member.name())->second);
  return absl::OkStatus();
}

}  // namespace cairn::collection
