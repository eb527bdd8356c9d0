#include "tools/sqlite/table/shared_collection.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_format.h"

#include "tools/status.h"

namespace cairn::sqlite {

absl::Status CollectionTransaction::Join(TransactionPart& part) {
  const bool is_taken = std::ranges::any_of(
      parts_, [&](const TransactionPart* other) { return other->member() == part.member(); });
  if (is_taken) {
    return absl::UnavailableError(absl::StrFormat(
        "%s: another table of this transaction appends to the member", part.member()));
  }
  parts_.insert(&part);
  return absl::OkStatus();
}

void CollectionTransaction::Leave(TransactionPart& part) {
  parts_.erase(&part);
  complete_.erase(&part);
}

absl::Status CollectionTransaction::Complete(TransactionPart& part) {
  complete_.insert(&part);
  if (complete_.size() < parts_.size()) return absl::OkStatus();
  complete_.clear();
  RETURN_IF_ERROR(CommitParts(
      [](const TransactionPart& each) { return each.has_pending(); },
      [](const TransactionPart& each, MemberWriter& to) { return each.StageRows(to); }));
  for (TransactionPart* const each : parts_) each->NoteCommitted();
  return absl::OkStatus();
}

absl::Status CollectionTransaction::Undo() {
  RETURN_IF_ERROR(CommitParts(
      [](const TransactionPart& each) { return each.has_committed(); },
      [](const TransactionPart& each, MemberWriter& to) { return each.StageUndo(to); }));
  for (TransactionPart* const each : parts_) each->NoteUndone();
  return absl::OkStatus();
}

absl::Status CollectionTransaction::CommitParts(IsWanted is_wanted, Stage stage) {
  const absl::Status staged = StageParts(is_wanted, stage);
  if (!staged.ok()) {
    writer_.Rollback();
    return staged;
  }
  return writer_.Commit().status();
}

absl::Status CollectionTransaction::StageParts(IsWanted is_wanted, Stage stage) {
  for (const TransactionPart* const part : parts_) {
    if (!is_wanted(*part)) continue;
    ASSIGN_OR_RETURN(MemberWriter member, writer_.Edit(part->member()));
    RETURN_IF_ERROR(stage(*part, member));
  }
  return absl::OkStatus();
}

absl::Status CollectionTransaction::Finish(TransactionPart& part) {
  Leave(part);
  return parts_.empty() ? writer_.Close() : absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const CollectionSnapshot>> SharedCollection::Read() {
  std::shared_ptr<const CollectionSnapshot> state = reading_.lock();
  if (state == nullptr) {
    ASSIGN_OR_RETURN(CollectionSnapshot newest, collection_.Refresh());
    state = std::make_shared<const CollectionSnapshot>(std::move(newest));
    reading_ = state;
  }
  return state;
}

absl::StatusOr<std::shared_ptr<CollectionTransaction>> SharedCollection::Begin(
    std::chrono::milliseconds wait) {
  std::shared_ptr<CollectionTransaction> transaction = transaction_.lock();
  if (transaction == nullptr) {
    ASSIGN_OR_RETURN(CollectionWriter writer, collection_.OpenWriter({.wait = wait}));
    transaction = std::make_shared<CollectionTransaction>(std::move(writer));
    transaction_ = transaction;
  }
  return transaction;
}

absl::StatusOr<std::shared_ptr<SharedCollection>> SharedCollections::Open(const std::string& path) {
  std::error_code error;
  const std::string place = std::filesystem::canonical(path, error).string();
  std::weak_ptr<SharedCollection>& known = open_[error ? path : place];
  std::shared_ptr<SharedCollection> shared = known.lock();
  if (shared == nullptr) {
    ASSIGN_OR_RETURN(Collection collection, Collection::Open(path));
    shared = std::make_shared<SharedCollection>(std::move(collection));
    known = shared;
  }
  return shared;
}

}  // namespace cairn::sqlite
