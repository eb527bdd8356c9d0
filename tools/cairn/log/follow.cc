// cairn log follow: shows records as they are committed.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"

#include "tools/cairn/flags/log_flags.h"
#include "tools/cairn/io/files.h"
#include "tools/cairn/log/commands.h"
#include "tools/cairn/records/values.h"
#include "tools/cairn/streams/follow_log.h"
#include "tools/cairn/text/about.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

struct FollowFlags : LogFlags {
  OutputFlags output;
  std::string from;
  std::string time_zone;
  bool durable = false;
  bool numbers = false;
};

// Returns the number of the first record to show.
absl::StatusOr<int64_t> FirstRecord(const FollowFlags& flags, const LogSnapshot& log) {
  if (flags.from.empty()) return log.end_record();
  int64_t record = 0;
  if (absl::SimpleAtoi(flags.from, &record)) {
    if (record >= 0 && record <= log.end_record()) return std::max(record, log.first_record());
    return absl::OutOfRangeError(absl::StrFormat("--from: record %d: the log has %d to %d", record,
                                                 log.first_record(), log.end_record()));
  }
  ASSIGN_OR_RETURN(const Field* const time, NeedTime(log.time_field(), "--from"));
  const absl::StatusOr<int64_t> begin = ParseTimeOf(*time, flags.from, flags.time_zone);
  if (begin.ok()) return log.FindTime(*begin);
  return absl::InvalidArgumentError(absl::StrFormat("--from: %s", begin.status().message()));
}

absl::Status FollowFrom(const FollowFlags& flags) {
  OpenOptions options;
  options.file_system = FilesAt(flags.path);
  options.durable_only = flags.durable;
  ASSIGN_OR_RETURN(Log log, Log::Open(flags.path, options, flags.time_field));
  ASSIGN_OR_RETURN(const std::vector<Field> fields,
                   FieldsOf(flags.output, log.snapshot().schema()));
  ASSIGN_OR_RETURN(const int64_t first, FirstRecord(flags, log.snapshot()));
  LogRows rows(fields, StyleOf(flags.output, flags.time_zone), flags.numbers);
  // Values without names are of one kind from the beginning to the end.
  const bool all_fields = flags.output.fields.empty() && FormatOf(flags.output) != RowFormat::kRaw;
  return FollowLog(log, flags.path, first, rows, all_fields);
}

}  // namespace

void AddLogFollow(CLI::App& group, Command& chosen) {
  CLI::App* follow = group.add_subcommand("follow", "Write records as they are committed");
  const auto flags = std::make_shared<FollowFlags>();
  AddLogPath(*follow, *flags);
  follow
      ->add_option("--from", flags->from,
                   "Begin with this record, or the first of this time or later [with new ones]")
      ->type_name("N|TIME");
  AddOutput(*follow, flags->output);
  AddNumbers(*follow, flags->numbers);
  AddZone(*follow, flags->time_zone);
  follow->add_flag("--durable", flags->durable,
                   "Leave out records that a power cut could take back");
  follow->footer(
      "Goes on when the writer ends and another one begins, when the log is compacted and when "
      "old\n"
      "records are dropped.\n"
      "\nExample:\n"
      "  cairn log follow temps.b2frame --from 2026-11-24T10:00 | plot");
  follow->callback(
      [flags, &chosen] { chosen = [flags] { return About(flags->path, FollowFrom(*flags)); }; });
}

}  // namespace cairn::tool
