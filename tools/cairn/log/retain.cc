// cairn log retain: sets what a log keeps, and drops the rest at once.

#include <chrono>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "cairn/log_writer.h"
#include "tools/cairn/flags/flags.h"
#include "tools/cairn/flags/log_flags.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/io/patience.h"
#include "tools/cairn/log/commands.h"
#include "tools/cairn/report/log_size.h"
#include "tools/cairn/text/about.h"
#include "tools/cairn/text/units.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

struct RetainFlags : LogFlags {
  KeepFlags keep;
  std::chrono::milliseconds wait{0};
  bool quiet = false;
};

// Says which logs the options of rotation are for.
absl::Status NameRotation(const absl::Status& status) {
  if (!absl::EndsWith(status.message(), "a log of one file")) return status;
  return absl::FailedPreconditionError(
      absl::StrCat(status.message(),
                   "; --rotate-every and --rotate-bytes are for logs that were "
                   "created with one of them"));
}

// Leaves the request to the writer that has the log.
absl::Status AskWriter(const RetainFlags& flags, Log& log) {
  const LogSnapshot snapshot = log.snapshot();
  const Field* const time = snapshot.time_field();
  constexpr Retention kSame = {.max_age = -1, .max_records = -1, .max_bytes = -1};
  ASSIGN_OR_RETURN(const Retention retention, RetentionOf(flags.keep, time, kSame));
  ASSIGN_OR_RETURN(const Rotation rotation,
                   RotationOf(flags.keep, time, {.max_bytes = -1, .period = -1}));
  RETURN_IF_ERROR(NameRotation(log.RequestLimits(retention, rotation)));
  if (flags.quiet) return absl::OkStatus();
  return WriteLines({absl::StrFormat(
      "%s: has a writer, which changes what it keeps with its next commit", flags.path)});
}

// Keeps no snapshot: the files that it reads would go on to take disk space once they are dropped.
absl::Status SetLimits(const RetainFlags& flags, LogWriter& writer) {
  const LogSnapshot before = writer.snapshot();
  ASSIGN_OR_RETURN(const Retention retention,
                   RetentionOf(flags.keep, before.time_field(), before.retention()));
  ASSIGN_OR_RETURN(const Rotation rotation,
                   RotationOf(flags.keep, before.time_field(), before.rotation()));
  RETURN_IF_ERROR(writer.SetRetention(retention));
  if (rotation == before.rotation()) return absl::OkStatus();
  return NameRotation(writer.SetRotation(rotation));
}

absl::Status Retain(const RetainFlags& flags) {
  ASSIGN_OR_RETURN(Log log, OpenLog(flags));
  LogWriterOptions options;
  options.wait = flags.wait;
  absl::StatusOr<LogWriter> opened = OpenWriterInTurn(log, options);
  if (absl::IsUnavailable(opened.status())) return AskWriter(flags, log);
  RETURN_IF_ERROR(opened.status());
  LogWriter& writer = *opened;
  const int64_t nrecords = writer.snapshot().nrecords();
  // No commit may drop by the limits from before.
  RETURN_IF_ERROR(SetLimits(flags, writer));
  // Takes over the requests to a writer that died. What is asked for now comes after them.
  RETURN_IF_ERROR(writer.Commit());
  RETURN_IF_ERROR(SetLimits(flags, writer));
  RETURN_IF_ERROR(writer.ApplyRetention());
  // Other Blosc2s see less of an empty log whose new file this user may not make.
  const absl::Status status = writer.Checkpoint();
  if (!absl::IsFailedPrecondition(status)) RETURN_IF_ERROR(status);
  RETURN_IF_ERROR(writer.Close());
  if (flags.quiet) return absl::OkStatus();
  ASSIGN_OR_RETURN(const LogSnapshot after, log.Refresh());
  return WriteLines({absl::StrFormat("%s: %s dropped, now %s from number %d on, in %s", flags.path,
                                     FormatCount(nrecords - after.nrecords(), "record"),
                                     FormatCount(after.nrecords(), "record"), after.first_record(),
                                     FormatByteSize(SizeOf(after).stored))});
}

}  // namespace

void AddLogRetain(CLI::App& group, Command& chosen) {
  CLI::App* retain =
      group.add_subcommand("retain", "Say what a log keeps, and drop the rest of it");
  const auto flags = std::make_shared<RetainFlags>();
  AddLogPath(*retain, *flags);
  AddKeeping(*retain, flags->keep);
  AddWait(*retain, flags->wait);
  retain->add_flag("--quiet", flags->quiet, "Print no summary");
  retain->footer(
      "Options that are not given keep their values; 0, or 0s for durations, means no limit.\n"
      "Writers drop old records by themselves, whole chunks or files at a time. A writer that "
      "runs\n"
      "takes the change over with its next commit.\n"
      "\nExample:\n"
      "  cairn log retain temps.b2frame --retain-age 7d");
  retain->callback(
      [flags, &chosen] { chosen = [flags] { return About(flags->path, Retain(*flags)); }; });
}

}  // namespace cairn::tool
