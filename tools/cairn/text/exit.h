// Decides how a command ends: the exit status that the shell sees.
#ifndef CAIRN_TOOLS_CAIRN_TEXT_EXIT_H_
#define CAIRN_TOOLS_CAIRN_TEXT_EXIT_H_

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/match.h"

namespace cairn::tool {

enum ExitCode { kExitFine = 0, kExitFailure = 1, kExitUsage = 2 };

inline constexpr char kPrintedUrl[] = "cairn/printed";
// Marks an error that comes after the command's own output, which already says as much.
inline absl::Status Printed(absl::Status status) {
  if (!status.ok()) status.SetPayload(kPrintedUrl, absl::Cord());
  return status;
}
inline bool IsPrinted(const absl::Status& status) {
  return status.GetPayload(kPrintedUrl).has_value();
}

// Returns true if a file is not a frame, which is not a mistake in the command line.
inline bool IsNoFrame(const absl::Status& status) {
  return absl::IsInvalidArgument(status) && absl::EndsWith(status.message(), "not a Blosc2 frame");
}

// kCancelled means that the reader of our output has closed it, because it has everything it
// wanted.
inline ExitCode ExitCodeOf(const absl::Status& status) {
  if (status.ok() || absl::IsCancelled(status)) return kExitFine;
  return absl::IsInvalidArgument(status) ? kExitUsage : kExitFailure;
}

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_TEXT_EXIT_H_
