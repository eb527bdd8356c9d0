#include "tools/cairn/streams/follow_log.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_format.h"

#include "tools/cairn/io/stdout_watch.h"
#include "tools/cairn/report/log_damage.h"
#include "tools/cairn/text/complain.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

// A closed standard output may go unseen for this long.
constexpr std::chrono::milliseconds kPause(100);

// Returns a state other than `now`, or the same after a pause.
absl::StatusOr<LogSnapshot> NextState(Log& log, const LogSnapshot& now) {
  absl::StatusOr<LogSnapshot> newer = log.WaitForCommit(now, kPause);
  if (!absl::IsUnavailable(newer.status())) return newer;
  WaitWhileStdoutIsOpen(kPause);  // a file is just being replaced
  return now;
}

// Reports the records from number `first` on that were shown and are deleted now.
void TellDeleted(const std::string& path, const LogSnapshot& now, const LogSnapshot& shown,
                 int64_t first) {
  for (const RecordRange& range : now.ChangesSince(shown).deleted) {
    const int64_t begin = std::max(first, range.begin);
    if (begin >= range.end) continue;
    Complain(begin + 1 == range.end ? absl::StrFormat("%s: record %d was deleted", path, begin)
                                    : absl::StrFormat("%s: records %d to %d were deleted", path,
                                                      begin, range.end - 1));
  }
}

}  // namespace

absl::Status FollowLog(Log& log, const std::string& path, int64_t next, LogRows& rows,
                       bool all_fields) {
  EndOnSignals();
  LogSnapshot now = log.snapshot();
  const int64_t first = next;
  while (true) {
    if (next < now.first_record()) {
      Complain(absl::StrFormat("%s: records %d to %d were dropped before they could be shown", path,
                               next, now.first_record() - 1));
      next = now.first_record();
    }
    if (all_fields && next < now.end_record()) RETURN_IF_ERROR(rows.ShowAll(now));
    RETURN_IF_ERROR(rows.WriteRecords(now, next, now.end_record()));
    RETURN_IF_ERROR(rows.Finish());
    next = now.end_record();
    RETURN_IF_ERROR(CheckLogDamage(now));
    const LogSnapshot shown = now;
    ASSIGN_OR_RETURN(now, NextState(log, shown));
    TellDeleted(path, now, shown, first);
    if (!WaitWhileStdoutIsOpen({})) return absl::OkStatus();
  }
}

}  // namespace cairn::tool
