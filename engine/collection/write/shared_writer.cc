#include "engine/collection/write/shared_writer.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_format.h"

#include "engine/base/status.h"
#include "engine/collection/write/gate.h"

namespace cairn::collection {

namespace {

using std::chrono::milliseconds;

// Turns are short, and so is what a writer does alone that opens or closes beside others.
constexpr milliseconds kLeastWait(5000);

}  // namespace

absl::StatusOr<std::unique_ptr<SharedWriter>> SharedWriter::Open(
    std::shared_ptr<const Site> site, const File& opened, const CollectionWriterOptions& options) {
  CollectionWriterOptions waiting = options;
  waiting.wait = std::max(options.wait, kLeastWait);
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<Gate> gate, Gate::Share(*site, waiting.wait));
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<WriterCore> core,
                         WriterCore::Open(std::move(site), opened, std::move(gate), waiting));
  CAIRN_RETURN_IF_ERROR(core->gate().LetOthersIn());
  core->EndTurn();
  return std::unique_ptr<SharedWriter>(new SharedWriter(std::move(core), options.wait));
}

template <typename Work>
std::invoke_result_t<Work> SharedWriter::InTurn(Work work) {
  return RetryUnavailable(wait_, [&]() -> std::invoke_result_t<Work> {
    CAIRN_RETURN_IF_ERROR(core_->TakeTurn(std::max(wait_, kLeastWait)));
    auto result = work();
    core_->EndTurn();
    return result;
  });
}

absl::StatusOr<Writer*> SharedWriter::Edit(std::string_view name) {
  if (core_->staging().HasOpen(name)) return core_->Edit(name);
  return InTurn([&] { return core_->Edit(name); });
}

absl::StatusOr<Writer*> SharedWriter::Add(std::string_view name, const CreateOptions& options) {
  return InTurn([&] { return core_->Add(name, options); });
}

absl::Status SharedWriter::Remove(std::string_view name) {
  return InTurn([&] { return core_->Remove(name); });
}

absl::Status SharedWriter::Copy(std::string_view from, std::string_view to) {
  return InTurn([&] { return core_->Copy(from, to); });
}

absl::Status SharedWriter::AddCopy(std::string_view name, MemberKind kind,
                                   const Snapshot& content) {
  return InTurn([&] { return core_->AddCopy(name, kind, content); });
}

absl::Status SharedWriter::CheckConflicts() {
  if (only_after_.has_value() && *only_after_ != core_->number()) {
    return absl::AbortedError(absl::StrFormat(
        "commit %d of the collection is no longer the newest; roll back, and stage the edits again",
        *only_after_));
  }
  return core_->staging().CheckConflicts();
}

absl::StatusOr<uint64_t> SharedWriter::Commit() {
  CAIRN_RETURN_IF_ERROR(core_->failure().status());
  // The turn is shorter if large parts are on the disk before.
  if (const absl::Status synced = core_->staging().SyncEarly(); !synced.ok()) {
    core_->staging().CloseAll();
    return core_->failure().Need(synced);
  }
  CAIRN_RETURN_IF_ERROR(core_->TakeTurn(std::max(wait_, kLeastWait)));
  const absl::Status conflict = CheckConflicts();
  absl::StatusOr<uint64_t> number = conflict.ok() ? core_->Commit() : conflict;
  if (conflict.ok()) core_->staging().CloseAll();
  core_->EndTurn();
  return number;
}

// Files that were made go in a turn, because their directories may go, too.
void SharedWriter::Rollback() {
  only_after_.reset();
  const bool has_turn = core_->TakeTurn(std::max(wait_, kLeastWait)).ok();
  core_->Rollback();
  core_->staging().CloseAll();
  if (has_turn) core_->EndTurn();
}

absl::StatusOr<bool> SharedWriter::HasWaiters() const { return core_->gate().HasWaiters(); }

absl::Status SharedWriter::Close() {
  CAIRN_RETURN_IF_ERROR(Commit().status());
  core_->gate().TryToBeAlone();
  if (const absl::Status taken = core_->TakeTurn(std::max(wait_, kLeastWait)); !taken.ok()) {
    core_->gate().LetOthersIn().IgnoreError();  // the caller may try again
    return taken;
  }
  if (core_->gate().is_alone()) return core_->Close();
  core_->Leave();
  return absl::OkStatus();
}

}  // namespace cairn::collection
