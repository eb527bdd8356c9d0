// The part of WriterCore that opens a collection for writing, and follows other writers.
#include <memory>
#include <string>
#include <utility>

#include "engine/base/status.h"
#include "engine/collection/write/redo.h"
#include "engine/collection/write/writer_core.h"

namespace cairn::collection {

namespace {

// The number changes for all writers, and those that share the collection do not look for that.
absl::Status CheckKeeps(std::optional<uint64_t> keep, const LedgerTable& table,
                        const std::string& root) {
  if (!keep.has_value() || *keep == table.keep) return absl::OkStatus();
  return FailedPrecondition(
      "%s: other writers share the collection, which keeps %d commits: only a writer that is alone "
      "changes that to %d",
      root, table.keep, *keep);
}

}  // namespace

absl::StatusOr<std::unique_ptr<WriterCore>> WriterCore::Open(std::shared_ptr<const Site> site,
                                                             const File& opened,
                                                             std::unique_ptr<Gate> gate,
                                                             const CollectionWriterOptions& options,
                                                             bool takes_damage) {
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<LedgerWriter> ledger,
                         LedgerWriter::Open(*site, opened, options.wait));
  const bool is_alone = gate->is_alone();
  std::unique_ptr<WriterCore> core(
      new WriterCore(std::move(site), std::move(gate), std::move(ledger), options));
  if (is_alone) {
    CAIRN_RETURN_IF_ERROR(core->Recover(options.keep_commits, takes_damage));
  } else {
    CAIRN_RETURN_IF_ERROR(CheckKeeps(options.keep_commits, core->table(), core->site_->root));
    // Commits will follow the receipt that the ledger's writer has written.
    CAIRN_RETURN_IF_ERROR(core->ledger_->Sync());
    CAIRN_RETURN_IF_ERROR(core->FollowOthers(0));
  }
  return core;
}

// Completes what the ledger has decided, after a writer that died. Then it has no copies any more.
absl::Status WriterCore::Recover(std::optional<uint64_t> keep, bool takes_damage) {
  const Ledger& ledger = ledger_->ledger();
  const bool has_commits = !ledger.commits.empty();
  CAIRN_RETURN_IF_ERROR(RedoNames(*site_, ledger, 0, changed_names_));
  CAIRN_RETURN_IF_ERROR(RedoMembers(*site_, ledger, {.takes_damage = takes_damage},
                                    [](std::string_view) { return nullptr; }));
  CAIRN_RETURN_IF_ERROR(Keep(keep.value_or(table().keep)));
  CAIRN_ASSIGN_OR_RETURN(aside_, AsideFiles::Find(*site_, table()));
  if (has_commits || ledger_->owes_checkpoint()) return WriteLedger();
  // Commits will follow the receipt that the ledger's writer has written.
  CAIRN_RETURN_IF_ERROR(ledger_->Sync());
  return aside_.RemoveUnread(*site_, *ledger_->file(), table().oldest_kept());
}

// A writer that died in its turn may have left what follows its commit to others. Members are
// completed when they are needed: who opens one, and who lets the ledger drop its copies.
absl::Status WriterCore::FollowOthers(uint64_t since) {
  if (table().number != since) {
    CAIRN_RETURN_IF_ERROR(RedoNames(*site_, ledger_->ledger(), since, changed_names_));
    for (const GoneMember& gone : ledger_->ledger().gone) {
      if (gone.number <= since) continue;
      aside_.Add(*site_, gone.name, gone.entry.id, gone.number, table());
    }
    if (table().keep > 0) CAIRN_RETURN_IF_ERROR(kept_.Hold(*site_, table().oldest_kept()));
  }
  return ledger_->owes_checkpoint() ? CheckpointLedger() : absl::OkStatus();
}

// The ledger says what is kept before the space of anything else is used again.
absl::Status WriterCore::Keep(uint64_t commits) {
  if (commits != table().keep) {
    ledger_->Keep(commits);
    CAIRN_RETURN_IF_ERROR(WriteLedger());
  }
  if (commits > 0) return kept_.Hold(*site_, table().oldest_kept());
  kept_.LetGo();
  return absl::OkStatus();
}

absl::Status WriterCore::TakeTurn(std::chrono::milliseconds wait) {
  CAIRN_RETURN_IF_ERROR(failure_.status());
  CAIRN_RETURN_IF_ERROR(failure_.Need(CheckIsCurrent(*site_, *ledger_->file())));
  const uint64_t since = table().number;
  absl::Status taken = ledger_->Resume(wait);
  if (absl::IsUnavailable(taken)) return taken;
  if (taken.ok()) taken = FollowOthers(since);
  if (!failure_.Need(taken).ok()) EndTurn();
  return taken;
}

// After a failure others must not find a member locked, which would mean that it is complete.
void WriterCore::EndTurn() {
  if (!failure_.ok()) staging_.CloseAll();
  const absl::Status ended = ledger_->Suspend();
  if (failure_.ok()) failure_.Need(ended).IgnoreError();
}

void WriterCore::Leave() {
  staging_.CloseAll();
  if (failure_.ok()) EndTurn();
  kept_.LetGo();
  gate_->Leave();
  failure_.Close();
}

}  // namespace cairn::collection
