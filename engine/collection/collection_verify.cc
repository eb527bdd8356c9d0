// Verification of whole collections.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

#include "cairn/frame.h"
#include "cairn/verify.h"
#include "engine/base/status.h"
#include "engine/collection/collection_core.h"

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
  for (const auto& [name, entry] : ledger->table.members) {
    CAIRN_RETURN_IF_ERROR(add(name, OpenMember(name)));
  }
  return whole;
}

}  // namespace cairn::collection
