// Verification of a collection, with what its ledger lists.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cairn/frame.h"
#include "cairn/verify.h"
#include "engine/base/status.h"
#include "engine/collection/collection_verify.h"
#include "engine/collection/ledger_core.h"
#include "engine/collection/members/member_reader.h"

namespace cairn::collection {

namespace {

absl::StatusOr<Snapshot> SnapshotOfLedger(const Site& site) {
  CAIRN_ASSIGN_OR_RETURN(const Frame ledger,
                         Frame::Open(site.LedgerPath(), LedgerReading(site.files)));
  return ledger.snapshot();
}

// A member that holds more than a state lists.
struct Newer {
  const std::string* name;
  uint64_t id;
  Snapshot newest;
};

// `path` is that of the file which holds the state. While a commit gives names to files, another
// file may have the name of the member.
void NoteNewer(const Site& site, const std::string& name, const std::string& path,
               const MemberEntry& entry, std::vector<Newer>& newer) {
  const absl::StatusOr<Frame> frame = Frame::Open(path, site.MemberOptions());
  if (!frame.ok() || !IsAhead(frame->snapshot(), entry.position).value_or(false)) return;
  newer.push_back({.name = &name, .id = entry.id, .newest = frame->snapshot()});
}

// A commit is in the ledger before it is in members. So a ledger that is read after them lists what
// they hold.
absl::Status AddAhead(const Site& site, const std::vector<Newer>& newer, WholeReport& whole) {
  if (newer.empty()) return absl::OkStatus();
  CAIRN_ASSIGN_OR_RETURN(const Snapshot snapshot, SnapshotOfLedger(site));
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<const Ledger> now, ReadLedger(snapshot, nullptr));
  for (const Newer& member : newer) {
    const auto listed = now->table.members.find(*member.name);
    if (listed == now->table.members.end() || listed->second.id != member.id) continue;
    const Position& position = listed->second.position;
    CAIRN_ASSIGN_OR_RETURN(const bool is_ahead, IsAhead(member.newest, position));
    if (!is_ahead) continue;
    whole.AddFinding(
        *member.name,
        {.section = {}, .reason = std::string(IsAheadError(member.newest, position).message())});
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<VerifyReport> LedgerView::Verify(const VerifyOptions& options) const {
  WholeReport whole(options);
  CAIRN_RETURN_IF_ERROR(whole.Add("embed.b2e", SnapshotOfLedger(site())));
  std::vector<Newer> newer;
  for (const auto& [name, entry] : table().members) {
    std::string path;
    CAIRN_RETURN_IF_ERROR(whole.Add(name, FindMember(name, path)));
    NoteNewer(site(), name, path, entry, newer);
  }
  CAIRN_RETURN_IF_ERROR(AddAhead(site(), newer, whole));
  return std::move(whole).Take();
}

}  // namespace cairn::collection
