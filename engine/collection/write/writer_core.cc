#include "engine/collection/write/writer_core.h"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/base/status.h"
#include "engine/collection/members/member_files.h"
#include "engine/collection/members/member_reader.h"
#include "engine/collection/write/for_each.h"
#include "engine/frame/api/handle_access.h"
#include "engine/storage/descriptor_room.h"

namespace cairn::collection {

namespace {

// The ledger gets a checkpoint when the commits after the last one have this many bytes, and more
// than eight tables.
constexpr int64_t kLongLedger = 4 << 20;
constexpr int64_t kEntrySize = 64;  // of a table, about
// At most this many members stay open between commits, and fewer if the process may open few files.
// A member takes three.
size_t MaxOpen() {
  constexpr int64_t kMaxOpen = 128;
  constexpr int64_t kPart = 16;  // of the limit
  return static_cast<size_t>(
      std::clamp<int64_t>(storage::FindDescriptorRoom(0).limit / kPart, 1, kMaxOpen));
}

Snapshot NewestOf(const frame::FrameCore& core) { return frame::HandleAccess::Make(core.newest()); }

absl::Status ForEachMember(const std::vector<Member*>& members,
                           absl::FunctionRef<absl::Status(Member&)> work) {
  return ForEachOf(members.size(), [&](size_t i) { return work(*members[i]); });
}

using OpenMembers = std::map<std::string, std::unique_ptr<Member>, std::less<>>;

absl::Status CheckpointLongOnes(const OpenMembers& members) {
  for (const auto& [name, member] : members) {
    CAIRN_RETURN_IF_ERROR(member->CheckpointIfDue(false));
  }
  return absl::OkStatus();
}

// Returns true if the ledger is due for a checkpoint. `snapshot` is its newest state.
bool IsLedgerLong(const Ledger& ledger, const Snapshot& snapshot) {
  const auto members = static_cast<int64_t>(ledger.table.members.size());
  // A commit that became a checkpoint would be lost with the next one, if that is one, too.
  const bool is_checkpoint = PositionOf(snapshot).checkpoint;
  return is_checkpoint || ledger.commit_bytes > std::max(kLongLedger, 8 * kEntrySize * members);
}

}  // namespace

absl::Status WriterCore::Need(absl::Status status) {
  if (!status.ok() && unusable_.ok()) {
    unusable_ = FailedPrecondition("an earlier step failed: %s", status.message());
  }
  return status;
}

absl::StatusOr<uint64_t> WriterCore::Commit(bool lists_checkpoints) {
  CAIRN_RETURN_IF_ERROR(unusable_);
  CAIRN_RETURN_IF_ERROR(Need(CheckIsCurrent(*site_, *ledger_file_)));
  LedgerCommit commit{.number = ledger_.table.number + 1};
  for (const auto& [name, entry] : removed_) commit.removed.push_back(name);
  // 1. Nothing leads to what this writes.
  absl::Status staged = WriteNewMembers(commit);
  if (staged.ok()) staged = PrepareMembers(commit);
  if (!staged.ok()) {
    DropStaged();
    return staged;
  }
  const bool is_listed = !lists_checkpoints || std::ranges::none_of(members_, [](const auto& each) {
    return each.second->Unlisted().has_value();
  });
  const bool changes = !commit.removed.empty() || !commit.added.empty() || !commit.parts.empty();
  if (is_listed && !changes) {
    edited_.clear();
    return ledger_.table.number;
  }
  CAIRN_RETURN_IF_ERROR(Decide(commit));
  // The commit stands. A later step that fails stops the writer.
  const uint64_t number = commit.number;
  if (Need(AfterLedger(commit)).ok() && Need(CheckpointLongOnes(members_)).ok() &&
      Need(CloseSome(MaxOpen())).ok() && IsLedgerLong(ledger_, NewestOf(*ledger_core_))) {
    Need(CheckpointLedger()).IgnoreError();
  }
  return number;
}

// Closes members that were not changed for long, if more than `most` are open. The ledger's
// checkpoint no longer knows that they need a sync.
absl::Status WriterCore::CloseSome(size_t most) {
  if (members_.size() <= most) return absl::OkStatus();
  std::vector<const Member*> idle;
  for (const auto& [name, member] : members_) {
    const bool is_idle = !edited_.contains(name) && !member->Unlisted().has_value();
    if (is_idle) idle.push_back(member.get());
  }
  std::ranges::sort(idle, {}, &Member::last_change);
  idle.resize(std::min(idle.size(), members_.size() - most / 2));
  const std::set<const Member*> closed(idle.begin(), idle.end());
  CAIRN_RETURN_IF_ERROR(
      SyncMembers([&](const Member& member) { return closed.contains(&member); }));
  std::erase_if(members_, [&](const auto& each) { return closed.contains(each.second.get()); });
  return absl::OkStatus();
}

absl::Status WriterCore::WriteNewMembers(LedgerCommit& commit) {
  std::vector<NewMember*> members;
  std::set<std::string> directories;
  for (auto& [name, added] : added_) {
    members.push_back(&added);
    directories.insert(std::string(DirectoryOf(added.path)));
  }
  CAIRN_RETURN_IF_ERROR(ForEachOf(members.size(), [&](size_t i) -> absl::Status {
    CAIRN_RETURN_IF_ERROR(members[i]->writer.Checkpoint());
    CAIRN_RETURN_IF_ERROR(members[i]->writer.Close());
    CAIRN_ASSIGN_OR_RETURN(const Frame frame,
                           Frame::Open(members[i]->path, site_->MemberOptions()));
    members[i]->entry.position = PositionOf(frame.snapshot());
    return absl::OkStatus();
  }));
  for (const std::string& directory : directories) {
    CAIRN_RETURN_IF_ERROR(site_->files->SyncDirectoryOf(directory + "/any"));
  }
  for (const auto& [name, added] : added_) {
    commit.added.push_back({.name = name, .entry = added.entry});
  }
  return absl::OkStatus();
}

absl::Status WriterCore::PrepareMembers(LedgerCommit& commit) {
  for (const std::string& name : edited_) {
    Member& member = *members_.at(name);
    CAIRN_ASSIGN_OR_RETURN(const bool changes, member.Prepare());
    if (changes) commit.parts.push_back(member.PreparedPart());
  }
  return absl::OkStatus();
}

// 2. Syncs what the ledger gets no copy of, and lets the ledger decide.
absl::Status WriterCore::Decide(LedgerCommit& commit) {
  for (const auto& [name, member] : members_) {
    const bool is_there = member->is_prepared() || removed_.contains(name);
    std::optional<MemberPart> unlisted = is_there ? std::nullopt : member->Unlisted();
    if (unlisted.has_value()) commit.parts.push_back(*std::move(unlisted));
  }
  CAIRN_RETURN_IF_ERROR(Need(SyncMembers(
      [](const Member& member) { return member.is_prepared() && member.needs_sync(); })));
  const std::vector<std::byte> layer = EncodeCommit(commit);
  absl::StatusOr<bool> prepared = PrepareLedger(layer);
  // A commit that becomes a checkpoint takes the place of those before, so the table must have
  // them.
  if (prepared.ok() && *prepared && !ledger_.commits.empty()) {
    ledger_writer_.Rollback();
    CAIRN_RETURN_IF_ERROR(Need(CheckpointLedger()));
    prepared = PrepareLedger(layer);
  }
  if (!prepared.ok()) {
    ledger_writer_.Rollback();
    DropStaged();
    return prepared.status();
  }
  const absl::StatusOr<Snapshot> committed = ledger_writer_.Commit(Durability::kMachine);
  if (!committed.ok()) return Need(committed.status());
  return Need(ledger_.AddOwn(commit, *committed));
}

// Returns true if the commit will be a checkpoint, for lack of room. Only then bytes are written.
absl::StatusOr<bool> WriterCore::PrepareLedger(Bytes layer) {
  ledger_held_->ForgetStaged();
  CAIRN_RETURN_IF_ERROR(ledger_writer_.SetVlmetalayer(kCommitLayer, layer));
  CAIRN_RETURN_IF_ERROR(ledger_writer_.Prepare(Durability::kProcess));
  return ledger_held_->needs_sync() || !ledger_held_->Patches().empty();
}

// 3. Writes what waited for the decision. 4. Then names follow.
absl::Status WriterCore::AfterLedger(const LedgerCommit& commit) {
  for (const auto& [name, entry] : removed_) {
    const auto member = members_.find(name);
    if (member != members_.end()) {
      // The ledger's next checkpoint will not know that commits which are kept need the file.
      if (ledger_.table.keep > 0) CAIRN_RETURN_IF_ERROR(member->second->Sync());
      members_.erase(member);
    }
    CAIRN_RETURN_IF_ERROR(PutAside(*site_, name, entry));
  }
  for (const auto& [name, member] : members_) {
    if (member->is_prepared()) CAIRN_RETURN_IF_ERROR(member->Release());
    member->NoteListed(commit.number);
  }
  for (const AddedMember& added : commit.added) {
    CAIRN_RETURN_IF_ERROR(PlaceFile(*site_, added.name, added.entry));
  }
  for (const auto& [name, added] : added_) NoteNames(name);
  for (const auto& [name, entry] : removed_) {
    aside_.Add(site_->AsidePath(name, entry.id), commit.number);
    NoteNames(name);
  }
  edited_.clear();
  added_.clear();
  removed_.clear();
  if (ledger_.table.keep > 0) {
    CAIRN_RETURN_IF_ERROR(kept_.Hold(*site_, ledger_.table.oldest_kept()));
  }
  return aside_.RemoveUnread(*site_, *ledger_file_);
}

// Takes note that names next to this member's have changed.
void WriterCore::NoteNames(std::string_view member) {
  changed_directories_.insert(site_->root + std::string(DirectoryOf(member)));
}

absl::Status WriterCore::SyncMembers(absl::FunctionRef<bool(const Member&)> which) const {
  std::vector<Member*> members;
  for (const auto& [name, member] : members_) {
    if (which(*member)) members.push_back(member.get());
  }
  return ForEachMember(members, [](const Member& member) { return member.Sync(); });
}

// Members and names are synced first, because the ledger's checkpoint drops its copies.
absl::Status WriterCore::CheckpointLedger() {
  std::set<std::string_view> named;
  for (const auto& commit : ledger_.commits) {
    for (const MemberPart& part : commit->parts) named.insert(part.name);
  }
  CAIRN_RETURN_IF_ERROR(
      SyncMembers([&](const Member& member) { return named.contains(member.name()); }));
  for (const std::string& path : changed_directories_) {
    const absl::Status synced = site_->files->SyncDirectoryOf(path + "/any");
    if (!absl::IsNotFound(synced)) CAIRN_RETURN_IF_ERROR(synced);  // the group may be gone
  }
  changed_directories_.clear();
  CAIRN_RETURN_IF_ERROR(ledger_writer_.SetVlmetalayer(kTableLayer, EncodeTable(ledger_.table)));
  if (NewestOf(*ledger_core_).HasVlmetalayer(kCommitLayer)) {
    CAIRN_RETURN_IF_ERROR(ledger_writer_.DeleteVlmetalayer(kCommitLayer));
  }
  CAIRN_RETURN_IF_ERROR(ledger_writer_.Checkpoint());
  CAIRN_RETURN_IF_ERROR(ledger_.BeginAfter(NewestOf(*ledger_core_)));
  return aside_.RemoveUnread(*site_, *ledger_file_);
}

absl::StatusOr<bool> WriterCore::HasWaiters() const {
  CAIRN_RETURN_IF_ERROR(unusable_);
  return ledger_writer_.HasWaiters();
}

// A member that is damaged stays as it is, and all others become complete.
absl::Status WriterCore::Close() {
  absl::Status damage;
  CAIRN_RETURN_IF_ERROR(Commit().status());
  CAIRN_RETURN_IF_ERROR(unusable_);
  std::vector<std::string> journaled;
  for (const auto& [name, entry] : ledger_.table.members) {
    if (!entry.position.checkpoint) journaled.push_back(name);
  }
  const size_t max_open = MaxOpen();
  std::vector<Member*> due;
  const auto checkpoint = [&]() -> absl::Status {
    const auto work = [](Member& member) { return member.CheckpointIfDue(true); };
    CAIRN_RETURN_IF_ERROR(Need(ForEachMember(std::exchange(due, {}), work)));
    return Commit(true).status();
  };
  for (const std::string& name : journaled) {
    if (members_.size() + added_.size() > max_open ||
        storage::FindDescriptorRoom(kLeastRoom).left < kLeastRoom) {
      CAIRN_RETURN_IF_ERROR(checkpoint());
      CAIRN_RETURN_IF_ERROR(Need(CloseSome(max_open)));
      CAIRN_RETURN_IF_ERROR(MakeRoom(name));
    }
    const absl::StatusOr<Member*> opened = OpenMember(name);
    if (IsDamageOf(opened.status())) {
      if (damage.ok()) damage = opened.status();
      continue;
    }
    CAIRN_RETURN_IF_ERROR(opened.status());
    Member* const member = *opened;
    if (member->NeedsNewFile()) {
      const absl::Status copied = StageContent(member->snapshot(), member->kind(), name);
      if (!copied.ok()) DropStaged();
      CAIRN_RETURN_IF_ERROR(copied);
      removed_.emplace(name, ledger_.table.members.at(name));
    } else {
      due.push_back(member);
    }
  }
  CAIRN_RETURN_IF_ERROR(checkpoint());
  CAIRN_RETURN_IF_ERROR(unusable_);
  CAIRN_RETURN_IF_ERROR(Need(CheckpointLedger()));
  members_.clear();
  CAIRN_RETURN_IF_ERROR(Need(ledger_writer_.Close()));
  kept_.LetGo();
  unusable_ = FailedPrecondition("the writer is closed");
  return damage;
}

}  // namespace cairn::collection
