#include "engine/collection/write/writer_core.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "engine/collection/members/member_files.h"
#include "engine/collection/write/for_each.h"
#include "engine/collection/write/redo.h"
#include "engine/storage/descriptor_room.h"

namespace cairn::collection {

absl::StatusOr<Writer*> WriterCore::Edit(std::string_view name) {
  CAIRN_RETURN_IF_ERROR(failure_.status());
  return staging_.Edit(name);
}

absl::StatusOr<Writer*> WriterCore::Add(std::string_view name, const CreateOptions& options) {
  CAIRN_RETURN_IF_ERROR(failure_.status());
  return staging_.Add(name, options);
}

absl::Status WriterCore::Remove(std::string_view name) {
  CAIRN_RETURN_IF_ERROR(failure_.status());
  return staging_.Remove(name);
}

absl::Status WriterCore::Copy(std::string_view from, std::string_view to) {
  CAIRN_RETURN_IF_ERROR(failure_.status());
  return staging_.Copy(from, to);
}

absl::Status WriterCore::AddCopy(std::string_view name, MemberKind kind, const Snapshot& content) {
  CAIRN_RETURN_IF_ERROR(failure_.status());
  return staging_.AddCopy(name, kind, content);
}

void WriterCore::Rollback() {
  if (failure_.ok()) staging_.Drop();
}

absl::StatusOr<uint64_t> WriterCore::Commit(bool lists_checkpoints) {
  CAIRN_RETURN_IF_ERROR(failure_.status());
  CAIRN_RETURN_IF_ERROR(failure_.Need(CheckIsCurrent(*site_, *ledger_->file())));
  LedgerCommit commit{.number = table().number + 1};
  // 1. Nothing leads to what this writes.
  if (absl::Status staged = staging_.Prepare(commit); !staged.ok()) {
    staging_.Drop();
    return staged;
  }
  const bool is_listed =
      !lists_checkpoints || std::ranges::none_of(staging_.members(), [](const auto& each) {
        return each.second->Unlisted().has_value();
      });
  const bool changes = !commit.removed.empty() || !commit.added.empty() || !commit.parts.empty();
  if (is_listed && !changes) {
    staging_.ForgetEdited();
    return table().number;
  }
  CAIRN_RETURN_IF_ERROR(Decide(commit));
  // The commit stands. A later step that fails stops the writer.
  if (failure_.Need(AfterLedger(commit)).ok()) failure_.Need(Maintain()).IgnoreError();
  return commit.number;
}

// 2. Syncs what the ledger gets no copy of, and lets the ledger decide.
absl::Status WriterCore::Decide(LedgerCommit& commit) {
  for (const auto& [name, member] : staging_.members()) {
    const bool is_there = member->is_prepared() || staging_.removed().contains(name);
    std::optional<MemberPart> unlisted = is_there ? std::nullopt : member->Unlisted();
    if (unlisted.has_value()) commit.parts.push_back(*std::move(unlisted));
  }
  CAIRN_RETURN_IF_ERROR(failure_.Need(staging_.Sync(
      [](const Member& member) { return member.is_prepared() && member.needs_sync(); })));
  absl::StatusOr<bool> prepared = ledger_->Prepare(commit);
  // A commit that becomes a checkpoint takes the place of those before, so the table must have
  // them.
  if (prepared.ok() && *prepared && !ledger_->ledger().commits.empty()) {
    ledger_->Rollback();
    CAIRN_RETURN_IF_ERROR(failure_.Need(CheckpointLedger()));
    prepared = ledger_->Prepare(commit);
  }
  if (!prepared.ok()) {
    ledger_->Rollback();
    staging_.Drop();
    return prepared.status();
  }
  return failure_.Need(ledger_->Commit(commit));
}

// 3. Writes what waited for the decision. 4. Then names follow.
absl::Status WriterCore::AfterLedger(const LedgerCommit& commit) {
  for (const auto& [name, added] : staging_.added()) changed_names_.Note(name);
  for (const auto& [name, entry] : staging_.removed()) {
    aside_.Add(*site_, name, entry.id, commit.number, table());
    changed_names_.Note(name);
  }
  CAIRN_RETURN_IF_ERROR(staging_.Release(commit));
  if (table().keep > 0) CAIRN_RETURN_IF_ERROR(kept_.Hold(*site_, table().oldest_kept()));
  return aside_.RemoveUnread(*site_, *ledger_->file(), table().oldest_kept());
}

// Writes checkpoints where journals are long.
absl::Status WriterCore::Maintain() {
  for (const auto& [name, member] : staging_.members()) {
    CAIRN_RETURN_IF_ERROR(member->CheckpointIfDue(false));
  }
  CAIRN_RETURN_IF_ERROR(staging_.CloseSome(MaxOpenMembers()));
  if (!ledger_->IsLong()) return absl::OkStatus();
  const absl::Status settled = Settle();
  // A member that is damaged needs the copies. Who opens the collection alone is told of it.
  if (is_shared_ && IsDamageOf(settled)) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(settled);
  return WriteLedger();
}

// A member that the only writer closes was synced before. With several writers, one whose sync has
// failed, or who was killed, may have left any member in the page cache alone.
absl::Status WriterCore::Settle() {
  if (is_shared_) {
    return RedoMembers(*site_, ledger_->ledger(), {.beside_others = !gate_->is_alone()},
                       [&](std::string_view name) -> const Member* {
                         const auto own = staging_.members().find(name);
                         return own == staging_.members().end() ? nullptr : own->second.get();
                       });
  }
  std::set<std::string_view> named;
  for (const auto& commit : ledger_->ledger().commits) {
    for (const MemberPart& part : commit->parts) named.insert(part.name);
  }
  return staging_.Sync([&](const Member& member) { return named.contains(member.name()); });
}

// Members and names are synced first, because the ledger's checkpoint drops its copies.
absl::Status WriterCore::CheckpointLedger() {
  CAIRN_RETURN_IF_ERROR(Settle());
  return WriteLedger();
}

absl::Status WriterCore::WriteLedger() {
  CAIRN_RETURN_IF_ERROR(changed_names_.Sync(*site_));
  CAIRN_RETURN_IF_ERROR(ledger_->WriteCheckpoint());
  return aside_.RemoveUnread(*site_, *ledger_->file(), table().oldest_kept());
}

absl::StatusOr<bool> WriterCore::HasWaiters() const {
  CAIRN_RETURN_IF_ERROR(failure_.status());
  CAIRN_ASSIGN_OR_RETURN(const bool at_gate, gate_->HasWaiters());
  return at_gate ? absl::StatusOr<bool>(true) : ledger_->HasWaiters();
}

// A member that is damaged stays as it is, and all others become complete.
absl::Status WriterCore::Close() {
  absl::Status damage;
  CAIRN_RETURN_IF_ERROR(Commit().status());
  CAIRN_RETURN_IF_ERROR(failure_.status());
  std::vector<std::string> journaled;
  for (const auto& [name, entry] : table().members) {
    if (!entry.position.checkpoint) journaled.push_back(name);
  }
  const size_t max_open = MaxOpenMembers();
  std::vector<Member*> due;
  const auto checkpoint = [&]() -> absl::Status {
    const std::vector<Member*> members = std::exchange(due, {});
    CAIRN_RETURN_IF_ERROR(failure_.Need(
        ForEachOf(members.size(), [&](size_t i) { return members[i]->CheckpointIfDue(true); })));
    return Commit(true).status();
  };
  for (const std::string& name : journaled) {
    if (staging_.members().size() + staging_.added().size() > max_open ||
        storage::FindDescriptorRoom(kLeastRoom).left < kLeastRoom) {
      CAIRN_RETURN_IF_ERROR(checkpoint());
      CAIRN_RETURN_IF_ERROR(failure_.Need(staging_.CloseSome(max_open)));
      CAIRN_RETURN_IF_ERROR(staging_.MakeRoom(name));
    }
    const absl::StatusOr<Member*> opened = staging_.OpenMember(name);
    if (IsDamageOf(opened.status())) {
      if (damage.ok()) damage = opened.status();
      continue;
    }
    CAIRN_RETURN_IF_ERROR(opened.status());
    Member* const member = *opened;
    if (member->NeedsNewFile()) {
      const absl::Status replaced = staging_.Replace(*member);
      if (!replaced.ok()) staging_.Drop();
      CAIRN_RETURN_IF_ERROR(replaced);
    } else {
      due.push_back(member);
    }
  }
  CAIRN_RETURN_IF_ERROR(checkpoint());
  CAIRN_RETURN_IF_ERROR(failure_.status());
  CAIRN_RETURN_IF_ERROR(failure_.Need(CheckpointLedger()));
  staging_.CloseAll();
  CAIRN_RETURN_IF_ERROR(failure_.Need(ledger_->Close()));
  kept_.LetGo();
  gate_->Leave();
  failure_.Close();
  return damage;
}

}  // namespace cairn::collection
