// The part of a collection's writer that lists members as they are.
#include <string>

#include "absl/strings/str_format.h"

#include "engine/base/status.h"
#include "engine/collection/ledger/collection_locks.h"
#include "engine/collection/members/member_reader.h"
#include "engine/collection/write/collection_recover.h"
#include "engine/collection/write/writer_core.h"

namespace cairn::collection {

namespace {

// Returns true if the file at `path` holds that state, and no newer one.
bool IsAsListed(const std::string& path, const Site& site, const Position& position) {
  const absl::StatusOr<Frame> frame = Frame::Open(path, site.MemberOptions());
  if (!frame.ok() || !FindPosition(frame->snapshot(), position).ok()) return false;
  return !IsAhead(frame->snapshot(), position).value_or(true);
}

}  // namespace

// Opening has given every member what the ledger has of it, so what differs now is from outside.
absl::StatusOr<CollectionRecovery> WriterCore::AdoptMembers() {
  CAIRN_RETURN_IF_ERROR(failure_.status());
  CollectionRecovery report;
  const uint64_t keep = table().keep;
  LedgerCommit commit{.number = table().number + 1};
  for (const auto& [name, entry] : table().members) {
    const std::string path = site_->PathOf(name, entry.kind);
    if (IsAsListed(path, *site_, entry.position)) continue;
    CAIRN_RETURN_IF_ERROR(failure_.Need(Keep(0)));
    // A new checkpoint of the member may overwrite what readers of older states need.
    if (IsReadBefore(*ledger_->file(), commit.number)) {
      return absl::UnavailableError(
          absl::StrFormat("%s: is being read; close it everywhere to recover it", site_->root));
    }
    const absl::StatusOr<Position> position = MakeComplete(path, *site_);
    if (position.ok()) {
      report.adopted.push_back(name);
      commit.parts.push_back({.name = name, .position = *position, .synced = true});
    } else if (absl::IsNotFound(position.status())) {
      report.missing.push_back(name);
      commit.removed.push_back(name);
    } else if (IsNoMember(position.status())) {
      report.unreadable.push_back(absl::StrFormat("%s: %s", name, position.status().message()));
    } else {
      return position.status();
    }
  }
  LedgerTable all = table();
  CAIRN_RETURN_IF_ERROR(AdoptUnlisted(*site_, all, report));
  for (const auto& [name, entry] : all.members) {
    if (table().members.contains(name)) continue;
    commit.added.push_back({.name = name, .entry = entry});
  }
  if (commit.parts.empty() && commit.removed.empty() && commit.added.empty()) {
    // A ledger that can be read, and not written, is damaged.
    CAIRN_RETURN_IF_ERROR(failure_.Need(CheckpointLedger()));
    return report;
  }
  CAIRN_RETURN_IF_ERROR(Decide(commit));
  CAIRN_RETURN_IF_ERROR(failure_.Need(CheckpointLedger()));
  CAIRN_RETURN_IF_ERROR(failure_.Need(Keep(keep)));
  return report;
}

}  // namespace cairn::collection
