// Verification of whole collections.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "cairn/frame.h"
#include "cairn/verify.h"
#include "engine/base/status.h"
#include "engine/collection/collection_core.h"
#include "engine/collection/member_reader.h"

namespace cairn::collection {

namespace {

constexpr size_t kMostFindings = 1000;  // as of one frame

// Reports a frame that cannot be opened as damaged, if that is what it is.
absl::StatusOr<VerifyReport> VerifyOne(const absl::StatusOr<Snapshot>& frame,
                                       const VerifyOptions& options) {
  if (frame.ok()) return frame->Verify(options);
  if (!absl::IsDataLoss(frame.status()) && !absl::IsInvalidArgument(frame.status())) {
    return frame.status();
  }
  VerifyReport report;
  report.sealed = true;
  report.findings.push_back({.section = {}, .reason = std::string(frame.status().message())});
  return report;
}

std::string SectionOf(const std::string& frame, const std::string& section) {
  return section.empty() ? frame : absl::StrCat(frame, ": ", section);
}

// Adds the report of a frame. Its sections begin with the name.
void AddReport(const std::string& name, VerifyReport report, VerifyReport& whole) {
  whole.nchunks += report.nchunks;
  whole.bytes_read += report.bytes_read;
  whole.sealed = whole.sealed && report.sealed;
  whole.omitted += report.omitted;
  for (Finding& finding : report.findings) {
    if (whole.findings.size() == kMostFindings) {
      ++whole.omitted;
      continue;
    }
    finding.section = SectionOf(name, finding.section);
    whole.findings.push_back(std::move(finding));
  }
  for (const std::string& note : report.notes) {
    whole.notes.push_back(absl::StrCat(name, ": ", note));
  }
}

absl::StatusOr<Snapshot> OpenLedger(const Site& site) {
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

void NoteNewer(const Site& site, const std::string& name, const MemberEntry& entry,
               std::vector<Newer>& newer) {
  const absl::StatusOr<Frame> frame =
      Frame::Open(site.PathOf(name, entry.kind), site.MemberOptions());
  if (!frame.ok() || !IsAhead(frame->snapshot(), entry.position).value_or(false)) return;
  newer.push_back({.name = &name, .id = entry.id, .newest = frame->snapshot()});
}

// A commit is in the ledger before it is in members. So a ledger that is read after them lists what
// they hold.
absl::Status AddAhead(const Site& site, const std::vector<Newer>& newer, VerifyReport& whole) {
  if (newer.empty()) return absl::OkStatus();
  CAIRN_ASSIGN_OR_RETURN(const Snapshot snapshot, OpenLedger(site));
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<const Ledger> now, ReadLedger(snapshot, nullptr));
  for (const Newer& member : newer) {
    const auto listed = now->table.members.find(*member.name);
    if (listed == now->table.members.end() || listed->second.id != member.id) continue;
    const Position& position = listed->second.position;
    CAIRN_ASSIGN_OR_RETURN(const bool is_ahead, IsAhead(member.newest, position));
    if (!is_ahead) continue;
    CAIRN_ASSIGN_OR_RETURN(VerifyReport report,
                           VerifyOne(IsAheadError(member.newest, position), {}));
    AddReport(*member.name, std::move(report), whole);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<VerifyReport> View::Verify(const VerifyOptions& options) const {
  VerifyReport whole;
  whole.sealed = true;
  VerifyOptions each = options;
  if (options.progress) {
    each.progress = [&](int64_t chunks) { return options.progress(whole.nchunks + chunks); };
  }
  const auto add = [&](const std::string& name,
                       const absl::StatusOr<Snapshot>& frame) -> absl::Status {
    CAIRN_ASSIGN_OR_RETURN(VerifyReport report, VerifyOne(frame, each));
    AddReport(name, std::move(report), whole);
    return absl::OkStatus();
  };
  CAIRN_RETURN_IF_ERROR(add("embed.b2e", OpenLedger(*site)));
  std::vector<Newer> newer;
  for (const auto& [name, entry] : ledger->table.members) {
    CAIRN_RETURN_IF_ERROR(add(name, OpenMember(name)));
    NoteNewer(*site, name, entry, newer);
  }
  CAIRN_RETURN_IF_ERROR(AddAhead(*site, newer, whole));
  return whole;
}

}  // namespace cairn::collection
