// Checks that a log shows everything that was committed.
#ifndef CAIRN_TOOLS_CAIRN_REPORT_LOG_DAMAGE_H_
#define CAIRN_TOOLS_CAIRN_REPORT_LOG_DAMAGE_H_

#include "absl/status/status.h"

#include "cairn/log.h"
#include "tools/cairn/report/damage_check.h"
#include "tools/status.h"

namespace cairn::tool {

// Checks the damage of each of its frames.
inline absl::Status CheckLogDamage(const LogSnapshot& log) {
  for (const Snapshot& frame : log.frames()) RETURN_IF_ERROR(CheckDamage(frame));
  return absl::OkStatus();
}

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_REPORT_LOG_DAMAGE_H_
