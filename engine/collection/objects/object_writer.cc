#include "engine/collection/objects/object_writer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"

#include "engine/base/status.h"
#include "engine/collection/ledger/member_name.h"
#include "engine/collection/objects/checkpoint_policy.h"
#include "engine/collection/objects/collect_objects.h"
#include "engine/collection/objects/known_copies.h"
#include "engine/collection/objects/member_copy.h"
#include "engine/format/sparse_names.h"
#include "engine/frame/api/handle_access.h"
#include "engine/frame/layout/object_record.h"
#include "engine/frame/writer/frame_writer.h"

namespace cairn::collection {

namespace {

using frame::HandleAccess;

// At most this many members stay open between commits.
constexpr size_t kMaxOpenMembers = 128;

absl::Status Collides(std::string_view member, std::string_view what) {
  return absl::AbortedError(
      absl::StrFormat("%s: another writer's commit came before: %s", member, what));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ObjectWriter>> ObjectWriter::Open(
    std::shared_ptr<const Site> site, std::shared_ptr<ObjectLedger> ledger,
    const CollectionWriterOptions& options) {
  ObjectLedger::Copy copy = ledger->CopyNewest();
  const uint64_t journal_base = copy.core->newest()->journal->base;
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<frame::FrameWriter> writer, OpenWriter(copy.core, {}));
  if (copy.core->newest()->journal->base != journal_base) return IsAnother(*site);
  std::unique_ptr<ObjectWriter> opened(
      new ObjectWriter(std::move(site), options.members, std::move(ledger), std::move(copy.core),
                       HandleAccess::Make(std::move(writer)), *copy.ledger));
  CAIRN_RETURN_IF_ERROR(opened->ReadCommits());
  return opened;
}

absl::Status ObjectWriter::CheckIsThere(std::string_view name) const {
  if (ledger_.table.members.contains(name) && !removed_.contains(name)) return absl::OkStatus();
  return NotFound("%s: no member of the collection %s", name.substr(0, 256), site_->root);
}

// A member that is not edited may be behind the ledger, or ahead of it after a checkpoint that
// failed, or another one may have its name.
absl::StatusOr<ObjectMember*> ObjectWriter::OpenMember(std::string_view name) {
  auto member = members_.find(name);
  if (member != members_.end() && !edited_.contains(name)) {
    const MemberEntry& listed = ledger_.table.members.find(name)->second;
    if (member->second->entry().id != listed.id || !member->second->Restart().ok()) {
      members_.erase(member);
      member = members_.end();
    }
  }
  if (member == members_.end()) {
    CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<ObjectMember> opened,
                           ObjectMember::Open(*site_, name, ledger_, options_));
    member = members_.emplace(std::string(name), std::move(opened)).first;
  }
  return member->second.get();
}

absl::StatusOr<Writer*> ObjectWriter::Edit(std::string_view name) {
  CAIRN_RETURN_IF_ERROR(unusable_);
  if (const auto added = added_.find(name); added != added_.end()) return &added->second->writer();
  CAIRN_RETURN_IF_ERROR(CheckIsThere(name));
  CAIRN_ASSIGN_OR_RETURN(ObjectMember* const member, OpenMember(name));
  edited_.insert(member->name());
  return &member->writer();
}

// A group that has members belongs to this collection.
absl::Status ObjectWriter::CheckGroups(std::string_view name) const {
  const MemberTable& members = ledger_.table.members;
  for (size_t end = name.find('/', 1); end != name.npos; end = name.find('/', end + 1)) {
    const std::string_view group = name.substr(0, end + 1);
    const auto first = members.lower_bound(group);
    if (first != members.end() && std::string_view(first->first).starts_with(group)) continue;
    const std::string inner = site_->root + std::string(group) + std::string(kLedgerName) + "/";
    const absl::Status there =
        site_->files->ObjectsIn(inner).store->Head(std::string(format::kIndexFileName)).status();
    if (there.ok()) return IsOfInner(inner);
    if (!absl::IsNotFound(there)) return there;
  }
  return absl::OkStatus();
}

absl::StatusOr<Writer*> ObjectWriter::Add(std::string_view name, const CreateOptions& options) {
  CAIRN_RETURN_IF_ERROR(unusable_);
  CAIRN_RETURN_IF_ERROR(CheckIsNew(*site_, name, CheckIsThere(name).ok() || added_.contains(name)));
  CAIRN_RETURN_IF_ERROR(CheckGroups(name));
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<ObjectMember> member,
                         ObjectMember::Create(*site_, name, options));
  return &added_.emplace(std::string(name), std::move(member)).first->second->writer();
}

absl::Status ObjectWriter::Remove(std::string_view name) {
  CAIRN_RETURN_IF_ERROR(unusable_);
  if (const auto added = added_.find(name); added != added_.end()) {
    added_.erase(added);
    return absl::OkStatus();
  }
  CAIRN_RETURN_IF_ERROR(CheckIsThere(name));
  const auto listed = ledger_.table.members.find(name);
  if (const auto edited = edited_.find(name); edited != edited_.end()) {
    members_.erase(*edited);
    edited_.erase(edited);
  }
  removed_.emplace(listed->first, listed->second);
  return absl::OkStatus();
}

absl::Status ObjectWriter::Copy(std::string_view from, std::string_view to) {
  CAIRN_RETURN_IF_ERROR(unusable_);
  if (from != to)
    CAIRN_RETURN_IF_ERROR(CheckIsNew(*site_, to, CheckIsThere(to).ok() || added_.contains(to)));
  if (edited_.contains(from) || added_.contains(from)) {
    return FailedPrecondition("%s: edits of the member are staged; commit them first", from);
  }
  CAIRN_RETURN_IF_ERROR(CheckIsThere(from));
  if (from == to) {
    collects_ = true;
    return absl::OkStatus();
  }
  CAIRN_ASSIGN_OR_RETURN(const Snapshot member, OpenObjectMember(*site_, from, ledger_));
  return AddCopy(to, ledger_.table.members.find(from)->second.kind, member);
}

// The kind follows from the content.
absl::Status ObjectWriter::AddCopy(std::string_view name, MemberKind /*kind*/,
                                   const Snapshot& content) {
  CAIRN_ASSIGN_OR_RETURN(Writer* const copy, Add(name, content.create_options()));
  const absl::Status copied = CopyContent(content, *copy);
  if (!copied.ok()) added_.erase(added_.find(name));
  return copied;
}

absl::StatusOr<bool> ObjectWriter::HasWaiters() const {
  CAIRN_RETURN_IF_ERROR(unusable_);
  return false;
}

// Another writer may have committed since the edits were staged.
absl::Status ObjectWriter::CheckStaged() const {
  if (only_after_.has_value() && ledger_.table.number > *only_after_) {
    return Collides(site_->root, "this one may only follow the commit before");
  }
  const MemberTable& members = ledger_.table.members;
  for (const std::string& name : edited_) {
    const auto listed = members.find(name);
    if (listed == members.end() || listed->second.id != members_.at(name)->entry().id) {
      return Collides(name, "it removed the member");
    }
  }
  for (const auto& [name, entry] : removed_) {
    const auto listed = members.find(name);
    if (listed == members.end()) return Collides(name, "it removed the member, too");
    if (listed->second != entry) return Collides(name, "it changed the member");
  }
  for (const auto& [name, member] : added_) {
    if (members.contains(name) && !removed_.contains(name)) {
      return Collides(name, "it added such a member, too");
    }
  }
  return absl::OkStatus();
}

ObjectMember& ObjectWriter::StagedMember(std::string_view name) {
  const auto added = added_.find(name);
  return added == added_.end() ? *members_.find(name)->second : *added->second;
}

absl::Status ObjectWriter::Prepare(LedgerCommit& commit) {
  std::vector<NewObject> indexes;
  std::vector<ObjectMember*> staged;
  for (const auto& [name, entry] : removed_) commit.removed.push_back(name);
  for (const auto& [name, member] : added_) {
    const absl::Status begun = member->Begin(options_);
    if (!begun.ok()) return AtPath(name, begun);
    // Edits of an attempt that failed come as records.
    CAIRN_ASSIGN_OR_RETURN(indexes.emplace_back(), member->IndexObject());
    member->AddCopiesOfCheckpoint(*site_, /*with_chunks=*/true, commit.copies);
    commit.added.push_back({.name = name, .entry = member->entry()});
    staged.push_back(member.get());
  }
  CAIRN_RETURN_IF_ERROR(PutAll(indexes));
  for (const std::string& name : edited_) staged.push_back(members_.at(name).get());
  for (ObjectMember* const member : staged) {
    absl::StatusOr<std::optional<MemberPart>> part = member->Ask();
    if (!part.ok()) return AtPath(member->name(), part.status());
    if (!part->has_value()) continue;
    member->AddCopies(*site_, **part, commit.copies);
    commit.parts.push_back(**std::move(part));
  }
  commit.copies = LastCopies(std::move(commit.copies), kMaxCopiesOfCommit);
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> ObjectWriter::Commit() {
  CAIRN_RETURN_IF_ERROR(unusable_);
  CAIRN_ASSIGN_OR_RETURN(const uint64_t number, CommitStaged());
  // The commit stands. What fails now is tried again after a later one.
  const bool collects = std::exchange(collects_, false);
  if (unusable_.ok() && (collects || IsLong(ledger_))) TidyUp(collects).IgnoreError();
  ShowCollection();
  return number;
}

// After a failure the ledger may be ahead of what it lists here.
void ObjectWriter::ShowCollection() const {
  const frame::StatePtr newest = ledger_core_->newest();
  if (ledger_.generation == newest->generation()) shared_ledger_->Take(newest, ledger_);
}

absl::StatusOr<uint64_t> ObjectWriter::CommitStaged() {
  for (int tries = 0; tries < frame::kMostAttempts; ++tries) {
    CAIRN_RETURN_IF_ERROR(CheckStaged());
    LedgerCommit commit{.number = ledger_.table.number + 1};
    CAIRN_RETURN_IF_ERROR(Prepare(commit));
    if (commit.removed.empty() && commit.added.empty() && commit.parts.empty()) {
      edited_.clear();
      return ledger_.table.number;
    }
    const absl::Status decided = Decide(commit);
    if (decided.ok()) {
      // The commit stands. If a step after it fails, the writer stops.
      const absl::Status after = AfterLedger(commit);
      if (!after.ok()) Stop(after).IgnoreError();
      return commit.number;
    }
    if (!absl::IsAborted(decided)) return decided;
    frame::PauseBeforeAttempt(tries);
  }
  return absl::UnavailableError(absl::StrFormat("%s: other writers were first %d times in a row",
                                                site_->root, frame::kMostAttempts));
}

absl::Status ObjectWriter::Decide(const LedgerCommit& commit) {
  if (ledger_.generation != ledger_core_->newest()->generation()) {
    return absl::InternalError(site_->LedgerPath() + ": commits of other writers are not known");
  }
  absl::Status status = ledger_writer_.SetVlmetalayer(kCommitLayer, EncodeCommit(commit));
  if (status.ok()) status = ledger_writer_.Commit().status();
  return status.ok() ? ledger_.AddOwn(commit, HandleAccess::Make(ledger_core_->newest()))
                     : FollowLedger(status);
}

// Drops what the ledger did not take, and takes over what other writers have committed. Returns
// `status`, which says why. If nobody knows whether the ledger took it, the writer stops.
absl::Status ObjectWriter::FollowLedger(const absl::Status& status) {
  ledger_writer_.Rollback();
  absl::Status usable = ledger_writer_.Commit().status();  // of nothing
  if (usable.ok()) usable = Follow();
  if (usable.ok()) return status;
  return Stop(status.ok() ? usable : status);
}

// Leaves the chunks of staged edits in the store: a commit may name them.
absl::Status ObjectWriter::Stop(const absl::Status& failure) {
  unusable_ = FailedPrecondition("an earlier step failed: %s", failure.message());
  for (const auto& [name, member] : members_) member->Abandon();
  for (const auto& [name, member] : added_) member->Abandon();
  return failure;
}

absl::Status ObjectWriter::AfterLedger(const LedgerCommit& commit) {
  for (const MemberPart& part : commit.parts) {
    CAIRN_RETURN_IF_ERROR(StagedMember(part.name).Take(part));
  }
  for (const auto& [name, entry] : removed_) members_.erase(name);
  for (auto& [name, member] : added_) members_[name] = std::move(member);
  ShowFrames(commit);
  edited_.clear();
  added_.clear();
  removed_.clear();
  only_after_.reset();
  if (members_.size() > kMaxOpenMembers) members_.clear();
  return absl::OkStatus();
}

// Whoever opens members by themselves sees new ones, and no removed ones. Nothing depends on that.
void ObjectWriter::ShowFrames(const LedgerCommit& commit) {
  std::vector<ObjectMember*> made;
  for (const AddedMember& added : commit.added) made.push_back(members_.at(added.name).get());
  ObjectMember::PublishAll(made);
  for (const auto& [name, entry] : removed_) {
    if (added_.contains(name)) continue;
    const std::string index(format::kIndexFileName);
    site_->files->ObjectsIn(site_->PathOf(name, entry.kind))
        .store->Delete({&index, 1})
        .IgnoreError();
  }
}

absl::Status ObjectWriter::ReadCommits() {
  const auto before = std::make_shared<const Ledger>(ledger_);
  absl::StatusOr<std::shared_ptr<const Ledger>> ledger =
      ReadLedger(HandleAccess::Make(ledger_core_->newest()), before);
  if (!ledger.ok()) return AtPath(site_->LedgerPath(), ledger.status());
  KnowCopies(*site_, HandleAccess::Make(ledger_core_->newest()), **ledger, before.get());
  if (*ledger == before) return absl::OkStatus();
  ledger_ = **ledger;
  return absl::OkStatus();
}

// Takes over what the ledger's writer has seen. Others may have committed before its index was put.
absl::Status ObjectWriter::Follow() {
  CAIRN_RETURN_IF_ERROR(ReadCommits());
  for (auto member = members_.begin(); member != members_.end();) {
    const auto listed = ledger_.table.members.find(member->first);
    const bool is_there =
        listed != ledger_.table.members.end() && listed->second.id == member->second->entry().id;
    if (is_there) {
      member->second->Follow(listed->second, ledger_.PatchesOf(member->first, 0));
    }
    const bool is_kept = is_there || edited_.contains(member->first);
    member = is_kept ? std::next(member) : members_.erase(member);
  }
  ledger_.DropIndexed();
  return absl::OkStatus();
}

// Drops what is staged, and moves on to the newest commit. A member that cannot is opened again
// when it is needed.
void ObjectWriter::Rollback() {
  if (!unusable_.ok() || !FollowLedger(absl::OkStatus()).ok()) return;
  for (const std::string& name : edited_) {
    const auto member = members_.find(name);
    if (!member->second->Restart().ok()) members_.erase(member);
  }
  edited_.clear();
  added_.clear();
  removed_.clear();
  only_after_.reset();
}

absl::Status ObjectWriter::TidyUp(bool collects) {
  CAIRN_RETURN_IF_ERROR(Checkpoint());
  CAIRN_ASSIGN_OR_RETURN(const bool is_due, IsCollectionDue(*site_));
  if (!collects && !is_due) return absl::OkStatus();
  const auto follow = [&] { return FollowLedger(absl::OkStatus()); };
  return CollectObjects(*site_, ledger_, follow);
}

// Puts indexes of the members, and then the table that leads to them. Nothing is staged.
absl::Status ObjectWriter::Checkpoint() {
  if (ledger_.commits.empty()) return absl::OkStatus();
  const std::set<std::string> touched = Touched(ledger_);
  for (const std::string& name : touched) CAIRN_RETURN_IF_ERROR(OpenMember(name).status());
  absl::Status made = CheckpointMembers(touched);
  if (made.ok()) made = CheckpointLedger();
  std::vector<ObjectMember*> changed;
  for (const std::string& name : touched) {
    if (made.ok()) changed.push_back(members_.at(name).get());
  }
  ObjectMember::PublishAll(changed);
  return made;
}

absl::Status ObjectWriter::CheckpointMembers(const std::set<std::string>& names) {
  LedgerCommit commit{.number = ledger_.table.number + 1};
  for (const std::string& name : names) {
    CAIRN_ASSIGN_OR_RETURN(std::optional<MemberPart> part, members_.at(name)->Checkpoint());
    if (!part.has_value()) continue;
    members_.at(name)->AddCopies(*site_, *part, commit.copies);
    commit.parts.push_back(*std::move(part));
  }
  if (!commit.parts.empty()) {
    commit.copies = LastCopies(std::move(commit.copies), kMaxCopiesOfCommit);
    CAIRN_RETURN_IF_ERROR(Decide(commit));
    for (const MemberPart& part : commit.parts) members_.at(part.name)->NoteListed(part.position);
  }
  std::vector<NewObject> indexes;
  for (const std::string& name : names) {
    CAIRN_ASSIGN_OR_RETURN(indexes.emplace_back(), members_.at(name)->IndexObject());
  }
  return PutAll(indexes);
}

// The deletion of the last commit's layer collides with any commit that comes before this one, so
// the table is that of the place where its record is.
absl::Status ObjectWriter::CheckpointLedger() {
  absl::Status status = ledger_writer_.SetVlmetalayer(kTableLayer, EncodeTable(ledger_.table));
  const std::set<std::string> touched = Touched(ledger_);
  ObjectCopies copies = CopiesOfCheckpoint(
      HandleAccess::Make(ledger_core_->newest()), ledger_, touched,
      [this](const std::string& name) { return members_.at(name)->ChunkFiles(); });
  for (const std::string& name : touched) {
    members_.at(name)->AddCopiesOfCheckpoint(*site_, /*with_chunks=*/false, copies);
  }
  copies = LastCopies(std::move(copies), kMaxCopiesOfCheckpoint);
  if (status.ok()) status = ledger_writer_.SetVlmetalayer(kCopiesLayer, EncodeCopies(copies));
  if (status.ok()) status = ledger_writer_.DeleteVlmetalayer(kCommitLayer);
  if (status.ok()) status = ledger_writer_.Checkpoint();
  return status.ok() ? Follow() : FollowLedger(status);
}

absl::Status ObjectWriter::Close() {
  CAIRN_RETURN_IF_ERROR(Commit().status());
  CAIRN_RETURN_IF_ERROR(unusable_);
  // The commits stand, whatever becomes of the checkpoint.
  if (IsWorthClosing(ledger_)) {
    TidyUp(/*collects=*/false).IgnoreError();
    ShowCollection();
  }
  members_.clear();
  unusable_ = FailedPrecondition("the writer is closed");
  return absl::OkStatus();
}

}  // namespace cairn::collection
