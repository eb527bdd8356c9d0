#include "engine/collection/collection_verify.h"

#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"

#include "engine/base/status.h"

namespace cairn::collection {

namespace {

constexpr size_t kMostFindings = 1000;  // as of one frame

absl::StatusOr<VerifyReport> VerifyOne(const absl::StatusOr<Snapshot>& frame,
                                       const VerifyOptions& options) {
  if (frame.ok()) return frame->Verify(options);
  const absl::Status& status = frame.status();
  // A frame that this build cannot open is told, and not checked.
  const bool is_told =
      absl::IsDataLoss(status) || absl::IsInvalidArgument(status) || absl::IsUnimplemented(status);
  if (!is_told) return status;
  VerifyReport report;
  report.sealed = true;
  report.findings.push_back({.section = {}, .reason = std::string(status.message())});
  return report;
}

std::string SectionOf(const std::string& frame, const std::string& section) {
  return section.empty() ? frame : absl::StrCat(frame, ": ", section);
}

}  // namespace

WholeReport::WholeReport(const VerifyOptions& options) : options_(options) { whole_.sealed = true; }

absl::Status WholeReport::Add(const std::string& name, const absl::StatusOr<Snapshot>& frame) {
  VerifyOptions each = options_;
  if (options_.progress) {
    each.progress = [&](int64_t chunks) { return options_.progress(whole_.nchunks + chunks); };
  }
  CAIRN_ASSIGN_OR_RETURN(VerifyReport report, VerifyOne(frame, each));
  whole_.nchunks += report.nchunks;
  whole_.bytes_read += report.bytes_read;
  whole_.sealed = whole_.sealed && report.sealed;
  whole_.omitted += report.omitted;
  for (Finding& finding : report.findings) AddFinding(name, std::move(finding));
  for (const std::string& note : report.notes) {
    whole_.notes.push_back(absl::StrCat(name, ": ", note));
  }
  return absl::OkStatus();
}

void WholeReport::AddFinding(const std::string& name, Finding finding) {
  if (whole_.findings.size() == kMostFindings) {
    ++whole_.omitted;
    return;
  }
  finding.section = SectionOf(name, finding.section);
  whole_.findings.push_back(std::move(finding));
}

}  // namespace cairn::collection
