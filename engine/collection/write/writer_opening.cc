// The part of WriterCore that opens a collection for writing.
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "engine/collection/ledger/ledger_history.h"
#include "engine/collection/members/member_files.h"
#include "engine/collection/write/for_each.h"
#include "engine/collection/write/writer_core.h"
#include "engine/frame/api/handle_access.h"
#include "engine/frame/writer/frame_writer.h"

namespace cairn::collection {

namespace {

using frame::HandleAccess;

// Returns the members that commits since the ledger's checkpoint have removed, the newest first.
std::vector<AddedMember> RemovedFrom(const Ledger& ledger, const MemberTable& before) {
  MemberTable table = before;
  std::vector<AddedMember> removed;
  for (const auto& commit : ledger.commits) {
    for (const std::string& name : commit->removed) {
      const auto member = table.find(name);
      if (member == table.end()) continue;
      removed.push_back({.name = name, .entry = member->second});
      table.erase(member);
    }
    for (const AddedMember& added : commit->added) table.emplace(added.name, added.entry);
  }
  std::ranges::reverse(removed);
  return removed;
}

// Completes the files of members that commits after number `since` have removed, and that commits
// which are kept need. Damage is told to who opens them.
absl::Status RedoRemoved(const Site& site, const Ledger& ledger, uint64_t since) {
  for (const RemovedMember& member : RemovedMembers(ledger.table)) {
    if (member.number <= since) continue;
    CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<const Ledger> before,
                           LedgerAt(ledger, member.number - 1));
    const std::string path = site.AsidePath(member.name, member.id);
    const absl::Status redone = RedoMember(site, path, member.name, *before);
    if (!redone.ok() && !IsDamageOf(redone)) return AtPath(path, redone);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<WriterCore>> WriterCore::Open(std::shared_ptr<const Site> site,
                                                             const File& opened,
                                                             const CollectionWriterOptions& options,
                                                             bool takes_damage) {
  const std::string path = site->LedgerPath();
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const File> locks,
                         site->files->Open(path, FileMode::kRead));
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<File> file, site->files->Open(path, FileMode::kReadWrite));
  auto held = std::make_shared<HeldFile>(std::move(file), nullptr);
  OpenOptions open = LedgerReading(HoldFile(site->files, path, held));
  open.use_mmap = false;
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<frame::FrameCore> ledger,
                         frame::FrameCore::Open(path, open));
  CAIRN_RETURN_IF_ERROR(CheckIsCurrent(*site, opened));
  WriterOptions writing;
  writing.wait = options.wait;
  // A checkpoint that the frame needs, as after a receipt that was torn, comes with the table: the
  // commits that the table lacks would else be gone.
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<frame::FrameWriter> writer,
                         OpenWriter(ledger, writing, frame::Repair::kNoneYet));
  // The writer may have waited.
  CAIRN_RETURN_IF_ERROR(CheckIsCurrent(*site, opened));
  std::unique_ptr<WriterCore> core(
      new WriterCore(std::move(site), options.members, std::move(held), std::move(ledger),
                     HandleAccess::Make(std::move(writer)), std::move(locks)));
  CAIRN_RETURN_IF_ERROR(core->Recover(options.keep_commits, takes_damage));
  return core;
}

// Completes what the ledger has decided, after a writer that died. Then it has no copies any more.
absl::Status WriterCore::Recover(std::optional<uint64_t> keep, bool takes_damage) {
  const Snapshot snapshot = HandleAccess::Make(ledger_core_->newest());
  const absl::StatusOr<std::shared_ptr<const Ledger>> ledger = ReadLedger(snapshot, nullptr);
  if (!ledger.ok()) return AtPath(site_->LedgerPath(), ledger.status());
  ledger_ = **ledger;
  CAIRN_ASSIGN_OR_RETURN(const LedgerTable before, ReadTable(snapshot));
  for (const auto& [name, entry] : RemovedFrom(ledger_, before.members)) {
    const auto now = ledger_.table.members.find(name);
    const bool is_there = now != ledger_.table.members.end();
    const bool waits =
        is_there && site_->files->Identity(site_->AsidePath(name, now->second.id)).ok();
    // Another member may have the name by now. Of those that had it, the newest that is not aside
    // is there.
    if (!is_there || waits || now->second.kind != entry.kind) {
      CAIRN_RETURN_IF_ERROR(PutAside(*site_, name, entry));
    }
    NoteNames(name);
  }
  std::set<std::string> touched;
  for (const auto& commit : ledger_.commits) {
    for (const AddedMember& added : commit->added) {
      touched.insert(added.name);
      NoteNames(added.name);
    }
    for (const MemberPart& part : commit->parts) touched.insert(part.name);
  }
  std::vector<std::string> there;
  for (const std::string& name : touched) {
    const auto member = ledger_.table.members.find(name);
    if (member == ledger_.table.members.end()) continue;
    CAIRN_RETURN_IF_ERROR(PlaceFile(*site_, name, member->second));
    there.push_back(name);
  }
  CAIRN_RETURN_IF_ERROR(ForEachOf(there.size(), [&](size_t i) {
    const std::string path = site_->PathOf(there[i], ledger_.table.members.at(there[i]).kind);
    const absl::Status redone = RedoMember(*site_, path, there[i], ledger_);
    if (takes_damage && IsDamageOf(redone)) return absl::OkStatus();
    return redone.ok() ? redone : AtPath(path, redone);
  }));
  CAIRN_RETURN_IF_ERROR(RedoRemoved(*site_, ledger_, before.number));
  CAIRN_RETURN_IF_ERROR(Keep(keep.value_or(ledger_.table.keep)));
  CAIRN_ASSIGN_OR_RETURN(aside_, AsideFiles::Find(*site_, ledger_.table));
  // A TreeStore that keeps a value in the ledger breaks its seal.
  const bool is_sealed = HandleAccess::Make(ledger_core_->newest()).info().sealed;
  if (!ledger_.commits.empty() || !is_sealed) return CheckpointLedger();
  // Commits will follow the receipt that the ledger's writer has written.
  CAIRN_RETURN_IF_ERROR(ledger_held_->Sync());
  return aside_.RemoveUnread(*site_, *ledger_file_);
}

// The ledger says what is kept before the space of anything else is used again.
absl::Status WriterCore::Keep(uint64_t commits) {
  if (commits != ledger_.table.keep) {
    KeepPast(commits, ledger_.table);
    CAIRN_RETURN_IF_ERROR(CheckpointLedger());
  }
  if (commits > 0) return kept_.Hold(*site_, ledger_.table.oldest_kept());
  kept_.LetGo();
  return absl::OkStatus();
}

}  // namespace cairn::collection
