// cairn log latest: shows the latest record of each group.

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tools/cairn/flags/flags.h"
#include "tools/cairn/flags/log_flags.h"
#include "tools/cairn/log/commands.h"
#include "tools/cairn/records/record_parser.h"
#include "tools/cairn/records/values.h"
#include "tools/cairn/report/log_damage.h"
#include "tools/cairn/streams/log_rows.h"
#include "tools/cairn/text/about.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

struct LatestFlags : LogFlags {
  RangeFlags range;
  OutputFlags output;
  std::string by;
  int64_t max_groups = LogLatest().max_groups;
  bool numbers = false;
};

absl::Status Latest(const LatestFlags& flags) {
  ASSIGN_OR_RETURN(const Log log, OpenLog(flags));
  const LogSnapshot snapshot = log.snapshot();
  ASSIGN_OR_RETURN(const std::vector<Field> fields, FieldsOf(flags.output, snapshot.schema()));
  LogLatest wanted = {.filters = flags.range.where, .max_groups = flags.max_groups};
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ParseCsvRow(flags.by, ','));
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(const Field* const field, FindField(snapshot.schema().fields(), name, "--by"));
    wanted.by.push_back(field->name);
  }
  ASSIGN_OR_RETURN(wanted.times, TimesOf(flags.range, snapshot));
  for (const Field& field : fields) wanted.fields.push_back(field.name);
  ASSIGN_OR_RETURN(const LogBatch found, snapshot.Latest(wanted));
  LogRows rows(fields, StyleOf(flags.output, flags.range.time_zone), flags.numbers);
  RETURN_IF_ERROR(rows.WriteBatch(found));
  RETURN_IF_ERROR(rows.Finish());
  return CheckLogDamage(snapshot);
}

}  // namespace

void AddLogLatest(CLI::App& group, Command& chosen) {
  CLI::App* latest = group.add_subcommand("latest", "Write the latest record of each key");
  const auto flags = std::make_shared<LatestFlags>();
  AddLogPath(*latest, *flags);
  latest
      ->add_option("--by", flags->by,
                   "The fields that make the key: a record for each combination of their values")
      ->required()
      ->type_name("NAMES");
  AddNumber(*latest, "--max-groups", flags->max_groups, int64_t{1},
            std::numeric_limits<int64_t>::max())
      ->description("At most N keys");
  AddRange(*latest, flags->range);
  AddOutput(*latest, flags->output);
  AddNumbers(*latest, flags->numbers);
  latest->footer(
      "Latest is that with the greatest time, and the last of those. Rows are in the order of the "
      "keys.\n"
      "\nExample:\n"
      "  cairn log latest temps.b2frame --by host");
  latest->callback(
      [flags, &chosen] { chosen = [flags] { return About(flags->path, Latest(*flags)); }; });
}

}  // namespace cairn::tool
