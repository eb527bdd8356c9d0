// cairn log delete: deletes records of a log, also while it has a writer.

#include <chrono>
#include <memory>
#include <string>

#include "absl/strings/str_format.h"

#include "tools/cairn/flags/flags.h"
#include "tools/cairn/flags/log_flags.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/log/commands.h"
#include "tools/cairn/text/about.h"
#include "tools/cairn/text/units.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

struct DeleteFlags : LogFlags {
  RangeFlags range;
  bool all = false;
  bool dry_run = false;
  std::chrono::milliseconds wait{10'000};
  bool quiet = false;
};

absl::StatusOr<int64_t> CountMatches(const LogSnapshot& log, const LogSelection& which) {
  LogQuery query = {.times = which.times, .filters = which.filters, .order = LogOrder::kRecord};
  query.fields = {log.schema().fields().front().name};
  ASSIGN_OR_RETURN(LogCursor cursor, log.Query(query));
  int64_t count = 0;
  while (true) {
    ASSIGN_OR_RETURN(const LogBatch batch, cursor.Next());
    if (batch.size() == 0) return count;
    count += batch.size();
  }
}

absl::Status Delete(const DeleteFlags& flags) {
  const RangeFlags& range = flags.range;
  const bool chooses =
      !range.from.empty() || !range.to.empty() || !range.last.empty() || !range.where.empty();
  if (chooses == flags.all) {
    return absl::InvalidArgumentError(
        "expected --from, --to, --last or --where, or --all for all records");
  }
  ASSIGN_OR_RETURN(Log log, OpenLog(flags));
  LogSelection which;
  ASSIGN_OR_RETURN(which.times, TimesOf(range, log.snapshot()));
  which.filters = range.where;
  if (flags.dry_run) {
    ASSIGN_OR_RETURN(const int64_t count, CountMatches(log.snapshot(), which));
    return WriteLines(
        {absl::StrFormat("%s: would delete %s", flags.path, FormatCount(count, "record"))});
  }
  ASSIGN_OR_RETURN(const int64_t deleted, log.Delete(which, flags.wait));
  if (flags.quiet) return absl::OkStatus();
  ASSIGN_OR_RETURN(const LogSnapshot after, log.Refresh());
  return WriteLines(
      {absl::StrFormat("%s: %s deleted, now %s", flags.path, FormatCount(deleted, "record"),
                       FormatCount(after.nrecords(), "record"))});
}

}  // namespace

void AddLogDelete(CLI::App& group, Command& chosen) {
  CLI::App* app =
      group.add_subcommand("delete", "Delete the records of a time, or with a property");
  const auto flags = std::make_shared<DeleteFlags>();
  AddLogPath(*app, *flags);
  AddRange(*app, flags->range);
  app->add_flag("--all", flags->all, "Delete all records");
  app->add_flag("--dry-run", flags->dry_run, "Only count them");
  AddWait(*app, flags->wait)
      ->description("How long a writer that runs may take to carry it out")
      ->default_str("10s");
  app->add_flag("--quiet", flags->quiet, "Print no summary");
  app->footer(
      "Works while the log is written and read: a writer that runs deletes the records with its "
      "next\n"
      "commit. Other records keep their numbers. 'cairn compact' gets rid of old bytes.\n"
      "\nExample:\n"
      "  cairn log delete temps.b2frame --last 1h --where 'temp > 60'");
  app->callback(
      [flags, &chosen] { chosen = [flags] { return About(flags->path, Delete(*flags)); }; });
}

}  // namespace cairn::tool
