// Checks that a frame shows everything that was committed, and could check it.
#ifndef CAIRN_TOOLS_CAIRN_REPORT_DAMAGE_CHECK_H_
#define CAIRN_TOOLS_CAIRN_REPORT_DAMAGE_CHECK_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "cairn/snapshot.h"
#include "tools/cairn/text/complain.h"
#include "tools/cairn/text/exit.h"
#include "tools/cairn/text/units.h"
#include "tools/status.h"

namespace cairn::tool {

// Errors: kDataLoss if the trailer is damaged. It holds the fingerprints, without which damaged
// chunks may read as data, and the vlmetalayers.
inline absl::Status CheckTrailer(const Snapshot& snapshot) {
  if (!snapshot.info().trailer_damaged) return absl::OkStatus();
  return absl::DataLossError(
      "trailer: damaged, so chunks cannot be checked and vlmetalayers cannot be read; see `cairn "
      "verify`");
}

// Errors: kDataLoss for a damaged trailer, and for damage that hides commits. The readable part may
// be shown, but not passed off as everything, or as sound. The status counts as printed: see
// text/exit.h.
inline absl::Status CheckDamage(const Snapshot& snapshot) {
  RETURN_IF_ERROR(Printed(CheckTrailer(snapshot)));
  const FrameInfo& info = snapshot.info();
  if (!info.journal_damaged) return absl::OkStatus();
  return Printed(absl::DataLossError(absl::StrFormat(
      "journal: %s cannot be read because the journal or the header is damaged; see `cairn verify`",
      FormatCount(info.stranded_commits, "commit"))));
}

// Warns of changed metalayers, because a copy seals metalayers as they are, whoever changed them.
inline void TellOfChangedMetalayers(const std::string& path, const Snapshot& snapshot) {
  const std::vector<std::string>& changed = snapshot.info().changed_metalayers;
  if (changed.empty()) return;
  Complain(absl::StrFormat(
      "%s: another Blosc2, or damage, changed metalayers (%s); the copy has them as they are", path,
      absl::StrJoin(changed, ", ")));
}

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_REPORT_DAMAGE_CHECK_H_
