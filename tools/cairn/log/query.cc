// cairn log query: shows the records of a range of times that fulfil conditions.

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/cairn/flags/flags.h"
#include "tools/cairn/flags/log_flags.h"
#include "tools/cairn/log/commands.h"
#include "tools/cairn/log/plot.h"
#include "tools/cairn/records/values.h"
#include "tools/cairn/report/log_damage.h"
#include "tools/cairn/streams/log_rows.h"
#include "tools/cairn/text/about.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

struct QueryFlags : LogFlags {
  RangeFlags range;
  OutputFlags output;
  PlotFlags plot;
  int64_t limit = std::numeric_limits<int64_t>::max();
  bool by_number = false;
  bool numbers = false;
};

// Plots all numbers that are asked for.
absl::Status PlotQuery(const QueryFlags& flags, const LogSnapshot& snapshot) {
  ASSIGN_OR_RETURN(const std::vector<Field> fields, NumbersOf(flags.output, snapshot));
  LogAggregation aggregation;
  ASSIGN_OR_RETURN(aggregation.times, TimesOf(flags.range, snapshot));
  aggregation.filters = flags.range.where;
  RETURN_IF_ERROR(PlotLog(flags.path, snapshot, std::move(aggregation), fields, flags.plot));
  return CheckLogDamage(snapshot);
}

absl::Status QueryLog(const QueryFlags& flags) {
  ASSIGN_OR_RETURN(const Log log, OpenLog(flags));
  const LogSnapshot snapshot = log.snapshot();
  if (!flags.plot.path.empty()) return PlotQuery(flags, snapshot);
  ASSIGN_OR_RETURN(const std::vector<Field> fields, FieldsOf(flags.output, snapshot.schema()));
  LogQuery query = {.order = flags.by_number || snapshot.time_field() == nullptr ? LogOrder::kRecord
                                                                                 : LogOrder::kTime,
                    .limit = flags.limit};
  for (const Field& field : fields) query.fields.push_back(field.name);
  ASSIGN_OR_RETURN(query.times, TimesOf(flags.range, snapshot));
  query.filters = flags.range.where;
  ASSIGN_OR_RETURN(LogCursor cursor, snapshot.Query(query));
  LogRows rows(fields, StyleOf(flags.output, flags.range.time_zone), flags.numbers);
  while (true) {
    ASSIGN_OR_RETURN(const LogBatch batch, cursor.Next());
    if (batch.size() == 0) break;
    RETURN_IF_ERROR(rows.WriteBatch(batch));
  }
  RETURN_IF_ERROR(rows.Finish());
  return CheckLogDamage(snapshot);
}

}  // namespace

void AddLogQuery(CLI::App& group, Command& chosen) {
  CLI::App* query =
      group.add_subcommand("query", "Write the records of a time, or with a property");
  const auto flags = std::make_shared<QueryFlags>();
  AddLogPath(*query, *flags);
  AddRange(*query, flags->range);
  AddOutput(*query, flags->output);
  AddNumber(*query, "--limit", flags->limit, int64_t{0}, std::numeric_limits<int64_t>::max())
      ->description("At most N records");
  query->add_flag("--by-number", flags->by_number, "In the order of their numbers, not of time");
  AddNumbers(*query, flags->numbers);
  AddPlot(*query, flags->plot);
  query->footer(
      "Times are ISO 8601, in UTC unless they or --tz say otherwise. A range includes its "
      "beginning,\n"
      "not its end.\n"
      "\nExample:\n"
      "  cairn log query temps.b2frame --from 2026-11-24T10:00 --to 2026-11-24T11:00 "
      "--where 'temp > 20'");
  query->callback(
      [flags, &chosen] { chosen = [flags] { return About(flags->path, QueryLog(*flags)); }; });
}

}  // namespace cairn::tool
