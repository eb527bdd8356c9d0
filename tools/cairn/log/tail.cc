// cairn log tail: shows the newest records.

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tools/cairn/flags/flags.h"
#include "tools/cairn/flags/log_flags.h"
#include "tools/cairn/log/commands.h"
#include "tools/cairn/report/log_damage.h"
#include "tools/cairn/streams/log_rows.h"
#include "tools/cairn/text/about.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

struct TailFlags : LogFlags {
  OutputFlags output;
  int64_t count = 10;
  std::string time_zone;
  bool numbers = false;
};

// Returns the number of the first of the last `count` records that are not deleted.
int64_t FirstOfLast(const LogSnapshot& log, int64_t count) {
  int64_t first = log.end_record() - std::min(count, log.nrecords());
  const std::vector<RecordRange> deleted = log.deleted();
  for (auto range = deleted.rbegin(); range != deleted.rend() && range->end > first; ++range) {
    first -= range->end - range->begin;
  }
  return first;
}

absl::Status Tail(const TailFlags& flags) {
  ASSIGN_OR_RETURN(const Log log, OpenLog(flags));
  const LogSnapshot snapshot = log.snapshot();
  ASSIGN_OR_RETURN(const std::vector<Field> fields, FieldsOf(flags.output, snapshot.schema()));
  LogRows rows(fields, StyleOf(flags.output, flags.time_zone), flags.numbers);
  RETURN_IF_ERROR(
      rows.WriteRecords(snapshot, FirstOfLast(snapshot, flags.count), snapshot.end_record()));
  RETURN_IF_ERROR(rows.Finish());
  return CheckLogDamage(snapshot);
}

}  // namespace

void AddLogTail(CLI::App& group, Command& chosen) {
  CLI::App* tail = group.add_subcommand("tail", "Write the newest records");
  const auto flags = std::make_shared<TailFlags>();
  AddLogPath(*tail, *flags);
  AddNumber(*tail, "-n,--count", flags->count, int64_t{0}, std::numeric_limits<int64_t>::max())
      ->description("How many")
      ->default_str("10");
  AddOutput(*tail, flags->output);
  AddNumbers(*tail, flags->numbers);
  AddZone(*tail, flags->time_zone);
  tail->footer(
      "They are the last by number, in that order.\n"
      "\nExample:\n"
      "  cairn log tail temps.b2frame -n 20 --format jsonl");
  tail->callback(
      [flags, &chosen] { chosen = [flags] { return About(flags->path, Tail(*flags)); }; });
}

}  // namespace cairn::tool
