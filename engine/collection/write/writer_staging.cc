// The part of WriterCore that stages edits. Nothing leads to what it writes before a commit.
#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"

#include "engine/base/random.h"
#include "engine/base/status.h"
#include "engine/collection/ledger/ledger_history.h"
#include "engine/collection/ledger/member_name.h"
#include "engine/collection/members/member_files.h"
#include "engine/collection/write/writer_core.h"
#include "engine/collection/write/writer_files.h"
#include "engine/frame/files/copy_files.h"
#include "engine/storage/descriptor_room.h"

namespace cairn::collection {

absl::Status WriterCore::CheckIsThere(std::string_view name) const {
  if (ledger_.table.members.contains(name) && !removed_.contains(name)) return absl::OkStatus();
  return NotFound("%s: no member of the collection %s", name.substr(0, 256), site_->root);
}

absl::Status WriterCore::MakeRoom(std::string_view name) {
  if (storage::FindDescriptorRoom(kLeastRoom).left >= kLeastRoom) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(Need(CloseSome(0)));
  const storage::DescriptorRoom room = storage::FindDescriptorRoom(kLeastRoom);
  if (room.left >= kLeastRoom) return absl::OkStatus();
  return ResourceExhausted(
      "%s: too many open files: %d members of %s are edited or new, and the process may open %d "
      "files; commit these members first, or raise the limit (ulimit -n)",
      name, edited_.size() + added_.size(), site_->root, room.limit);
}

// The caller has made room.
absl::StatusOr<Member*> WriterCore::OpenMember(std::string_view name) {
  auto member = members_.find(name);
  if (member == members_.end()) {
    CAIRN_RETURN_IF_ERROR(CheckIsCurrent(*site_, *ledger_file_));
    const MemberEntry& entry = ledger_.table.members.find(name)->second;
    auto retention = std::make_shared<Retention>(ledger_file_, GenerationsOf(name, ledger_.table));
    absl::StatusOr<std::unique_ptr<Member>> opened =
        Member::Open(*site_, name, entry, std::move(retention), options_);
    if (!opened.ok()) return AtPath(site_->PathOf(name, entry.kind), opened.status());
    member = members_.emplace(std::string(name), *std::move(opened)).first;
  }
  return member->second.get();
}

absl::StatusOr<Writer*> WriterCore::Edit(std::string_view name) {
  CAIRN_RETURN_IF_ERROR(unusable_);
  if (const auto added = added_.find(name); added != added_.end()) return &added->second.writer;
  CAIRN_RETURN_IF_ERROR(CheckIsThere(name));
  if (!members_.contains(name)) CAIRN_RETURN_IF_ERROR(MakeRoom(name));
  CAIRN_ASSIGN_OR_RETURN(Member* const member, OpenMember(name));
  edited_.insert(member->name());
  return &member->writer();
}

absl::StatusOr<Writer*> WriterCore::Add(std::string_view name, const CreateOptions& options) {
  CAIRN_RETURN_IF_ERROR(unusable_);
  CAIRN_RETURN_IF_ERROR(CheckIsNew(*site_, name, CheckIsThere(name).ok() || added_.contains(name)));
  CAIRN_RETURN_IF_ERROR(CheckHasNoFile(*site_, name, removed_));
  CAIRN_RETURN_IF_ERROR(MakeRoom(name));
  const MemberEntry entry = {.id = RandomNumber(), .kind = KindOf(options)};
  const std::string path = site_->AsidePath(name, entry.id);
  CAIRN_RETURN_IF_ERROR(CheckIsCurrent(*site_, *ledger_file_));
  CAIRN_RETURN_IF_ERROR(MakeDirectories(*site_, DirectoryOf(path)));
  CreateOptions own = options;
  own.layout = Layout::kContiguous;
  own.overwrite = false;
  own.file_system = FilesOfWriters(site_->files);
  CAIRN_ASSIGN_OR_RETURN(Writer writer, Frame::BeginCreate(path, own));
  NewMember member = {.entry = entry, .path = path, .writer = std::move(writer)};
  return &added_.emplace(std::string(name), std::move(member)).first->second.writer;
}

absl::Status WriterCore::Remove(std::string_view name) {
  CAIRN_RETURN_IF_ERROR(unusable_);
  if (const auto added = added_.find(name); added != added_.end()) {
    const std::string path = added->second.path;
    added_.erase(added);
    return RemoveAside(*site_, path);
  }
  CAIRN_RETURN_IF_ERROR(CheckIsThere(name));
  const auto listed = ledger_.table.members.find(name);
  if (const auto member = members_.find(name); member != members_.end()) {
    member->second->Rollback();
    edited_.erase(member->first);
  }
  removed_.emplace(listed->first, listed->second);
  return absl::OkStatus();
}

absl::Status WriterCore::Copy(std::string_view from, std::string_view to) {
  CAIRN_RETURN_IF_ERROR(unusable_);
  if (edited_.contains(from) || added_.contains(from)) {
    return FailedPrecondition("%s: edits of the member are staged; commit them first", from);
  }
  CAIRN_RETURN_IF_ERROR(CheckIsThere(from));
  // There is enough for the member and its copy.
  CAIRN_RETURN_IF_ERROR(MakeRoom(to));
  CAIRN_ASSIGN_OR_RETURN(const Member* const member, OpenMember(from));
  if (from != to) {
    CAIRN_RETURN_IF_ERROR(CheckIsNew(*site_, to, CheckIsThere(to).ok() || added_.contains(to)));
    CAIRN_RETURN_IF_ERROR(CheckHasNoFile(*site_, to, removed_));
  }
  CAIRN_RETURN_IF_ERROR(StageContent(member->snapshot(), member->kind(), to));
  // Readers and the ledger need the old file until the commit.
  if (from == to) removed_.insert(*ledger_.table.members.find(from));
  return absl::OkStatus();
}

absl::Status WriterCore::AddCopy(std::string_view name, MemberKind kind, const Snapshot& content) {
  CAIRN_RETURN_IF_ERROR(unusable_);
  CAIRN_RETURN_IF_ERROR(CheckIsNew(*site_, name, CheckIsThere(name).ok() || added_.contains(name)));
  CAIRN_RETURN_IF_ERROR(CheckHasNoFile(*site_, name, removed_));
  CAIRN_RETURN_IF_ERROR(MakeRoom(name));
  return StageContent(content, kind, name);
}

// Copies the snapshot to a file that lies aside.
absl::Status WriterCore::StageContent(const Snapshot& content, MemberKind kind,
                                      std::string_view to) {
  const MemberEntry entry = {.id = RandomNumber(), .kind = kind};
  const std::string path = site_->AsidePath(to, entry.id);
  CAIRN_RETURN_IF_ERROR(CheckIsCurrent(*site_, *ledger_file_));
  CAIRN_RETURN_IF_ERROR(MakeDirectories(*site_, DirectoryOf(path)));
  CopyOptions copying;
  copying.file_system = FilesOfWriters(
      frame::FilesForCopyOf(frame::HandleAccess::StateOf(content).env()->location, site_->files));
  absl::Status copied = content.CopyTo(path, copying);
  if (copied.ok()) {
    OpenOptions open = site_->MemberOptions();
    open.use_mmap = false;
    open.file_system = FilesOfWriters(site_->files);
    CAIRN_ASSIGN_OR_RETURN(Frame frame, Frame::Open(path, open));
    absl::StatusOr<Writer> writer = frame.OpenWriter();
    copied = writer.status();
    if (writer.ok()) {
      added_.emplace(std::string(to),
                     NewMember{.entry = entry, .path = path, .writer = *std::move(writer)});
    }
  }
  if (!copied.ok()) RemoveAside(*site_, path).IgnoreError();
  return copied;
}

// Drops what is staged. A member whose commit was prepared is opened again when it is needed.
void WriterCore::DropStaged() {
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
  for (const std::string& path : dropped) RemoveAside(*site_, path).IgnoreError();
}

void WriterCore::Rollback() {
  if (unusable_.ok()) DropStaged();
}

}  // namespace cairn::collection
