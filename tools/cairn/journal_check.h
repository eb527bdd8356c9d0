// Whether a frame shows all that was committed.
#ifndef CAIRN_TOOLS_CAIRN_JOURNAL_CHECK_H_
#define CAIRN_TOOLS_CAIRN_JOURNAL_CHECK_H_

#include "absl/status/status.h"
#include "absl/strings/str_format.h"

#include "cairn/snapshot.h"

namespace cairn::tool {

// kDataLoss where damage hides commits. What comes before them is good: it can be shown and copied,
// but not passed off as everything.
inline absl::Status CheckJournal(const Snapshot& snapshot) {
  const FrameInfo& info = snapshot.info();
  if (!info.journal_damaged) return absl::OkStatus();
  return absl::DataLossError(absl::StrFormat(
      "journal: what was committed behind generation %d cannot be read; see `cairn verify`",
      info.generation));
}

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_JOURNAL_CHECK_H_
